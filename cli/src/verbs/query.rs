//! `fpdb query`: lists the stored documents that share text with query documents.

mod order_tally;
mod skips;

use std::collections::HashSet;
use std::path::Path;

use fpdb::report::{HtmlAnswers, PairEvidence};
use fpdb::{
    Database, DocumentError, Error, Failure, Mode, QueryAnswer, QueryOptions, QuerySource, ReadAs, Task, Unit,
    WalkOptions, Weight,
};

use self::order_tally::OrderTally;
use self::skips::{Skipped, Skips};
use crate::excerpt::Excerpts;
use crate::html_report::{HtmlReport, TemporaryCopies};
use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{
    QueryPage, Style, as_fields, attachments_left_out, corpus_header, count, escape_terminal, grouped, has, is,
    query_header, time_of,
};
use crate::resolved::submission_folders::SubmissionFolders;
use crate::resolved::{database, phrases, profile, query};
use crate::run_status::RunStatus;
use crate::setting::Setting;
use crate::typed::{ExcerptArgs, Global, QueryArgs, QuerySort, ReportArgs};

/// Number of queries that are answered together before their answers are written. The number begins with
/// `FIRST` and doubles each time, up to `AT_A_TIME`. Many queries together cost less.
const FIRST: usize = 64;
const AT_A_TIME: usize = 4096;

pub(crate) fn run(global: &Global, args: &QueryArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let html = HtmlReport::wanted(global, &args.report)?;
    args.input.check(args.files.iter().filter(|file| file.as_os_str() == "-").count())?;
    if html.is_some() && args.by_corpus {
        anyhow::bail!("--by-corpus has no html format");
    }
    if args.sort == QuerySort::Oldest && args.by_corpus {
        anyhow::bail!("--sort is for lists of matches, not for --by-corpus");
    }
    if args.no_passages && args.joining.rewritten() {
        anyhow::bail!("--rewritten lists the documents with a passage, so it cannot be used with --no-passages");
    }
    let database = database::open(global)?;
    profile::check_rewritten(args.joining.rewritten(), database.profile())?;
    let phrases = phrases::read(&args.read, database.profile(), printer)?;
    let options = query::options(args, HtmlReport::most_passages(html.as_ref()))
        .phrases(phrases)
        .only(query::chosen(&database, &args.fields)?);
    let sources = args.sources.clone();
    if let Some(html) = html {
        return report(&database, args, &options, &sources, &html, printer);
    }

    let mut output = Output::open(global)?;
    let columns = match args.by_corpus {
        true => corpus_header(),
        false => query_header(args.submission_by.is_some(), database.profile().has_two_views(), args.shows_times()),
    };
    output.heading(&columns, "")?;
    let folders = SubmissionFolders::of(args.submission_by.as_deref())?;
    let mut asked =
        Asked { database: &database, args, options: &options, output, printer, tally: QueryTally::default(), folders };
    let (mut left, mut number) = (&sources[..], FIRST);
    while !left.is_empty() {
        let (some, others) = left.split_at(left.len().min(number));
        (left, number) = (others, (number * 2).min(AT_A_TIME));
        // If Ctrl-C stops the queries, a file of `-o` stays as it was, and standard output has all answers so
        // far.
        for (source, answer) in some.iter().zip(asked.query(some)?) {
            match source {
                QuerySource::File(path) if holds_documents(source, &answer) => asked.below(path)?,
                source => asked.take(&name_of(source), answer)?,
            }
        }
        let (answered, queries) = ((sources.len() - left.len()) as u64, sources.len() as u64);
        printer.detail(&format!("{} of {} queried with", grouped(answered), count(queries, "document")));
    }
    let Asked { output, tally, folders, .. } = asked;
    let QueryTally { answered, failed, found, skipped, submissions, alone, below, .. } = tally;
    let QueryTally { too_short, too_short_submissions, attachments, .. } = tally;
    skipped.tell(printer);
    if below > 0 {
        printer.note(&format!("{} below --min-score", count(below, "query document")));
    }
    tell_attachments_of(&sources, attachments, printer);
    if let Some(value) = args.submission_by.as_ref().filter(|_| options.join_submissions)
        && submissions == 0
        && alone > 1
        && !options.joining.rewritten
    {
        printer
            .warning(&format!("warning: no queried file is in a submission of {value}, so each is a query of its own"));
        if fpdb::submission_pattern(value) != *value {
            printer.note(&format!(
                "hint: name the folder of the queries too, such as --submission-by {value},{}",
                folder_of(&sources)
            ));
        }
    }
    if let Some(name) = &tally.unknown_language {
        printer.note(&format!(
            "hint: the name {name} shows no programming language: if it is a program, --as LANGUAGE compares its structure too"
        ));
    }
    folders.tell_missing(&database, printer)?;
    let unit = if args.submission_by.is_some() { "submission" } else { "document" };
    tally.order.tell(unit, printer);
    // Text for people already says this for each query.
    if !global.format.is_for_people() {
        tell_too_short(too_short, too_short_submissions, database.profile().k(), printer);
    }
    if answered && !found {
        database::tell_if_all_boilerplate(&database, printer)?;
    }
    if answered || !failed {
        output.finish()?;
    }
    Ok(match (failed, found) {
        (true, _) => RunStatus::Incomplete,
        (false, false) if args.exit_status => RunStatus::NothingFound,
        _ => RunStatus::Done,
    })
}

