//! `fpdb diff`: two files compared, without a database.

use fpdb::Mode;
use fpdb::report::QueryReport;
use fpdb::report::html::{DocumentTexts, Origin, Report};

use super::Outcome;
use super::args::Global;
use super::comparing::DiffArgs;
use super::html::{Html, Spooled};
use super::printer::{Output, Printer, not_over};
use super::query;

pub(crate) fn run(global: &Global, args: &DiffArgs, printer: &Printer) -> anyhow::Result<Outcome> {
    let html = Html::wanted(global, &args.report)?;
    if args.a.as_os_str() == "-" && args.b.as_os_str() == "-" {
        anyhow::bail!("standard input can be read only once");
    }
    not_over(global, [&args.a, &args.b])?;
    let profile = args.profile.for_new()?;
    let spooled = match html {
        Some(_) => Spooled::of([&args.a, &args.b].into_iter())?,
        None => Spooled::default(),
    };
    let (a, b) = (spooled.place(&args.a), spooled.place(&args.b));
    let joining = args.joining.options(Html::most_passages(html.as_ref()));
    let phrases = args.read.phrases(&profile, printer)?;
    let answer = fpdb::diff(&a, &b, &profile, &args.read.options(), phrases.as_ref(), &joining)?;
    printer.detail(&format!("compared with {profile}"));
    let mut report = QueryReport::new(&answer, Mode::Containment, &profile);
    spooled.rename(&args.a, &mut report.query.name);
    report.matches.iter_mut().for_each(|found| spooled.rename(&args.b, &mut found.document));
    let found = !report.matches.is_empty();
    let mut complete = true;
    if let Some(html) = html {
        let about = html.about([args.read.flags(), args.joining.flags()].concat(), Vec::new())?;
        let report = Report::of_diff(report, Origin::File(a), Origin::File(b), about);
        let texts = DocumentTexts { database: None, unit: profile.unit, read: &args.read.options() };
        complete = html.write(report, &texts, printer)?;
    } else {
        let mut output = Output::open(global)?;
        query::write_header(global, &mut output)?;
        query::write(global, &mut output, &report)?;
        output.finish()?;
    }
    Ok(match (complete, found) {
        (false, _) => Outcome::Incomplete,
        (true, false) if args.exit_status => Outcome::NothingFound,
        _ => Outcome::Done,
    })
}
