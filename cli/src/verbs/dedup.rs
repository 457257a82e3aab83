//! `fpdb dedup`: lists removable documents, each with the survivor that justifies it.

use std::path::Path;

use fpdb::apply::{Action, ApplyOptions};
use fpdb::dedup::{DedupAnswer, DedupBy, DedupMode, DedupOptions, DedupSummary};
use fpdb::report::{HtmlAnswers, PairEvidence};
use fpdb::{Database, DocumentInfo, PassageOptions, Profile, ReadOptions, Unit, WordRule};

use crate::html_report::HtmlReport;
use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{
    DEDUP, DedupLine, SharedFolder, Style, boilerplate_left_out, common_left_out, count, document_header_line, grouped,
    latest_run_line, percent,
};
use crate::resolved::{database, output};
use crate::run_status::RunStatus;
use crate::setting::Setting;
use crate::typed::{DedupArgs, Global, OutputFormat};
use crate::verbs::{apply, repeats, thresholds};

/// Minimum number of documents of a source that can cause a warning.
const WARNED_DOCUMENTS: u64 = 20;

pub(crate) fn run(global: &Global, args: &DedupArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    if args.passages {
        return repeats::run(global, args, printer);
    }
    let html = HtmlReport::wanted(global, &args.report)?;
    let report = match (&args.write, &global.output) {
        (Some(_), None) => {
            anyhow::bail!("--write acts on the report, which has to be a file: add --format json -o REPORT")
        }
        (Some(_), Some(_)) if global.format != OutputFormat::Json => {
            anyhow::bail!("--write acts on the report, which has to be JSON: add --format json")
        }
        (_, path) => path.as_deref(),
    };
    let database = database::open_within(global, database::to_change(global, printer)?, args.memory)?;
    let options = options(args, &database)?;
    if args.dry_run {
        output::only(global, "dedup --dry-run", OutputFormat::ANSWER)?;
        let plan = database.plan_dedup(&options)?;
        let mut output = Output::open(global)?;
        output.answer(&plan)?;
        output.finish()?;
        return Ok(RunStatus::Done);
    }
    let stop = interrupt::graceful(
        "stopping; press Ctrl-C again to stop at once (the same command goes on from what is decided by then)",
    );
    if !args.thresholds.is_empty() {
        return thresholds::run(global, &database, &options, &args.thresholds, stop, printer);
    }
    if let Some(html) = html {
        let bar = StepBar::start(printer, "reading the documents");
        let answer = database.dedup(&options, &bar.task().stop(stop));
        bar.end();
        let answer = interrupt::noted(answer, interrupt::GOES_ON, printer)?;
        return write_report(&database, args, &options, answer, &html, printer);
    }
    let mut output = Output::open(global)?;
    output.heading(&DEDUP, "")?;
    let folder = shared_folder(&database, output.style)?;
    let bar = StepBar::start(printer, "reading the documents");
    let mut ended = false;
    let outcome = database.for_each_removable(&options, &bar.task().stop(stop), |row| {
        if !std::mem::replace(&mut ended, true) {
            bar.end();
            output.for_people(&document_header_line(&folder))?;
        }
        output.answer(&DedupLine { row, folder: &folder })
    });
    bar.end();
    let summary = interrupt::noted(outcome, interrupt::GOES_ON, printer)?;
    output.totals(&summary, printer)?;
    output.finish()?;
    remarks(&database, &summary, args, printer)?;
    if options.by == DedupBy::ExactText {
        uncounted(database.profile(), printer);
    }
    if global.format == OutputFormat::Human && args.rule.by.is_none() {
        printer.note("compared by their bytes alone; --by exact-text or --by containment finds more");
    }
    if let (Some(folder), Some(report)) = (&args.write, report) {
        let options = apply_options(folder, &options).prune(args.prune);
        let human = Global { output: None, format: OutputFormat::Human, ..global.clone() };
        let mut output = Output::to_errors(&human);
        let status = apply::act(&database, report, &options, &mut output, printer)?;
        output.finish()?;
        if status != RunStatus::Done {
            return Ok(status);
        }
    }
    Ok(RunStatus::without(summary.unread))
}

/// The folder that all documents lie in. Empty unless standard output is a terminal, which gets short names.
fn shared_folder(database: &Database, style: Style) -> anyhow::Result<String> {
    let mut folder = SharedFolder::default();
    if style.width.is_some() {
        database.for_each_document(|document: DocumentInfo| {
            folder.add(&document.name);
            anyhow::Ok(())
        })?;
    }
    Ok(folder.into_folder())
}

/// The options for copying the archive without removable documents.
fn apply_options(folder: &Path, options: &DedupOptions) -> ApplyOptions {
    let action = Action::Write { folder: folder.to_owned(), mark: None };
    ApplyOptions::new(action).act(true).temp_dir(options.temp_dir.clone()).limits(options.limits.clone())
}

