//! `fpdb pairs`: all pairs of stored documents that share enough, ranked.

use fpdb::report::{PairReport, pair_header, pair_header_line, pair_line, pair_row};
use fpdb::{Database, PairsOptions};

use super::Outcome;
use super::args::{Format, Global, PairsArgs};
use super::place;
use super::printer::{Output, Printer, only};

pub(crate) fn run(global: &Global, args: &PairsArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "pairs", &[Format::Human, Format::Json, Format::Csv])?;
    let database = Database::open(&place::existing(global)?)?;
    let default = PairsOptions::default();
    let options = PairsOptions {
        min_shared: args.min_shared,
        min_resemblance: args.min_resemblance,
        min_containment: args.min_containment,
        max_df: (args.max_df > 0).then_some(args.max_df),
        across: args.across.clone(),
        memory: args.memory.unwrap_or(default.memory),
    };
    let answer = database.pairs(&options)?;
    let mut output = Output::open(global)?;
    match global.format {
        Format::Csv => output.csv([pair_header()])?,
        Format::Human if !answer.pairs.is_empty() => output.text(&pair_header_line())?,
        _ => {}
    }
    for pair in &answer.pairs {
        let report = PairReport::new(pair);
        match global.format {
            Format::Json => output.json(&report)?,
            Format::Csv => output.csv([pair_row(&report)])?,
            _ => {
                let line = pair_line(&report, output.style);
                output.text(&line)?;
            }
        }
    }
    output.finish()?;
    printer.detail(&format!("{} pairs", answer.pairs.len()));
    if answer.common > 0 {
        printer.note(&format!(
            "{} fingerprints are held by more than {} documents each and were not counted (--max-df)",
            answer.common, args.max_df
        ));
    }
    Ok(Outcome::Done)
}