/// Writes answers as they become available.
struct Asked<'a> {
    database: &'a Database,
    args: &'a QueryArgs,
    options: &'a QueryOptions,
    output: Output,
    printer: &'a Printer,
    tally: QueryTally,
    folders: SubmissionFolders,
}

/// Counts the results of the queries.
#[derive(Default)]
struct QueryTally {
    answered: bool,
    failed: bool,
    found: bool,
    skipped: Skipped,
    /// Number of answered submissions, and of other documents, in folders and containers.
    submissions: u64,
    alone: u64,
    /// Number of rows by corpus below --min-score.
    below: u64,
    /// Number of queries without a fingerprint: of documents, and of submissions.
    too_short: u64,
    too_short_submissions: u64,
    /// Number of attachments of queried mails.
    attachments: u64,
    order: OrderTally,
    /// The first query of unknown language that shares no structure with a database of source code.
    unknown_language: Option<String>,
}

/// The message at the first Ctrl-C.
const STOPPING: &str = "stopping; press Ctrl-C again to stop at once";

impl Asked<'_> {
    /// The answers to some queries. Ctrl-C stops the queries.
    fn query(&self, some: &[QuerySource]) -> fpdb::Result<Vec<fpdb::Result<QueryAnswer>>> {
        let bar = StepBar::start(self.printer, "querying");
        let stop = interrupt::graceful(STOPPING);
        let answers = self.database.query_each(some, self.options, &bar.task().stop(stop));
        bar.end();
        // While answers are written, Ctrl-C ends the program at once.
        interrupt::at_once();
        answers
    }

    fn take(&mut self, name: &str, answer: fpdb::Result<QueryAnswer>) -> anyhow::Result<()> {
        self.folders.find(name);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.tally.failed = true;
                self.failure(name, &error);
                return Ok(());
            }
        };
        self.tally.answered = true;
        tell_two_meanings(&answer, self.printer);
        if answer.is_too_short() {
            let of_files = answer.query.files > 0;
            *(if of_files { &mut self.tally.too_short_submissions } else { &mut self.tally.too_short }) += 1;
        }
        self.tally.attachments += answer.query.attachments;
        if answer.query.files == 0 && self.is_of_unknown_language(&answer) {
            self.tally.unknown_language.get_or_insert_with(|| answer.query.name.clone());
        }
        if self.args.by_corpus {
            let row = answer.by_corpus();
            if row.corpus_containment < self.args.min_score && !row.identical {
                self.tally.below += 1;
                return Ok(());
            }
            self.tally.found |= row.documents > 0;
            return self.output.answer(&row);
        }
        self.tally.found |= !answer.matches.is_empty();
        let (mut answer, times) = (answer, self.args.shows_times());
        if self.args.sort == QuerySort::Oldest {
            self.tally.order.add(&answer);
            answer.matches.sort_by_cached_key(|found| {
                let time = time_of(found);
                (time.is_none(), time)
            });
        }
        let excerpts = excerpts_wanted(&self.args.excerpt, &self.args.report, self.output.style)
            .map(|context| Excerpts::of_database(self.database, &self.options.read, context, self.output.style));
        let by_submission = self.args.submission_by.is_some();
        self.output.answer(&QueryPage { answer: &answer, by_submission, times, excerpts: excerpts.into() })
    }

    /// True if a query may be a program that was read as text, because its name shows no language.
    fn is_of_unknown_language(&self, answer: &QueryAnswer) -> bool {
        self.database.profile().unit() == Unit::Token
            && self.args.read.read.front_end == ReadAs::Auto
            && (answer.looked_up > 0 && answer.found == 0)
            && fpdb::normalize::language_of(&answer.query.name, b"").is_none()
    }

    fn failure(&self, name: &str, error: &Error) {
        self.printer.failure(name, error);
        text_hint(name, error, self.printer);
    }

    /// Answers a query for each document below a path.
    fn below(&mut self, path: &Path) -> anyhow::Result<()> {
        let (database, options, printer) = (self.database, self.options, self.printer);
        let mut skipped = std::mem::take(&mut self.tally.skipped);
        let outcome = query_below(database, path, options, printer, &mut skipped, &mut |name, answer| {
            let is_submission = answer.as_ref().is_ok_and(|answer| answer.query.files > 0);
            self.tally.submissions += u64::from(is_submission);
            self.tally.alone += u64::from(!is_submission);
            self.take(name, answer)?;
            self.output.flush()
        });
        self.tally.skipped = skipped;
        outcome
    }
}