/// Writes the removable documents as a report for a browser.
fn write_report(
    database: &Database,
    args: &DedupArgs,
    options: &DedupOptions,
    answer: DedupAnswer,
    html: &HtmlReport<'_>,
    printer: &Printer,
) -> anyhow::Result<RunStatus> {
    remarks(database, &answer.summary, args, printer)?;
    if options.by == DedupBy::ExactText {
        uncounted(database.profile(), printer);
    }
    let unread = answer.summary.unread;
    let compares = matches!(options.by, DedupBy::Resemblance | DedupBy::Containment);
    let novel = options.max_novel.map_or_else(|| "none".to_owned(), |most| most.to_string());
    let settings = vec![
        Setting::plain("--by", Some(options.by)),
        Setting::plain("--threshold", compares.then_some(options.threshold)),
        Setting::plain("--max-novel", compares.then_some(novel)),
        Setting::plain("--keep", Some(options.keep)),
        Setting::names("--prefer", (!options.prefer.is_empty()).then(|| options.prefer.join(" "))),
        Setting::names("--protect", (!options.protect.is_empty()).then(|| options.protect.join(" "))),
        Setting::plain("--max-df", options.max_df),
    ];
    let mut html_options = html.options(settings)?;
    let joining = PassageOptions::default().most(HtmlReport::most_passages(Some(html)));
    let limits = args.limits.limits();
    html_options.read = ReadOptions::default().limits(limits.clone());
    html_options.evidence = Some(PairEvidence::default().max_df(options.max_df).joining(joining).limits(limits));
    let complete = html.write(HtmlAnswers::Dedup { database, answer }, &html_options, printer)?;
    Ok(if complete { RunStatus::without(unread) } else { RunStatus::Incomplete })
}

fn options(args: &DedupArgs, database: &Database) -> anyhow::Result<DedupOptions> {
    let mut options = args.rule.options(database.profile())?;
    options.keep = args.keep;
    options.prefer = args.prefer.clone();
    options.protect = args.protect.clone();
    options.max_df = (args.max_df > 0).then_some(args.max_df);
    options.budget = args.budget;
    options.mode = match (args.append, args.rerank) {
        (true, _) => DedupMode::Append,
        (_, true) => DedupMode::Rerank,
        _ => DedupMode::Once,
    };
    options.temp_dir = args.temp_dir.clone();
    options.limits = args.limits.limits();
    Ok(options)
}

/// Prints which differences `--by exact-text` ignores.
fn uncounted(profile: &Profile, printer: &Printer) {
    match (profile.unit(), profile.word_rule()) {
        (Unit::Word, WordRule::Letters) => printer.warning(
            "warning: in this database only letters count (unit word): texts that differ in digits, punctuation or operators alone are the same",
        ),
        (Unit::Token, _) => printer.warning(
            "warning: in this database names of source code do not count (unit token): programs that differ in names alone are the same, and texts that differ in digits may be",
        ),
        (Unit::Byte, _) => {}
        _ => printer.note("texts that differ in case, spacing, punctuation or operators alone are the same (--by exact-text)"),
    }
}

/// Prints notes and warnings about the answer.
fn remarks(database: &Database, summary: &DedupSummary, args: &DedupArgs, printer: &Printer) -> anyhow::Result<()> {
    if summary.documents == 0 {
        database::tell_if_all_boilerplate(database, printer)?;
    }
    if let Some(latest) = &summary.latest {
        printer.note(&latest_run_line(latest));
    }
    if summary.undecided > 0 {
        printer.note(&format!(
            "{} undecided and kept: deciding needs more than {} posting reads each (--budget)",
            count(summary.undecided, "document"),
            args.budget.unwrap_or_default()
        ));
    }
    if summary.unread > 0 {
        printer.note(&format!(
            "{} may have the text of another and could not be read again: kept (--store-text keeps texts)",
            count(summary.unread, "document")
        ));
    }
    if summary.parts_not_compared > 0 {
        printer.warning(&format!(
            "warning: {} may hold attachments or pictures (mail, PDF, DOCX, ODT, EPUB): only their texts were compared",
            count(summary.parts_not_compared, "removable document")
        ));
    }
    let profile = database.profile();
    if let Some(t) = profile.guarantee().filter(|_| profile.w() > 1) {
        if summary.short > 0 {
            let words = if profile.unit() == Unit::Word { "" } else { "--profile words, or " };
            printer.warning(&format!(
                "warning: {} of fewer than {} symbols may differ at the ends, where no fingerprint is (a database with {words}-w 1 sees every difference)",
                count(summary.short, "removable document"),
                2 * t
            ));
        }
        if args.rule.max_novel.and_then(|typed| typed.0).is_some_and(|most| most < t) {
            printer.note(&format!(
                "--max-novel: a stretch of fewer than {t} symbols at the end of a text may have no fingerprint, and is not seen then"
            ));
        }
    }
    if summary.boilerplate > 0 {
        printer.note(&boilerplate_left_out(summary.boilerplate));
    }
    if summary.common > 0 {
        printer.note(&format!(
            "{}: documents that share only those are kept",
            common_left_out(summary.common, args.max_df)
        ));
    }
    for totals in &summary.sources {
        let share = totals.removable as f64 / totals.documents as f64;
        if totals.documents >= WARNED_DOCUMENTS && share > args.warn_source {
            let source = if totals.source.is_empty() { "the current folder" } else { &totals.source };
            printer.warning(&format!(
                "warning: {} of the {} from {source} are removable ({})",
                grouped(totals.removable),
                count(totals.documents, "document"),
                percent(share)
            ));
        }
    }
    Ok(())
}
