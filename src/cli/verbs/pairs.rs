//! `fpdb pairs`: all pairs of stored documents that share enough, ranked.

use fpdb::{
    Database, GroupBy, HtmlAnswers, HtmlOptions, PairEvidence, PairsAnswer, PairsOptions, ReadOptions, Since, Weight,
};

use crate::cli::html_report::HtmlReport;
use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::progress::StepBar;
use crate::cli::render::{common_folder, file_lines, pair_header, pair_header_line, pair_line, pair_rows, pairs_total};
use crate::cli::resolved::submissions::submission_pattern;
use crate::cli::resolved::{database, profile};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{Global, OutputFormat, PairsArgs};

/// Pairs whose passages are looked for before the first of them is written.
const AT_A_TIME: usize = 256;

pub(crate) fn run(global: &Global, args: &PairsArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let html = HtmlReport::wanted(global, &args.report)?;
    if args.passages && global.format == OutputFormat::Human {
        anyhow::bail!("--passages is for --format json and csv; --format html shows passages in any case");
    }
    if args.submission_by.is_some() && html.is_some() {
        anyhow::bail!(
            "--submission-by is for --format human, json and csv: a report for a browser shows pairs of documents"
        );
    }
    let database = database::open_within(global, args.memory)?;
    profile::check_rewritten(args.joining.rewritten(), database.profile())?;
    let least = PairsOptions::at_least(database.profile(), args.min_shared, args.min_resemblance, args.min_containment);
    let options = PairsOptions {
        max_df: (args.max_df > 0).then_some(args.max_df),
        across: args.across.clone(),
        group_by: match &args.group_by {
            Some(pattern) => GroupBy::Name(pattern.clone()),
            None if args.no_groups => GroupBy::Nothing,
            None => GroupBy::Metadata,
        },
        submission_by: args.submission_by.as_deref().map(submission_pattern),
        new_since: args.new_since,
        weight: args.weight,
        ..least
    };
    let bar = StepBar::start(printer, "reading the postings");
    let answer = database.pairs(&options, &bar.task());
    let mut answer = answer.inspect_err(|_| bar.end())?;
    let all = answer.pairs.len();
    // Best first: the rest are the least alike.
    answer.pairs.truncate(most(args.top));
    let files = match options.submission_by {
        Some(_) => database.add_files(&mut answer.pairs, &options, &bar.task()),
        None => Ok(()),
    };
    bar.end();
    files?;
    let how = PairEvidence {
        max_df: options.max_df,
        joining: args.joining.options(HtmlReport::most_passages(html.as_ref())),
        limits: args.limits.limits(),
    };
    if let Some(html) = html {
        left_out(&answer, args, &options, printer);
        return report(&database, args, (&how, &options), answer, &html, printer);
    }
    let weighted = args.weight != Weight::None;
    let mut output = Output::open(global)?;
    let listed = answer.pairs.iter().flat_map(|pair| [pair].into_iter().chain(&pair.files));
    let names = listed.flat_map(|pair| [&*pair.a, &*pair.b]);
    let folder = common_folder(names, output.style);
    match global.format {
        OutputFormat::Csv => output.csv([pair_header(args.passages)])?,
        OutputFormat::Human if answer.pairs.is_empty() => output.text("no pairs\n")?,
        OutputFormat::Human => output.text(&pair_header_line(weighted, &folder))?,
        _ => {}
    }
    for some in answer.pairs.chunks_mut(AT_A_TIME) {
        if args.passages {
            database.add_passages(some, &how)?;
        }
        for pair in some {
            match global.format {
                OutputFormat::Json => output.json(pair)?,
                OutputFormat::Csv if args.passages && !pair.files.is_empty() => {
                    output.csv(pair.files.iter().flat_map(pair_rows))?;
                }
                OutputFormat::Csv => output.csv(pair_rows(pair))?,
                _ => {
                    let line = pair_line(pair, weighted, &folder, output.style);
                    output.text(&line)?;
                    output.text(&file_lines(pair, weighted, &folder, output.style))?;
                }
            }
        }
    }
    if global.format == OutputFormat::Human && all > 0 {
        output.text(&pairs_total(answer.pairs.len(), all))?;
    }
    output.finish()?;
    left_out(&answer, args, &options, printer);
    Ok(RunStatus::Done)
}

/// How many pairs are wanted, 0 being all.
fn most(top: u64) -> usize {
    if top == 0 { usize::MAX } else { usize::try_from(top).unwrap_or(usize::MAX) }
}

/// Says what is not among the pairs.
fn left_out(answer: &PairsAnswer, args: &PairsArgs, options: &PairsOptions, printer: &Printer) {
    for prefix in &answer.unmatched {
        printer.note(&format!("no document's name begins with {prefix} (--across)"));
    }
    match answer.divided {
        Some((0, new)) if new > 0 => printer.note(&format!(
            "all {new} documents are new (--new-since): no pair has an old one; without the flag all pairs are listed"
        )),
        Some((old, 0)) if old > 0 => {
            printer.note(&format!("none of the {old} documents is new (--new-since): `fpdb show NAME` tells numbers"));
        }
        _ => {}
    }
    if answer.below > 0 && args.min_resemblance.is_none() && options.min_resemblance > 0.0 {
        printer.note(&format!(
            "{} pairs more have a resemblance below {} and are left out (--min-resemblance 0 shows them)",
            answer.below,
            threshold(options)
        ));
    }
    if answer.boilerplate > 0 {
        printer.note(&format!("{} fingerprints are held by boilerplate and were not counted", answer.boilerplate));
    }
    if answer.common > 0 {
        printer.note(&format!(
            "{} fingerprints are held by more than {} documents each and were not counted (--max-df)",
            answer.common, args.max_df
        ));
    }
}

/// The least resemblance, as a reader is told it.
fn threshold(options: &PairsOptions) -> String {
    match options.few {
        Some(few) => format!(
            "{}, or {} where they share fewer than {} fingerprints,",
            options.min_resemblance, few.min_resemblance, few.shared
        ),
        None => options.min_resemblance.to_string(),
    }
}

/// The pairs as a report for a browser.
fn report(
    database: &Database,
    args: &PairsArgs,
    (how, options): (&PairEvidence, &PairsOptions),
    answer: PairsAnswer,
    html: &HtmlReport<'_>,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    let flags = vec![
        ("--min-shared", args.min_shared.map(|least| least.to_string())),
        ("--min-resemblance", Some(threshold(options).trim_end_matches(',').to_owned())),
        ("--min-containment", args.min_containment.map(|share| share.to_string())),
        ("--max-df", how.max_df.map(|max_df| max_df.to_string())),
        ("--weight", (args.weight == Weight::Idf).then(|| "idf".to_owned())),
        ("--new-since", args.new_since.map(since)),
        ("--group-by", args.group_by.as_ref().map(ToString::to_string)),
        ("--across", (!args.across.is_empty()).then(|| args.across.join(" "))),
    ];
    let flags = [flags, args.joining.flags()].concat();
    let shown = HtmlOptions {
        weighted: args.weight == Weight::Idf,
        evidence: Some(how.clone()),
        read: ReadOptions { limits: how.limits.clone(), ..ReadOptions::default() },
        ..html.options(flags)?
    };
    let complete = html.write(HtmlAnswers::Pairs { database, answer }, &shown, printer)?;
    Ok(if complete { RunStatus::Done } else { RunStatus::Incomplete })
}

/// From when on documents are new, as a report says it.
fn since(since: Since) -> String {
    match since {
        Since::Document(id) => format!("document {id}"),
        Since::Time(seconds) => format!("{seconds} seconds since 1970"),
    }
}
