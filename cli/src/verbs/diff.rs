//! `fpdb diff`: compares two files without a database.

use fpdb::normalize::language_of;
use fpdb::report::HtmlAnswers;
use fpdb::{DiffOptions, Profile, QuerySource, Task};

use super::query;
use crate::excerpt::Excerpts;
use crate::html_report::{HtmlReport, TemporaryCopies, is_read_once};
use crate::interrupt;
use crate::output::Output;
use crate::printer::Printer;
use crate::render::{QueryPage, attachments_left_out, query_header};
use crate::resolved::phrases;
use crate::run_status::RunStatus;
use crate::setting::Setting;
use crate::typed::{DiffArgs, Global};

pub(crate) fn run(global: &Global, args: &DiffArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let html = HtmlReport::wanted(global, &args.report)?;
    let files = [&args.a, &args.b].into_iter().chain(&args.boilerplate);
    if files.filter(|file| file.as_os_str() == "-").count() > 1 {
        anyhow::bail!("standard input can be read only once");
    }
    let profile = match args.joining.rewritten() {
        true => args.profile.or(Profile::named("words").unwrap_or_default())?,
        false => args.profile.for_new()?,
    };
    let spooled = match html {
        Some(_) => TemporaryCopies::of([&args.a, &args.b].into_iter(), args.read.options().closed, "-")?,
        None => TemporaryCopies::default(),
    };
    let (a, b) = (spooled.place(&args.a), spooled.place(&args.b));
    let joining = args.joining.options(HtmlReport::most_passages(html.as_ref()));
    let phrases = phrases::read(&args.read, &profile, printer)?;
    let (first, second) = (QuerySource::File(a.clone()), QuerySource::File(b.clone()));
    let task = Task::new().stop(interrupt::graceful("stopping; press Ctrl-C again to stop at once"));
    let options = DiffOptions::default()
        .read(args.read.options())
        .phrases(phrases)
        .boilerplate(args.boilerplate.iter().cloned().map(QuerySource::File).collect())
        .joining(joining);
    let mut answer = fpdb::diff(&first, &second, &profile, &options, &task)?;
    interrupt::at_once();
    printer.detail(&format!("compared with {profile}"));
    spooled.rename(&args.a, &mut answer.query.name);
    answer.matches.iter_mut().for_each(|found| spooled.rename(&args.b, &mut found.document));
    let attachments = answer.query.attachments;
    if attachments > 0 {
        printer.note(&attachments_left_out(attachments, ": name one to compare it, such as 'a.eml!contract.pdf'"));
    }
    let found = !answer.matches.is_empty();
    let has_passage = answer.matches.iter().any(|found| !found.passages.is_empty());
    let mut complete = true;
    if let Some(html) = html {
        let boilerplate = args.boilerplate.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let boilerplate = (!boilerplate.is_empty()).then(|| boilerplate.join(" "));
        let own = vec![Setting::ignored_text("--boilerplate", boilerplate)];
        let settings = [own, args.read.settings(), args.joining.settings()].concat();
        let html_options = (html.options(settings)?).read(args.read.options());
        complete = html.write(HtmlAnswers::Diff { a: &a, b: &b, answer }, &html_options, printer)?;
    } else {
        let mut output = Output::open(global)?;
        output.heading(&query_header(false, profile.has_two_views(), false), "")?;
        let read = args.read.options();
        // A part of an archive is not a file. Standard input and pipes cannot be read again.
        let again = !is_read_once(&args.b);
        let excerpts = query::excerpts_wanted(&args.excerpt, &args.report, output.style)
            .filter(|_| again)
            .map(|context| Excerpts::of_file(&args.b, &profile, &read, context, output.style));
        output.answer(&QueryPage { answer: &answer, by_submission: false, times: false, excerpts: excerpts.into() })?;
        output.finish()?;
    }
    if args.joining.rewritten() && !has_passage {
        printer.note("no passage has enough words in common, some 20 (--rewritten)");
    }
    let are_programs =
        || [&args.a, &args.b].into_iter().all(|file| language_of(&file.to_string_lossy(), b"").is_some());
    if profile == Profile::default() && args.profile.profile.is_none() && are_programs() {
        printer
            .note("hint: these are programs; --profile code compares their structure, whatever their names and layout");
    }
    Ok(match (complete, found) {
        (false, _) => RunStatus::Incomplete,
        (true, false) if args.exit_status => RunStatus::NothingFound,
        _ => RunStatus::Done,
    })
}