/// If both a document and a submission have the name of a query, prints which of them was meant.
fn tell_two_meanings(answer: &QueryAnswer, printer: &Printer) {
    if answer.query.names_submission {
        let name = escape_terminal(&answer.query.name);
        printer.note(&format!("{name} is a document and a submission (--submission-by): the document is the query"));
    }
}

/// The folder of the first query that is a file or folder, as the user typed the path. If the path is a
/// folder that holds folders, this is the path itself. Otherwise it is the folder around the path.
fn folder_of(sources: &[QuerySource]) -> String {
    let mut paths = sources.iter().filter_map(|source| match source {
        QuerySource::File(path) => Some(path.as_path()),
        _ => None,
    });
    let path = paths.next().unwrap_or(Path::new("."));
    let holds_folders =
        path.read_dir().is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())));
    let around = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if holds_folders { path } else { around }.display().to_string()
}

/// Calls `visit` with the name and the answer of each document below a path.
///
/// # Errors
/// [`Error::Stopped`] if Ctrl-C stopped the query; errors of the query and of `visit`.
fn query_below(
    database: &Database,
    path: &Path,
    options: &QueryOptions,
    printer: &Printer,
    skipped: &mut Skipped,
    visit: &mut dyn FnMut(&str, fpdb::Result<QueryAnswer>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = StepBar::start(printer, "reading the queries");
    let skips = Skips::new(&bar, printer, std::mem::take(skipped));
    let stop = interrupt::graceful(STOPPING);
    let task = Task::new().progress(&skips).stop(stop);
    let mut documents = 0u64;
    let outcome = database.query_below(path, &WalkOptions::default(), options, &task, |name, answer| {
        documents += 1;
        visit(name, answer)
    });
    bar.end();
    *skipped = skips.into_skipped();
    if documents == 0 && outcome.is_ok() {
        printer.warning(&format!("warning: no document in {}", path.display()));
    }
    outcome?;
    // The rest of the command is short, so Ctrl-C may end the program at once.
    interrupt::at_once();
    if stop.is_stopped() { Err(Error::Stopped.into()) } else { Ok(()) }
}

/// True for a folder or container, whose documents are queries of their own.
fn holds_documents(source: &QuerySource, answer: &fpdb::Result<QueryAnswer>) -> bool {
    let Err(Error::Document(DocumentError::IsAContainer { .. } | DocumentError::NotAFile { .. })) = answer else {
        return false;
    };
    matches!(source, QuerySource::File(path) if path.is_dir() || path.is_file())
}

/// Says that attachments of mails were not read.
pub(super) fn tell_attachments(attachments: u64, printer: &Printer) {
    if attachments > 0 {
        printer.note(&attachments_left_out(attachments, ": --attachments reads them as documents"));
    }
}

/// Says that attachments of queried mails were not read. `--attachments` reads attachments of files only, so
/// the hint names this flag only if a source is a file.
fn tell_attachments_of(sources: &[QuerySource], attachments: u64, printer: &Printer) {
    let is_file = |source: &QuerySource| matches!(source, QuerySource::File(_));
    if sources.iter().any(is_file) {
        tell_attachments(attachments, printer);
    } else if attachments > 0 {
        printer.note(&attachments_left_out(attachments, ""));
    }
}

/// Says how many queries have no fingerprint.
fn tell_too_short(documents: u64, submissions: u64, k: u32, printer: &Printer) {
    if documents > 0 {
        let (have, documents) = (has(documents), count(documents, "query document"));
        printer.note(&format!("{documents} {have} fewer than {k} symbols (k): only identical documents match"));
    }
    if submissions > 0 {
        let (have, submissions) = (has(submissions), count(submissions, "submission"));
        printer.note(&format!("{submissions} {have} no file of {k} symbols (k): only identical files match"));
    }
}

/// Writes the answers as a report for a browser.
fn report(
    database: &Database,
    args: &QueryArgs,
    options: &QueryOptions,
    sources: &[QuerySource],
    html: &HtmlReport<'_>,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    let spooled = TemporaryCopies::of(args.files.iter(), options.read.closed, &args.input.name)?;
    let (mut answers, mut failures) = (Vec::new(), Vec::new());
    // A document that is named twice is one document of the report.
    let mut seen = HashSet::new();
    let mut take = |place: QuerySource, name: &str, answer: fpdb::Result<QueryAnswer>| match answer {
        _ if !seen.insert(place.clone()) => {}
        Ok(mut answer) => {
            tell_two_meanings(&answer, printer);
            if spooled.hold(&place) {
                name.clone_into(&mut answer.query.name);
            }
            answers.push((place, answer));
        }
        Err(error) => {
            printer.failure(name, &error);
            text_hint(name, &error, printer);
            failures.push(Failure::of(name, &error));
        }
    };
    let stop = interrupt::graceful(STOPPING);
    let mut skipped = Skipped::default();
    for some in sources.chunks(AT_A_TIME) {
        let places: Vec<QuerySource> = some.iter().map(|source| place_of(source, &spooled)).collect();
        let bar = StepBar::start(printer, "querying");
        let answered = database.query_each(&places, options, &bar.task().stop(stop));
        bar.end();
        for ((source, place), answer) in some.iter().zip(places).zip(answered?) {
            match &place {
                QuerySource::File(path) if holds_documents(&place, &answer) => {
                    let each = &mut |name: &str, answer| {
                        // The report reads the text again by this name.
                        take(QuerySource::File(name.into()), name, answer);
                        Ok(())
                    };
                    query_below(database, path, options, printer, &mut skipped, each)?;
                }
                _ => take(place, &name_of(source), answer),
            }
        }
    }
    skipped.tell(printer);
    let mut folders = SubmissionFolders::of(args.submission_by.as_deref())?;
    answers.iter().for_each(|(_, answer)| folders.find(&answer.query.name));
    folders.tell_missing(database, printer)?;
    tell_attachments_of(sources, answers.iter().map(|(_, answer)| answer.query.attachments).sum(), printer);
    if answers.is_empty() && !failures.is_empty() {
        printer.note("no report was written: no query could be answered");
        return Ok(RunStatus::Incomplete);
    }
    let found = answers.iter().any(|(_, answer)| !answer.matches.is_empty());
    if !found {
        database::tell_if_all_boilerplate(database, printer)?;
    }
    let unlisted =
        |(_, answer): &(_, QueryAnswer)| answer.matching_documents.saturating_sub(answer.matches.len() as u64);
    let unlisted: u64 = answers.iter().map(unlisted).sum();
    let mut order = OrderTally::default();
    if args.sort == QuerySort::Oldest {
        answers.iter().for_each(|(_, answer)| order.add(answer));
    }
    let failed = !failures.is_empty();
    let settings = vec![
        Setting::plain("--mode", (args.mode != Mode::Containment).then_some(args.mode)),
        Setting::plain("--window", args.window),
        Setting::plain("-n", options.most_hashes()),
        Setting::plain("--top", Some(args.top)),
        Setting::plain("--sort", (args.sort == QuerySort::Oldest).then_some("oldest")),
        Setting::plain("--min-score", (args.min_score > 0.0).then_some(args.min_score)),
        Setting::plain("--max-df", options.max_df),
        Setting::names("--where", (!args.fields.is_empty()).then(|| as_fields(&args.fields))),
        Setting::names("--submission-by", args.submission_by.as_ref()),
        Setting::plain("--weight", (args.weight != Weight::None).then_some(args.weight)),
    ];
    let settings = [settings, args.read.settings(), args.joining.settings()].concat();
    let how =
        PairEvidence::default().max_df(options.max_df).joining(options.joining).limits(options.read.limits.clone());
    let html_options = (html.options(settings)?)
        .failures(failures)
        .weighted(args.weight == Weight::Idf)
        .file_times(args.shows_times())
        .oldest_first(args.sort == QuerySort::Oldest)
        .evidence(options.passages.then_some(how))
        .read(options.read.clone());
    let complete = html.write(HtmlAnswers::Queries { database, answers }, &html_options, printer)?;
    if unlisted > 0 {
        printer.note(&format!(
            "{} {} left out of the report (--top N shows more)",
            count(unlisted, "matching document"),
            is(unlisted)
        ));
    }
    order.tell(if args.submission_by.is_some() { "submission" } else { "document" }, printer);
    Ok(match (failed || !complete, found) {
        (true, _) => RunStatus::Incomplete,
        (false, false) if args.exit_status => RunStatus::NothingFound,
        _ => RunStatus::Done,
    })
}

/// The lines of text to show around the beginning of each passage; `None` shows no text.
pub(super) fn excerpts_wanted(excerpt: &ExcerptArgs, report: &ReportArgs, style: Style) -> Option<Option<usize>> {
    let context = excerpt.context.map(usize::from);
    let wanted = style.width.is_some() || context.is_some();
    (wanted && !report.no_text).then_some(context)
}

/// The place from which to read a source.
fn place_of(source: &QuerySource, spooled: &TemporaryCopies) -> QuerySource {
    match source {
        QuerySource::File(path) => QuerySource::File(spooled.place(path)),
        QuerySource::StandardInput { .. } => QuerySource::File(spooled.place(Path::new("-"))),
        other => other.clone(),
    }
}

/// Prints how to query with a text, if the typed path looks like one.
fn text_hint(name: &str, error: &Error, printer: &Printer) {
    if matches!(error, Error::Io { .. }) && name.contains(' ') && Path::new(name).symlink_metadata().is_err() {
        printer.note("hint: to query with a text: echo 'the text' | fpdb query -");
    }
}

fn name_of(source: &QuerySource) -> String {
    match source {
        QuerySource::File(path) => path.display().to_string(),
        QuerySource::Stored(name) | QuerySource::StandardInput { name } => name.clone(),
        QuerySource::Number(id) => id.to_string(),
        _ => String::new(),
    }
}
