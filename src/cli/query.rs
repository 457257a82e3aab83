//! `fpdb query`: which stored documents share text with these?

use fpdb::report::{QueryReport, query_header, query_page, query_rows};
use fpdb::{Database, QueryOptions, QuerySource};

use super::Outcome;
use super::args::{Format, Global, Mode, QueryArgs};
use super::place;
use super::printer::{Output, Printer, only};

/// Hashes looked up in resemblance mode: an error of at most 9% (1 / sqrt(128)).
const RESEMBLANCE_N: u64 = 128;

/// Queries answered before the first of them is written.
const AT_A_TIME: usize = 64;

pub(crate) fn run(global: &Global, args: &QueryArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "query", &[Format::Human, Format::Json, Format::Csv])?;
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        anyhow::bail!("standard input can be read only once");
    }
    let database = Database::open(&place::existing(global)?)?;
    let options = options(args);
    let files = args.files.iter().cloned().map(QuerySource::File);
    let stored = args.document.iter().cloned().map(QuerySource::Stored);
    let sources: Vec<QuerySource> = files.chain(stored).collect();

    let mut output = Output::open(global)?;
    write_header(global, &mut output)?;
    let (mut failed, mut found) = (false, false);
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
            found |= !answer.matches.is_empty();
            let report = QueryReport::new(&answer, options.mode, database.profile());
            write(global, &mut output, &report)?;
        }
        printer.detail(&format!(
            "{} of {} queries answered",
            sources.len().min((index + 1) * AT_A_TIME),
            sources.len()
        ));
    }
    output.finish()?;
    Ok(match (failed, found) {
        (true, _) => Outcome::Incomplete,
        (false, false) if args.exit_status => Outcome::NothingFound,
        _ => Outcome::Done,
    })
}

/// What comes before the first answer.
pub(super) fn write_header(global: &Global, output: &mut Output) -> anyhow::Result<()> {
    match global.format {
        Format::Csv => output.csv([query_header()]),
        _ => Ok(()),
    }
}

/// One answer.
pub(super) fn write(global: &Global, output: &mut Output, report: &QueryReport) -> anyhow::Result<()> {
    match global.format {
        Format::Json => output.json(report),
        Format::Csv => output.csv(query_rows(report)),
        _ => {
            let page = query_page(report, output.style);
            output.text(&page)
        }
    }
}

fn options(args: &QueryArgs) -> QueryOptions {
    let (mode, n) = match args.mode {
        Mode::Containment => (fpdb::Mode::Containment, None),
        Mode::Resemblance => (fpdb::Mode::Resemblance, Some(RESEMBLANCE_N)),
    };
    QueryOptions {
        mode,
        window: args.window,
        n: args.n.or(n),
        top: (args.top > 0).then_some(args.top),
        min_score: args.min_score,
        max_df: args.max_df,
        passages: !args.no_passages,
    }
}

fn name_of(source: &QuerySource) -> String {
    match source {
        QuerySource::File(path) => path.display().to_string(),
        QuerySource::Stored(name) => name.clone(),
    }
}
