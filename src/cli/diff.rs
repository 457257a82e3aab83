//! `fpdb diff`: two files compared, without a database.

use fpdb::Mode;
use fpdb::report::QueryReport;

use super::Outcome;
use super::args::{DiffArgs, Format, Global};
use super::printer::{Output, Printer, only};
use super::query;

pub(crate) fn run(global: &Global, args: &DiffArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    only(global, "diff", &[Format::Human, Format::Json, Format::Csv])?;
    if args.a.as_os_str() == "-" && args.b.as_os_str() == "-" {
        anyhow::bail!("standard input can be read only once");
    }
    let profile = args.profile.for_new()?;
    let answer = fpdb::diff(&args.a, &args.b, &profile)?;
    printer.detail(&format!("compared with {profile}"));
    let mut output = Output::open(global)?;
    let report = QueryReport::new(&answer, Mode::Containment, &profile);
    query::write_header(global, &mut output)?;
    query::write(global, &mut output, &report)?;
    output.finish()?;
    Ok(if report.matches.is_empty() && args.exit_status { Outcome::NothingFound } else { Outcome::Done })
}
