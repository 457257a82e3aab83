//! `fpdb compact`: folds all postings into one run and frees the space of deleted documents.

use fpdb::maintenance::CompactionPlan;

use crate::interrupt;
use crate::output::summary;
use crate::printer::Printer;
use crate::progress::StepBar;
use crate::render::{count, duration, grouped, size};
use crate::resolved::database;
use crate::run_status::RunStatus;
use crate::typed::Global;

pub(crate) fn run(global: &Global, printer: &Printer) -> anyhow::Result<RunStatus> {
    let database = database::open_writer(global, printer)?;
    let plan = database.compaction_plan()?;
    if plan.runs > 0 || plan.other_bytes > 0 {
        printer.note(&plan_line(&plan));
    }
    let stop = interrupt::graceful("stopping; press Ctrl-C again to stop at once (what is folded stays)");
    let steps = StepBar::start(printer, "compacting");
    let compacted = database.compact(&steps.task().stop(stop));
    steps.end();
    let stopped = "stopped; run the same command to continue, before anything else changes the database";
    let compacted = interrupt::noted(compacted, stopped, printer)?;
    summary(global, &compacted, "")?;
    printer.note(&format!("compacted: {} before, {} after", size(compacted.before), size(compacted.after)));
    Ok(RunStatus::Done)
}

/// The work, the time and the disk space that a compaction needs.
fn plan_line(plan: &CompactionPlan) -> String {
    let fold = format!("folding {} ({} postings) into one", count(plan.runs, "run"), grouped(plan.postings));
    let rewrite = format!("writing {} of other tables again", size(plan.other_bytes));
    let work = match (plan.runs, plan.other_bytes) {
        (0, _) => rewrite,
        (_, 0) => fold,
        _ => format!("{fold}, and {rewrite}"),
    };
    let free = match plan.free {
        Some(free) if free < plan.bytes => format!(" (only {} free)", size(free)),
        _ => String::new(),
    };
    format!("{work}: about {}; needs {} of disk meanwhile{free}", duration(plan.seconds as f64), size(plan.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_names_the_work_the_time_and_the_disk() {
        let mut plan = CompactionPlan::default();
        (plan.runs, plan.postings, plan.bytes, plan.seconds, plan.free) = (21, 990_000_000, 9 << 30, 66, Some(3 << 30));
        let line = "folding 21 runs (990,000,000 postings) into one: about 1 min 6 s; needs 9.0 GiB of disk meanwhile (only 3.0 GiB free)";
        assert_eq!(plan_line(&plan), line);
        (plan.other_bytes, plan.free) = (50 << 30, None);
        assert!(plan_line(&plan).contains("into one, and writing 50.0 GiB of other tables again: about"));
        plan.runs = 0;
        assert!(plan_line(&plan).starts_with("writing 50.0 GiB of other tables again: about"));
    }
}
