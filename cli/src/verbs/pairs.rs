//! `fpdb pairs`: lists pairs of stored documents that share enough, best first.

mod rewritten;

use std::cmp::Reverse;

use fpdb::pairs::{GroupBy, Pair, PairsAnswer, PairsOptions, PairsSummary, Since};
use fpdb::report::{HtmlAnswers, PairEvidence};
use fpdb::{Database, ReadOptions, Task, Weight};

use crate::html_report::HtmlReport;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{
    PairColumns, PairLine, as_fields, boilerplate_left_out, common_folder, common_left_out, count, escape_terminal,
    first_names, grouped, has, is, pair_header, pair_header_line, pairs_total,
};
use crate::resolved::submission_folders::SubmissionFolders;
use crate::resolved::{database, profile};
use crate::run_status::RunStatus;
use crate::setting::Setting;
use crate::suggested::flag;
use crate::typed::{Global, OutputFormat, PairSort, PairsArgs};
use rewritten::{LENGTHS_AT_A_TIME, Sifted, Sought, add_longest};

/// Number of pairs whose passages are searched at once, if the passages are kept.
const AT_A_TIME: usize = 256;

pub(crate) fn run(global: &Global, args: &PairsArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let html = HtmlReport::wanted(global, &args.report)?;
    if args.passages && global.format == OutputFormat::Human {
        anyhow::bail!("--passages is for --format json and csv; --format html shows passages in any case");
    }
    if args.submission_by.is_some() && args.group_by.is_some() {
        anyhow::bail!(
            "--group-by cannot be used with --submission-by, which never pairs the files of one submission; \
             to keep some submissions apart, give their files the same `group` (fpdb ingest --metadata FILE)"
        );
    }
    if args.sort == PairSort::Longest && html.is_some() {
        anyhow::bail!("--sort is for --format human, json and csv; the list of a report is sorted by its headings");
    }
    let has_passages = args.passages || html.is_some() || args.sort == PairSort::Longest;
    if args.joining.rewritten() && !has_passages {
        anyhow::bail!(
            "--rewritten lists pairs by their passages, so it needs --format html, --sort longest, or --passages with \
             --format json or csv"
        );
    }
    let database = database::open_within(global, database::existing(global)?, args.memory)?;
    profile::check_rewritten(args.joining.rewritten(), database.profile())?;
    let least = PairsOptions::at_least(database.profile(), args.min_shared, args.min_resemblance, args.min_containment);
    let options = least
        .max_df((args.max_df > 0).then_some(args.max_df))
        .across(args.across.clone())
        .old(args.old.clone())
        .metadata(args.fields.clone())
        .group_by(match &args.group_by {
            Some(pattern) => GroupBy::Name(pattern.clone()),
            None if args.no_groups => GroupBy::Nothing,
            None => GroupBy::Metadata,
        })
        .submission_by(args.submission_by.clone())
        .submission_files(args.submission_files)
        .file_times(args.times.file_times)
        .new_since(args.new_since)
        .weight(args.weight)
        .top((args.top > 0).then_some(args.top))
        .temp_dir(args.temp_dir.clone());
    let how = PairEvidence::default()
        .max_df(options.max_df)
        .joining(args.joining.options(HtmlReport::most_passages(html.as_ref())))
        .limits(args.limits.limits());
    let bar = StepBar::start(printer, "reading the postings");
    let sought = Sought::of(&database, args, &options, &bar.task())?;
    if let Some(html) = html {
        let answer = sought.pairs(&database, &how, &bar.task());
        bar.end();
        let answer = answer?;
        left_out(&database, args, (&options, &sought), &answer.summary, global.format, printer)?;
        return report(&database, args, (&how, &options), answer, &html, printer);
    }
    let output = Output::open(global)?;
    if args.sort == PairSort::Longest {
        let summary = list_by_longest(&database, &sought, &how, args, output, &bar)?;
        left_out(&database, args, (&options, &sought), &summary, global.format, printer)?;
        return Ok(RunStatus::Done);
    }
    let mut listing = Listing::new(&database, how, args, &sought, output);
    let summary = database.for_each_pair(&sought.options, &bar.task(), |summary, pair| {
        if !listing.begun {
            bar.end();
            listing.begin(summary)?;
        }
        listing.take(pair)
    });
    bar.end();
    let mut summary = summary?;
    if !listing.begun {
        listing.begin(&summary)?;
    }
    listing.end(&mut summary)?;
    left_out(&database, args, (&options, &sought), &summary, global.format, printer)?;
    Ok(RunStatus::Done)
}

