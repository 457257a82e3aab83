//! Step report: the current step of a long command in a line of text. The line is written every half minute
//! if standard error is not a terminal, and on SIGUSR1.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::progress::rate;
use super::render::{duration, grouped};

/// The current step.
static CURRENT: Mutex<Option<Step>> = Mutex::new(None);

/// Time between two lines.
const PAUSE: Duration = Duration::from_secs(30);

/// A step of a command.
#[derive(Clone, Copy, Debug)]
struct Step {
    what: &'static str,
    begun: Instant,
    /// Number of items that an earlier run had done.
    before: u64,
    done: u64,
    total: u64,
    written: Instant,
}

/// Records the progress of a step. With `lines`, writes a line if one is due.
pub(super) fn note(what: &'static str, done: u64, total: u64, lines: bool) {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let written = current.map_or(now, |step| step.written);
    let step = match &mut *current {
        Some(step) if (step.what, step.total) == (what, total) => {
            step.done = done;
            step
        }
        _ => current.insert(Step { what, begun: now, before: done, done, total, written }),
    };
    if lines && now - step.written >= PAUSE {
        step.written = now;
        say(&step.text(now - step.begun));
    }
}

/// Writes the current step.
pub(super) fn say_now() {
    let step = *CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    match step {
        Some(step) => say(&step.text(step.begun.elapsed())),
        None => say("working"),
    }
}

fn say(text: &str) {
    // Errors are ignored, because the reader of standard error may be gone.
    let _ = writeln!(std::io::stderr(), "{text}");
}

impl Step {
    fn text(&self, elapsed: Duration) -> String {
        let Self { what, done, total, before, .. } = *self;
        let (now, seconds) = (grouped(done), elapsed.as_secs_f64());
        let per_second = (done - before.min(done)) as f64 / seconds.max(0.001);
        let of = if total > 0 { format!(" of {}", grouped(total)) } else { String::new() };
        let Some(rate) = rate(per_second) else { return format!("{now}{of} {what}") };
        let left = match total {
            0 => String::new(),
            _ => format!(", {} left", duration(total.saturating_sub(done) as f64 / per_second)),
        };
        format!("{now}{of} {what} ({rate}){left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_rate_and_time_left() {
        let now = Instant::now();
        let step =
            Step { what: "documents decided", begun: now, before: 500, done: 1500, total: 101_500, written: now };
        let text = "1,500 of 101,500 documents decided (100/s), 16 min 40 s left";
        assert_eq!(step.text(Duration::from_secs(10)), text);
        assert_eq!(Step { total: 0, ..step }.text(Duration::from_secs(10)), "1,500 documents decided (100/s)");
        let slow = Step { done: 505, total: 510, ..step };
        assert_eq!(slow.text(Duration::from_secs(60)), "505 of 510 documents decided (5.0/min), 1 min 0 s left");
        assert_eq!(Step { done: 500, ..slow }.text(Duration::from_secs(60)), "500 of 510 documents decided");
    }
}
