//! Ctrl-C: the first one stops an ingest at its next commit, and a dedup where it is safe; any other command, and the second one,
//! stops at once.
//!
//! A signal that is ignored when the program starts stays ignored: that is how `nohup` keeps a command alive when its
//! terminal goes, and how a shell keeps Ctrl-C from what a script runs in the background.

use std::io::{self, Write};
use std::sync::{LazyLock, Mutex, PoisonError};

use fpdb::StopToken;

/// Stopped by the first Ctrl-C.
static STOP: LazyLock<StopToken> = LazyLock::new(StopToken::new);

/// The message at the first Ctrl-C, while a command runs that stops by itself when [`STOP`] is stopped.
static GRACEFUL: Mutex<Option<&str>> = Mutex::new(None);

/// The message of commands that stop at the next commit.
pub(crate) const AT_COMMIT: &str =
    "stopping at the next commit; press Ctrl-C again to stop at once (what is committed stays)";

/// Listens for Ctrl-C, for requests to terminate, for the end of the terminal, and for SIGUSR1, which asks how far the
/// command has come; each unless it is ignored.
#[cfg(unix)]
pub(crate) fn install() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    let ignored = ignored();
    let heard = [SIGINT, SIGTERM, SIGHUP, SIGUSR1].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGUSR1 => super::step_report::say_now(),
                _ => stop(),
            }
        }
    })?;
    Ok(())
}

/// Without signals there is only the system's way to end a program.
#[cfg(not(unix))]
pub(crate) fn install() -> io::Result<()> {
    Ok(())
}

/// The signals that this process ignores, from the lowest bit up. None where the system does not tell in a file.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(unix)]
fn stop() {
    // One thread listens.
    let again = STOP.is_stopped();
    STOP.stop();
    let graceful = GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner).filter(|_| !again);
    let at_once = graceful.is_none();
    let said = graceful.unwrap_or("interrupted");
    // The reader of standard error may be gone.
    let _ = writeln!(io::stderr(), "{said}");
    if at_once {
        fpdb_host::temporary::remove_temporary_files();
        // Not as at the end of `main`: what the engine keeps for the whole process would go under its threads.
        signal_hook::low_level::exit(130);
    }
}

/// From now on the first Ctrl-C only stops the token that is returned, and says this.
pub(crate) fn graceful(says: &'static str) -> &'static StopToken {
    *GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner) = Some(says);
    &STOP
}

/// From now on the first Ctrl-C stops the program at once again.
pub(crate) fn at_once() {
    *GRACEFUL.lock().unwrap_or_else(PoisonError::into_inner) = None;
}