/// Writes the pairs with the longest passages first.
fn list_by_longest(
    database: &Database,
    sought: &Sought,
    how: &PairEvidence,
    args: &PairsArgs,
    output: Output,
    bar: &StepBar,
) -> anyhow::Result<PairsSummary> {
    // Pairs of equal length stay in the order of their scores.
    let keep_best = |pairs: &mut Vec<Pair>| {
        pairs.sort_by_key(|pair| Reverse(pair.longest));
        pairs.truncate(sought.top);
    };
    let (mut pairs, mut waiting, mut sifted) = (Vec::new(), Vec::new(), Sifted::default());
    let mut measure = |waiting: &mut Vec<Pair>| -> anyhow::Result<()> {
        match args.passages {
            true => database.add_passages(waiting, how, &bar.task())?,
            false => add_longest(database, waiting, how, &bar.task())?,
        }
        sought.sift(waiting, &mut sifted);
        pairs.append(waiting);
        if pairs.len() / 2 >= sought.top {
            keep_best(&mut pairs);
        }
        Ok(())
    };
    let at_a_time = if args.passages { AT_A_TIME } else { LENGTHS_AT_A_TIME };
    // Any pair may have the longest passage, so all pairs are looked at.
    let mut summary = database.for_each_pair(&sought.options.clone().top(None), &bar.task(), |_, pair| {
        waiting.push(pair);
        if waiting.len() < at_a_time { Ok(()) } else { measure(&mut waiting) }
    })?;
    measure(&mut waiting)?;
    sifted.count_in(&mut summary);
    keep_best(&mut pairs);
    bar.end();
    let mut listing = Listing::new(database, how.clone(), args, sought, output);
    listing.begin(&summary)?;
    pairs.iter().try_for_each(|pair| listing.write(pair))?;
    listing.end(&mut summary)?;
    Ok(summary)
}

/// Writes pairs as they are found.
struct Listing<'a> {
    database: &'a Database,
    how: PairEvidence,
    args: &'a PairsArgs,
    sought: &'a Sought,
    /// The folder that all documents lie in.
    folder: String,
    output: Output,
    /// Pairs that wait for their passages.
    waiting: Vec<Pair>,
    begun: bool,
    listed: usize,
    sifted: Sifted,
}

impl<'a> Listing<'a> {
    fn new(database: &'a Database, how: PairEvidence, args: &'a PairsArgs, sought: &'a Sought, output: Output) -> Self {
        Self {
            database,
            how,
            args,
            sought,
            folder: String::new(),
            output,
            waiting: Vec::new(),
            begun: false,
            listed: 0,
            sifted: Sifted::default(),
        }
    }

    /// Writes the heading.
    fn begin(&mut self, summary: &PairsSummary) -> anyhow::Result<()> {
        self.begun = true;
        let names = summary.names.iter().flat_map(|(first, last)| [&**first, last]);
        self.folder = common_folder(names, self.output.style);
        let common = match summary.common {
            0 => String::new(),
            common => {
                format!("{}; pairs that share no others are missing\n", common_left_out(common, self.args.max_df))
            }
        };
        let header = match summary.found {
            0 => "no pairs\n".to_owned(),
            _ => pair_header_line(self.columns(), &self.folder),
        };
        self.output.heading(&pair_header(self.columns()), &(common + &header))
    }

    fn columns(&self) -> PairColumns {
        let text = self.database.profile().has_two_views();
        let longest = self.args.sort == PairSort::Longest;
        let score = self.args.weight != Weight::None || text;
        PairColumns {
            score,
            text,
            longest,
            passages: self.args.passages,
            by_submission: self.args.submission_by.is_some(),
            times: self.args.times.file_times,
            divided: !self.args.old.is_empty() || self.args.new_since.is_some(),
        }
    }

    fn take(&mut self, pair: Pair) -> anyhow::Result<()> {
        if !self.args.passages {
            return self.write(&pair);
        }
        self.waiting.push(pair);
        if self.waiting.len() < AT_A_TIME { Ok(()) } else { self.write_waiting() }
    }

    fn write_waiting(&mut self) -> anyhow::Result<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.database.add_passages(&mut waiting, &self.how, &Task::new())?;
        self.sought.sift(&mut waiting, &mut self.sifted);
        waiting.truncate(self.sought.top - self.listed);
        waiting.iter().try_for_each(|pair| self.write(pair))
    }

    fn write(&mut self, pair: &Pair) -> anyhow::Result<()> {
        self.listed += 1;
        self.output.answer(&PairLine { pair, columns: self.columns(), folder: &self.folder })
    }

    /// Writes the waiting pairs and, for people, the total. Adds the pairs that were left out to `summary`.
    fn end(mut self, summary: &mut PairsSummary) -> anyhow::Result<()> {
        self.write_waiting()?;
        self.sifted.count_in(summary);
        if summary.found > 0 {
            let by_longest = self.args.sort == PairSort::Longest;
            self.output.for_people(&pairs_total(self.listed as u64, summary.found, by_longest))?;
        }
        self.output.finish()
    }
}

