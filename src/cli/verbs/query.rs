//! `fpdb query`: which stored documents share text with these?

use std::collections::HashSet;
use std::path::Path;

use fpdb::{
    Database, Failure, HtmlAnswers, HtmlOptions, Mode, PairEvidence, QueryAnswer, QueryOptions, QuerySource, Weight,
};

use crate::cli::excerpt::Excerpts;
use crate::cli::html_report::{HtmlReport, TemporaryCopies};
use crate::cli::output::Output;
use crate::cli::printer::Printer;
use crate::cli::render::{Style, query_header, query_page, query_rows};
use crate::cli::resolved::{database, output, phrases, profile, query};
use crate::cli::run_status::RunStatus;
use crate::cli::typed::{ExcerptArgs, Global, OutputFormat, QueryArgs, ReportArgs};

/// Queries answered before the first of them is written.
const AT_A_TIME: usize = 64;

pub(crate) fn run(global: &Global, args: &QueryArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let html = HtmlReport::wanted(global, &args.report)?;
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        anyhow::bail!("standard input can be read only once");
    }
    let database = database::open(global)?;
    profile::check_rewritten(args.joining.rewritten(), database.profile())?;
    let options = QueryOptions {
        phrases: phrases::read(&args.read, database.profile(), printer)?,
        ..query::options(args, HtmlReport::most_passages(html.as_ref()))
    };
    let sources = args.sources.clone();
    if let Some(html) = html {
        let mut seen = HashSet::new();
        // What is asked twice is one document of the report.
        let sources: Vec<QuerySource> = sources.into_iter().filter(|source| seen.insert(source.clone())).collect();
        return report(&database, args, &options, &sources, &html, printer);
    }

    output::not_over(global, &args.files)?;
    let mut output = Output::open(global)?;
    write_header(global, &mut output)?;
    let (mut answered, mut failed, mut found) = (false, false, false);
    for (index, some) in sources.chunks(AT_A_TIME).enumerate() {
        for (source, answer) in some.iter().zip(database.query(some, &options)?) {
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    failed = true;
                    printer.failure(&name_of(source), &error);
                    continue;
                }
            };
            answered = true;
            found |= !answer.matches.is_empty();
            let excerpts = excerpts_wanted(global, &args.excerpt, &args.report, output.style)
                .map(|context| Excerpts::of_database(&database, &options.read, context, output.style));
            write(global, &mut output, &answer, excerpts)?;
        }
        printer.detail(&format!(
            "{} of {} queries answered",
            sources.len().min((index + 1) * AT_A_TIME),
            sources.len()
        ));
    }
    if answered {
        output.finish()?;
    }
    Ok(match (failed, found) {
        (true, _) => RunStatus::Incomplete,
        (false, false) if args.exit_status => RunStatus::NothingFound,
        _ => RunStatus::Done,
    })
}

/// The answers as a report for a browser.
fn report(
    database: &Database,
    args: &QueryArgs,
    options: &QueryOptions,
    sources: &[QuerySource],
    html: &HtmlReport<'_>,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    let spooled = TemporaryCopies::of(args.files.iter())?;
    let (mut answers, mut failures) = (Vec::new(), Vec::new());
    for some in sources.chunks(AT_A_TIME) {
        let places: Vec<QuerySource> = some.iter().map(|source| place_of(source, &spooled)).collect();
        let answered = database.query(&places, options)?;
        for ((source, place), answer) in some.iter().zip(places).zip(answered) {
            let mut answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    printer.failure(&name_of(source), &error);
                    failures.push(Failure::of(&name_of(source), &error));
                    continue;
                }
            };
            spooled.rename(Path::new(&name_of(source)), &mut answer.query.name);
            answers.push((place, answer));
        }
    }
    let found = answers.iter().any(|(_, answer)| !answer.matches.is_empty());
    let failed = !failures.is_empty();
    let text = |flag: bool, value: String| flag.then_some(value);
    let flags = vec![
        ("--mode", text(args.mode == Mode::Resemblance, "resemblance".into())),
        ("--window", args.window.map(|window| window.to_string())),
        ("-n", options.n.map(|n| n.to_string())),
        ("--top", Some(args.top.to_string())),
        ("--min-score", text(args.min_score > 0.0, args.min_score.to_string())),
        ("--max-df", options.max_df.map(|max_df| max_df.to_string())),
        ("--weight", text(args.weight == Weight::Idf, "idf".into())),
    ];
    let flags = [flags, args.read.flags(), args.joining.flags()].concat();
    let how = PairEvidence { max_df: options.max_df, joining: options.joining, limits: options.read.limits.clone() };
    let shown = HtmlOptions {
        failures,
        weighted: args.weight == Weight::Idf,
        evidence: options.passages.then_some(how),
        read: options.read.clone(),
        ..html.options(flags)?
    };
    let complete = html.write(HtmlAnswers::Queries { database, answers }, &shown, printer)?;
    Ok(match (failed || !complete, found) {
        (true, _) => RunStatus::Incomplete,
        (false, false) if args.exit_status => RunStatus::NothingFound,
        _ => RunStatus::Done,
    })
}

/// What comes before the first answer.
pub(super) fn write_header(global: &Global, output: &mut Output) -> anyhow::Result<()> {
    match global.format {
        OutputFormat::Csv => output.csv([query_header()]),
        _ => Ok(()),
    }
}

/// Whether passages are shown with text, and with how many lines around where they begin.
pub(super) fn excerpts_wanted(
    global: &Global,
    excerpt: &ExcerptArgs,
    report: &ReportArgs,
    style: Style,
) -> Option<Option<usize>> {
    let context = excerpt.context.map(usize::from);
    let wanted = style.width.is_some() || context.is_some();
    (global.format == OutputFormat::Human && wanted && !report.no_text).then_some(context)
}

/// One answer.
pub(super) fn write(
    global: &Global,
    output: &mut Output,
    answer: &QueryAnswer,
    mut excerpts: Option<Excerpts<'_>>,
) -> anyhow::Result<()> {
    match global.format {
        OutputFormat::Json => output.json(answer),
        OutputFormat::Csv => output.csv(query_rows(answer)),
        _ => {
            let page = query_page(answer, output.style, &mut |found, at| match &mut excerpts {
                Some(excerpts) => excerpts.lines(found, at),
                None => Vec::new(),
            });
            output.text(&page)
        }
    }
}

/// Where a source is to be read.
fn place_of(source: &QuerySource, spooled: &TemporaryCopies) -> QuerySource {
    match source {
        QuerySource::File(path) => QuerySource::File(spooled.place(path)),
        other => other.clone(),
    }
}

fn name_of(source: &QuerySource) -> String {
    match source {
        QuerySource::File(path) => path.display().to_string(),
        QuerySource::Stored(name) => name.clone(),
        QuerySource::Number(id) => id.to_string(),
        _ => String::new(),
    }
}
