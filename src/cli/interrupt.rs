//! Ctrl-C: the first one stops an ingest at its next commit; any other command, and the second one, stops at once.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// True while a command runs that stops by itself when [`STOP`] is set.
static GRACEFUL: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C and for requests to terminate.
pub(crate) fn install() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        let again = STOP.swap(true, Ordering::SeqCst);
        let at_once = again || !GRACEFUL.load(Ordering::SeqCst);
        let said = match at_once {
            true => "interrupted",
            false => "stopping at the next commit; press Ctrl-C again to stop at once (what is committed stays)",
        };
        // Whoever reads it may have gone.
        let _ = writeln!(io::stderr(), "{said}");
        if at_once {
            fpdb::remove_temporary_files();
            std::process::exit(130);
        }
    })
}

/// From now on the first Ctrl-C only sets the flag that is returned.
pub(crate) fn graceful() -> &'static AtomicBool {
    GRACEFUL.store(true, Ordering::SeqCst);
    &STOP
}