/// Prints which pairs are left out, and why.
fn left_out(
    database: &Database,
    args: &PairsArgs,
    (options, sought): (&PairsOptions, &Sought),
    answer: &PairsSummary,
    format: OutputFormat,
    printer: &Printer,
) -> anyhow::Result<()> {
    if answer.found == 0 {
        database::tell_if_all_boilerplate(database, printer)?;
    }
    if let (0, Some(value)) = (answer.submissions, &args.submission_by)
        && answer.documents > 0
    {
        printer.note(&format!("all documents in submissions are boilerplate (--submission-by {value})"));
    }
    if answer.found == 0 && !args.across.is_empty() {
        let prefixes = args.across.join(" ");
        printer.note(&match args.across.len() {
            1 => format!("only documents under {prefixes} and those outside it were compared (--across)"),
            _ => format!("only documents under different prefixes were compared (--across {prefixes})"),
        });
        printer.note("hint: run it without --across to compare documents under one prefix with each other too");
    }
    if answer.found == 0 && args.new_since.is_some() {
        printer.note("new documents were compared with old ones only, not with each other (--new-since)");
    }
    let are_one = answer.documents == 1 + answer.renewed && database.document_count() > 1;
    match answer.divided {
        _ if let (true, Some(value)) = (are_one, &args.submission_by) => {
            printer.note(&format!("all documents are one submission (--submission-by {value}), so there are no pairs"));
            printer.note(
                "hint: name the folder that holds the submissions, or a regular expression that matches another text in the names of each, such as '^(hw[^/]*/[^/]*)/'",
            );
        }
        Some((old, 0)) if !args.old.is_empty() => {
            printer.note(&format!("all {} are old (--old), so there is none to compare", count(old, "document")));
        }
        Some((0, new)) if new > 0 && !args.old.is_empty() => {
            let (new, old) = (count(new, "document"), args.old.join(" "));
            printer.note(&format!("none of {new} to compare is under --old {old}"));
        }
        Some((0, new)) if new > 0 => printer.note(&format!(
            "all {} are new, so --new-since has no old ones to compare them with; leave it out to list all pairs",
            count(new, "document")
        )),
        Some((old, 0)) if old > 0 => {
            let old = count(old, "document");
            printer.note(&format!("none of {old} is new (--new-since): `fpdb show NAME` tells numbers"));
        }
        _ => {}
    }
    SubmissionFolders::of(args.submission_by.as_deref())?.tell_missing(database, printer)?;
    let alone = answer.documents.saturating_sub(answer.submissions);
    if let (Some(value), true) = (&args.submission_by, answer.submissions > 0 && alone > 0) {
        let (are, stand, themselves) =
            if alone == 1 { ("is", "stands", "itself") } else { ("are", "stand", "themselves") };
        let documents = count(alone, "document");
        printer.note(&format!(
            "{documents} {are} in no submission (--submission-by {value}) and {stand} for {themselves}"
        ));
    }
    if answer.renewed > 0 && !are_one {
        let (submissions, have) = (count(answer.renewed, "submission"), has(answer.renewed));
        printer.note(&format!("{submissions} {have} old and new documents; these are two submissions, and no pair"));
    }
    if answer.grouped > 0 && args.group_by.is_none() {
        printer.note(&format!(
            "{} have the same `group` in their metadata as another, and documents of one group are no pair (--no-groups pairs them)",
            count(answer.grouped, "document")
        ));
    }
    if answer.too_short > 0 {
        let (one, several) = match &args.submission_by {
            None => ("document", "documents"),
            Some(_) if answer.documents > answer.submissions => {
                ("submission or other document", "submissions or other documents")
            }
            Some(_) => ("submission", "submissions"),
        };
        let (number, names) = (answer.too_short, &answer.too_short_names);
        names.iter().for_each(|name| printer.detail(&format!("{name} has no text or too little to compare")));
        let (what, have) = (if number == 1 { one } else { several }, has(number));
        let (number, names) = (grouped(number), first_names(names, number));
        printer.note(&format!("{number} {what} {have} no text or too little to compare: {names}"));
    }
    if answer.by_files > 0 {
        let (pairs, below) = match answer.by_files {
            1 => ("1 pair is below the threshold".to_owned(), "it"),
            many => (format!("{} pairs are below the threshold", grouped(many)), "each"),
        };
        printer.note(&format!("{pairs} as a whole; the two files listed first under {below} reach the threshold"));
    }
    if answer.below > 0 && args.min_resemblance.is_none() && options.min_resemblance > 0.0 {
        // The reader of a report sorts it by its headings.
        let longest = match (args.sort, format) {
            _ if args.joining.rewritten() => "",
            (PairSort::Score, OutputFormat::Human | OutputFormat::Json | OutputFormat::Csv) => {
                ", and --sort longest puts long passages first"
            }
            _ => "",
        };
        printer.note(&format!(
            "{} {} a resemblance below {}{} and {} left out (--min-resemblance 0 shows them{longest})",
            count(answer.below, "more pair"),
            has(answer.below),
            threshold(options),
            sought.why,
            is(answer.below)
        ));
    }
    if let Some((name, submissions)) = &answer.same_file {
        let last = name.rsplit(['/', '!']).next().unwrap_or(name);
        let file = format!("handed-out-{last}");
        printer.note(&format!(
            "the same file is in {submissions} submissions: {}; if it is a library or was handed out, `{}` and `{}` leave it out",
            escape_terminal(name),
            printer.suggested.with("show", [vec!["--text".to_owned()], flag("-o", &file)].concat(), &[name]),
            printer.suggested.with("ingest", flag("--boilerplate", &file), &[])
        ));
    }
    let is_told = |least: u64| answer.same_file.as_ref().is_some_and(|&(_, submissions)| submissions >= least);
    if let Some((hashes, documents)) = answer.handed_out.filter(|&(_, documents)| !is_told(documents)) {
        let (old, all) = match answer.divided {
            Some((_, new)) => (" new", new),
            None => ("", answer.documents),
        };
        let what = if args.submission_by.is_some() { "submissions" } else { "documents" };
        let like = match answer.boilerplate {
            0 => "like those of a text that was handed out; if one was,",
            _ => {
                "besides those of the boilerplate: idioms of the task, or another text that was handed out; if one was,"
            }
        };
        printer.note(&format!(
            "{} are each in {} or more of {}{old} {what}, {like} `{}` leaves it out (without the file: --max-df {})",
            count(hashes, "fingerprint"),
            grouped(documents),
            grouped(all),
            printer.suggested.of("ingest --boilerplate FILE"),
            documents - 1
        ));
    }
    if answer.boilerplate > 0 {
        printer.note(&boilerplate_left_out(answer.boilerplate));
    }
    // Text for people has this note above the pairs.
    if answer.common > 0 && format != OutputFormat::Human {
        printer.note(&common_left_out(answer.common, args.max_df));
    }
    Ok(())
}

