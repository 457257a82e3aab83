//! `fpdb verify`: checks every posting, document and count against each other, and rebuilds what is damaged.

use std::path::Path;

use fpdb::DatabaseBuilder;
use fpdb::maintenance::Verification;

use crate::output::Output;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::restored_documents;
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::{Global, VerifyArgs};

pub(crate) fn run(global: &Global, args: &VerifyArgs, printer: &Printer) -> anyhow::Result<RunStatus> {
    let path = if args.repair { database::to_change(global, printer)? } else { database::existing(global)? };
    let steps = StepBar::start(printer, "checking the database");
    let found = look(&database::builder(global).give_up_missing(args.give_up_missing), &path, args.repair, &steps);
    steps.end();
    let found = found?;
    let mut output = Output::of_changes(global)?;
    output.answer(&found)?;
    output.finish()?;
    let bad = match &found.repair {
        Some(repair) => !repair.is_complete(),
        None => !found.problems.is_empty(),
    };
    let repair = found.repair.as_ref();
    if repair.is_some_and(|repair| repair.kept_out_salvaged.is_some()) {
        printer.note(
            "hint: before the next ingest, get the list of what is kept out from a backup: \
             `fpdb restore BACKUPS --db OTHER`, then keep OTHER, or compare `fpdb stats --format json` of both",
        );
    }
    if repair.is_some_and(|repair| repair.sources_salvaged.is_some()) {
        printer.note("hint: `fpdb stats` lists the remembered flags; give those that are lost in the next ingest");
    }
    let only_remembered =
        repair.is_some_and(|repair| repair.lost.is_empty() && repair.texts_lost.is_empty() && repair.commits_lost == 0);
    if bad && !only_remembered {
        let on = &printer.suggested;
        printer.note(&match &found.repair {
            Some(_) if restored_documents(&found) > 0 => {
                let rm = on.of("rm");
                format!("hint: remove again with `{rm}` what was removed last, and ingest again what is or may be lost")
            }
            Some(_) => {
                "hint: ingest again what is or may be lost, with --store-text where texts were stored".to_owned()
            }
            None => format!("hint: `{}` rebuilds what can be rebuilt", on.of("verify --repair")),
        });
    }
    Ok(if bad { RunStatus::Incomplete } else { RunStatus::Done })
}

fn look(builder: &DatabaseBuilder, path: &Path, repair: bool, steps: &StepBar) -> fpdb::Result<Verification> {
    let task = steps.task();
    if repair { builder.repair(path, &task) } else { builder.open(path)?.verify(&task) }
}
