//! Ctrl-C: the first Ctrl-C stops long work at a safe point; an ingest stops at its next commit. Other
//! commands end at once. A second Ctrl-C ends any command at once.
//!
//! A signal that is ignored at the start stays ignored. `nohup` relies on this when a terminal closes, as
//! shells do for commands in the background.

use std::io::{self, Write};
use std::sync::{LazyLock, Mutex, PoisonError};

use fpdb::{Error, StopToken};

use crate::printer::Printer;

/// The token that the first Ctrl-C stops.
static STOP: LazyLock<StopToken> = LazyLock::new(StopToken::new);

/// The message to print at the first Ctrl-C, while work runs that [`STOP`] can stop. `None`: Ctrl-C ends the
/// program.
static GRACEFUL: Mutex<Option<&str>> = Mutex::new(None);

/// The message of commands that stop at the next commit.
pub(crate) const AT_COMMIT: &str =
    "stopping at the next commit; press Ctrl-C again to stop at once (what is committed stays)";

/// The note on a stopped command that continues its work when it is run again.
pub(crate) const GOES_ON: &str = "stopped; the same command goes on from here";

/// Listens for SIGINT (Ctrl-C), SIGTERM, SIGHUP and SIGUSR1, unless this process ignores them. SIGUSR1 asks
/// for the progress. SIGXFSZ reports that a file would exceed `ulimit -f`. The program catches it, so that
/// the signal does not end the program: the write fails instead, and its error names the file.
pub(crate) fn install() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
    let ignored = ignored();
    let heard =
        [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGUSR1 => super::step_report::say_now(),
                SIGXFSZ => {}
                _ => stop(),
            }
        }
    })?;
    Ok(())
}

/// The signals that this process ignores, signal 1 in the lowest bit. 0 if the system has no file with this
/// information.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn stop() {
    // No lock is needed, because only one thread listens for signals.
    let again = STOP.is_stopped();
    STOP.stop();
    let graceful = GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner).filter(|_| !again);
    let at_once = graceful.is_none();
    let said = graceful.unwrap_or("interrupted");
    // Errors are ignored, because the reader of standard error may be gone.
    let _ = writeln!(io::stderr(), "{said}");
    if at_once {
        fpdb_host::temporary::remove_temporary_files();
        // Exit handlers must not run: they would free memory that threads of the engine still use.
        signal_hook::low_level::exit(130);
    }
}

/// From now on the first Ctrl-C prints this message and stops the returned token.
pub(crate) fn graceful(says: &'static str) -> &'static StopToken {
    *GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner) = Some(says);
    &STOP
}

/// True if Ctrl-C stopped the work.
pub(crate) fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::Stopped))
}

/// Passes on a result. Prints a note if Ctrl-C stopped the work.
pub(crate) fn noted<T, E: Into<anyhow::Error>>(
    outcome: Result<T, E>,
    note: &str,
    printer: &Printer,
) -> anyhow::Result<T> {
    let outcome = outcome.map_err(Into::into);
    if outcome.as_ref().is_err_and(is_stopped) {
        printer.note(note);
    }
    outcome
}

/// From now on the first Ctrl-C ends the program at once.
pub(crate) fn at_once() {
    *GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}