/// The least resemblance, in words.
fn threshold(options: &PairsOptions) -> String {
    match options.few_shared {
        0 => options.min_resemblance.to_string(),
        few => format!(
            "{}, or {} where they share fewer than {few} fingerprints,",
            options.min_resemblance, options.few_min_resemblance
        ),
    }
}

/// Writes the pairs as a report for a browser.
fn report(
    database: &Database,
    args: &PairsArgs,
    (how, options): (&PairEvidence, &PairsOptions),
    answer: PairsAnswer,
    html: &HtmlReport<'_>,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    let settings = vec![
        Setting::plain("--top", options.top),
        Setting::plain("--min-shared", args.min_shared),
        Setting::plain("--min-resemblance", Some(threshold(options).trim_end_matches(','))),
        Setting::plain("--min-containment", args.min_containment),
        Setting::plain("--max-df", how.max_df),
        Setting::plain("--weight", (args.weight != Weight::None).then_some(args.weight)),
        Setting::plain("--new-since", args.new_since.map(since)),
        Setting::names("--submission-by", args.submission_by.as_ref()),
        Setting::names("--group-by", args.group_by.as_ref()),
        Setting::names("--across", (!args.across.is_empty()).then(|| args.across.join(" "))),
        Setting::names("--where", (!args.fields.is_empty()).then(|| as_fields(&args.fields))),
        Setting::names("--old", (!args.old.is_empty()).then(|| args.old.join(" "))),
    ];
    let settings = [settings, args.joining.settings()].concat();
    let html_options = (html.options(settings)?)
        .weighted(args.weight == Weight::Idf)
        .file_times(args.times.file_times)
        .evidence(Some(how.clone()))
        .read(ReadOptions::default().limits(how.limits.clone()));
    let beyond_top = answer.summary.found.saturating_sub(answer.pairs.len() as u64);
    let complete = html.write(HtmlAnswers::Pairs { database, answer }, &html_options, printer)?;
    if beyond_top > 0 {
        let (pairs, are) = (count(beyond_top, "further pair"), is(beyond_top));
        printer.note(&format!("{pairs} with a lower score {are} not in it (--top)"));
    }
    Ok(if complete { RunStatus::Done } else { RunStatus::Incomplete })
}

/// The boundary between old and new documents, in words.
fn since(since: Since) -> String {
    match since {
        Since::Document(id) => format!("document {id}"),
        Since::Time(seconds) => format!("{seconds} seconds since 1970"),
    }
}
