//! Progress: bars on a terminal, with rate and time left.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fpdb::{IngestOptions, Source, StopToken, Task};
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::printer::Printer;
use super::render::count;
use super::step_report;

/// The bar of an ingest. Does nothing without a terminal or with `--no-progress`.
pub(crate) struct IngestBar {
    bar: Option<ProgressBar>,
    documents: AtomicU64,
    ended: StopToken,
}

impl IngestBar {
    /// Starts a bar. Another thread adds up the sizes of the files meanwhile.
    pub(crate) fn start(printer: &Printer, sources: &[Source], options: &IngestOptions) -> Self {
        let ended = StopToken::new();
        let bar = printer.progress.then(|| {
            let bar = drawn(style("{spinner} {msg}{bytes_sofar}"));
            bar.set_message("looking for documents");
            let (measured, sources, walk) = (bar.clone(), sources.to_vec(), options.walk.clone());
            let ended = ended.clone();
            let measure = move || {
                if let Ok(Some(bytes)) = fpdb_reading::input::measure(&sources, &walk, &ended) {
                    measured.set_length(bytes);
                    measured.set_style(style("{wide_bar} {bytes} of {total_bytes}{bytes_rate}{left}, {msg}"));
                }
            };
            // Nobody joins this thread: it ends with its walk, or soon after the bar. If the thread cannot
            // start, the bar has no total.
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
            bar.set_message(count(documents, "document"));
        }
    }

    /// Clears the bar while `print` writes, then draws it again.
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

/// The current step of a command: a bar if the amount of work is known, otherwise a count or a spinner. Does
/// nothing without a terminal or with `--no-progress`.
pub(crate) struct StepBar {
    bar: Option<ProgressBar>,
    /// True if lines of text replace the bar.
    lines: bool,
    /// The last step, and its total.
    shown: Mutex<(&'static str, u64)>,
}

impl StepBar {
    pub(crate) fn start(printer: &Printer, what: &'static str) -> Self {
        let bar = printer.progress.then(|| drawn(steps_style(what, false)));
        Self { bar, lines: printer.lines, shown: Mutex::new((what, 0)) }
    }

    /// Shows `done` of `total` items. `total` is 0 if unknown.
    pub(crate) fn show(&self, what: &'static str, done: u64, total: u64) {
        step_report::note(what, done, total, self.lines);
        let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_finished()) else { return };
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, last_total) = std::mem::replace(&mut *shown, (what, total));
        if (last, last_total) == (what, total) {
            bar.set_position(done);
            return;
        }
        bar.set_style(steps_style(what, total > 0));
        // The rate and the time left must be those of this step alone.
        bar.reset_eta();
        bar.reset_elapsed();
        bar.update(|state| {
            state.set_len(total);
            state.set_pos(done);
        });
    }

    /// Prints lines without breaking the bar.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
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

/// The style of a step. It contains the name of the step, so that no name is drawn beside the numbers of
/// another step.
fn steps_style(what: &str, is_bar: bool) -> ProgressStyle {
    match is_bar {
        true => style(&format!("{{wide_bar}} {{human_pos}} of {{human_len}} {what}{{rate}}{{left}}")),
        false => style(&format!("{{spinner}} {what}{{sofar}}")),
    }
}

/// Interval at which a bar or spinner moves even without progress.
const TICK: Duration = Duration::from_millis(200);

/// Maximum number of redraws per second. A terminal over a slow line receives each of them.
const REDRAWS: u8 = 10;

/// Time until a rate is shown. An earlier rate would depend on the first few items and on caches.
const FIRST_RATE: Duration = Duration::from_secs(1);

/// A bar on standard error.
fn drawn(style: ProgressStyle) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(REDRAWS)).with_style(style);
    bar.enable_steady_tick(TICK);
    bar
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&step_rate(state));
        })
        .with_key("bytes_rate", |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&bytes_rate(state));
        })
        .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
            if has_rate(state) {
                let _ = write!(out, ", {:#} left", HumanDuration(state.eta()));
            }
        })
        // The text is empty before the first item.
        .with_key("sofar", |state: &ProgressState, out: &mut dyn Write| {
            if state.pos() > 0 {
                let _ = write!(out, ": {}{}", HumanCount(state.pos()), step_rate(state));
            }
        })
        .with_key("bytes_sofar", |state: &ProgressState, out: &mut dyn Write| {
            if state.pos() > 0 {
                let _ = write!(out, ", {}{}", HumanBytes(state.pos()), bytes_rate(state));
            }
        })
}

/// True once the rate is meaningful.
fn has_rate(state: &ProgressState) -> bool {
    state.pos() > 0 && state.elapsed() >= FIRST_RATE
}

fn step_rate(state: &ProgressState) -> String {
    let rate = rate(state.per_sec()).filter(|_| has_rate(state));
    rate.map_or_else(String::new, |rate| format!(" ({rate})"))
}

fn bytes_rate(state: &ProgressState) -> String {
    if has_rate(state) { format!(" ({}/s)", HumanBytes(state.per_sec() as u64)) } else { String::new() }
}

/// A number per second or minute, without meaningless digits. `None` if it is nearly 0.
pub(super) fn rate(per_second: f64) -> Option<String> {
    Some(match per_second {
        none if none * 60.0 < 0.1 => return None,
        slow if slow < 1.0 => format!("{:.1}/min", slow * 60.0),
        slow if slow < 10.0 => format!("{slow:.1}/s"),
        fast => format!("{}/s", HumanCount(fast as u64)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_digits_that_mean_something() {
        for (per_second, text) in [
            (0.0, None),
            (0.001, None),
            (0.01, Some("0.6/min")),
            (0.25, Some("15.0/min")),
            (1.25, Some("1.2/s")),
            (14.9, Some("14/s")),
            (14_105_185.339_2, Some("14,105,185/s")),
        ] {
            assert_eq!(rate(per_second).as_deref(), text);
        }
    }
}
