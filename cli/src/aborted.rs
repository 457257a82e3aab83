//! Aborted: prints a message when the program ends because the system refuses memory.
//!
//! In this case both Rust's allocator and RocksDB end the process. Their messages are short and do not
//! mention the database.

use std::io;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level;

const MESSAGE: &[u8] = b"error: the program has aborted; most likely the system refused it memory
hint: each database is as after its last commit; to run the command again, give it more memory, or less work at once (--memory, --threads)
";

/// Makes the process abort when the system refuses memory to C++ code, and print [`MESSAGE`] whenever it
/// aborts.
pub(crate) fn install() -> io::Result<()> {
    fpdb::abort_on_refused_memory();
    // SAFETY: the handler makes one system call. It takes no lock and allocates no memory.
    unsafe { low_level::register(SIGABRT, say) }.map(drop)
}

fn say() {
    // Errors are ignored, because standard error may be closed. The system ends the process after this
    // handler.
    let _ = rustix::io::write(io::stderr(), MESSAGE);
}
