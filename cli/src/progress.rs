//! Progress: bytes done of bytes to do, with rate and time left, on a terminal only.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fpdb::{IngestOptions, Source, StopToken, Task};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressState, ProgressStyle};

use super::printer::Printer;
use super::step_report;

/// A bar, or nothing where none is wanted.
pub(crate) struct IngestBar {
    bar: Option<ProgressBar>,
    documents: AtomicU64,
    ended: StopToken,
}

impl IngestBar {
    /// Starts a bar. A walk that only looks at sizes measures the work meanwhile.
    pub(crate) fn start(printer: &Printer, sources: &[Source], options: &IngestOptions) -> Self {
        let ended = StopToken::new();
        let bar = printer.progress.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(style("{spinner} {msg}{bytes_sofar}"));
            bar.set_message("looking for documents");
            bar.enable_steady_tick(TICK);
            let (measured, sources, walk) = (bar.clone(), sources.to_vec(), options.walk.clone());
            let ended = ended.clone();
            let measure = move || {
                if let Ok(Some(bytes)) = fpdb_reading::input::measure(&sources, &walk, &ended) {
                    measured.set_length(bytes);
                    measured.set_style(style("{bar:30} {bytes} of {total_bytes} ({bytes_per_sec}), {eta} left, {msg}"));
                }
            };
            // Left to itself: it ends with the walk, or soon after the bar does. Without it the bar has no end.
            let _ = thread::Builder::new().name("measure".into()).spawn(measure);
            bar
        });
        Self { bar, documents: AtomicU64::new(0), ended }
    }

    pub(crate) fn read(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    pub(crate) fn documents(&self, more: u64) {
        let documents = self.documents.fetch_add(more, Ordering::Relaxed) + more;
        if let Some(bar) = &self.bar {
            bar.set_message(if documents == 1 { "1 document".into() } else { format!("{documents} documents") });
        }
    }

    /// Lets something be printed without the bar in its way.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn end(&self) {
        self.ended.stop();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The step a command works on: a bar where the amount of work is known, else a count or only a sign of life.
/// Nothing where none is wanted.
pub(crate) struct StepBar {
    bar: Option<ProgressBar>,
    /// True if lines of text take the place of the bar.
    lines: bool,
    /// The step shown last, and true if as a bar.
    shown: Mutex<(&'static str, bool)>,
}

impl StepBar {
    pub(crate) fn start(printer: &Printer, what: &'static str) -> Self {
        let bar = printer.progress.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(steps_style(what, false));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar, lines: printer.lines, shown: Mutex::new((what, false)) }
    }

    /// `done` of `total`, 0 where that is not known.
    pub(crate) fn show(&self, what: &'static str, done: u64, total: u64) {
        step_report::note(what, done, total, self.lines);
        let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_finished()) else { return };
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown == (what, total > 0) {
            bar.set_position(done);
            return;
        }
        *shown = (what, total > 0);
        bar.set_style(steps_style(what, total > 0));
        // Rate and time left are of this, not of what came before.
        bar.reset_eta();
        bar.reset_elapsed();
        bar.update(|state| {
            state.set_len(total);
            state.set_pos(done);
        });
    }

    /// The task that shows its steps here.
    pub(crate) fn task(&self) -> Task<'_> {
        Task::new().progress(self)
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl fpdb::Progress for StepBar {
    fn step(&self, step: &'static str, done: u64, total: u64) {
        self.show(step, done, total);
    }
}

/// The step's name is part of the style, and both change at once: no name is drawn beside the numbers of another step.
fn steps_style(what: &str, is_bar: bool) -> ProgressStyle {
    match is_bar {
        true => style(&format!("{{bar:30}} {{human_pos}} of {{human_len}} {what} ({{rate}}), {{eta}} left")),
        false => style(&format!("{{spinner}} {what}{{sofar}}")),
    }
}

/// How often a sign of life is drawn.
const TICK: Duration = Duration::from_millis(200);

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&rate(state.per_sec()));
        })
        // The text of a count, once there is something to count.
        .with_key("sofar", |state: &ProgressState, out: &mut dyn Write| {
            if state.pos() > 0 {
                let _ = write!(out, ": {} ({})", HumanCount(state.pos()), rate(state.per_sec()));
            }
        })
        .with_key("bytes_sofar", |state: &ProgressState, out: &mut dyn Write| {
            if state.pos() > 0 {
                let (bytes, rate) = (HumanBytes(state.pos()), HumanBytes(state.per_sec() as u64));
                let _ = write!(out, ", {bytes} ({rate}/s)");
            }
        })
}

/// So many a second, without digits that mean nothing.
fn rate(per_second: f64) -> String {
    match per_second {
        slow if slow < 10.0 => format!("{slow:.1}/s"),
        fast => format!("{}/s", HumanCount(fast as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_digits_that_mean_something() {
        for (per_second, text) in [(0.0, "0.0/s"), (0.25, "0.2/s"), (14.9, "14/s"), (14_105_185.339_2, "14,105,185/s")]
        {
            assert_eq!(rate(per_second), text);
        }
    }
}
