//! Aborted: what the program says when it is ended because the system refuses it memory.
//!
//! The allocator of Rust ends the process then, and so does RocksDB. Both say little, and nothing about the
//! database.

use std::io;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level;

const MESSAGE: &[u8] = b"error: the program has aborted; most likely the system refused it memory
hint: each database is as after its last commit; to run the command again, give it more memory, or less work at once (--memory, --threads)
";

/// Has the process abort when C++ code is refused memory, and print [`MESSAGE`] whenever it aborts.
pub(crate) fn install() -> io::Result<()> {
    fpdb::abort_on_refused_memory();
    // SAFETY: the handler makes one system call. It takes no lock and no memory.
    unsafe { low_level::register(SIGABRT, say) }.map(drop)
}

fn say() {
    // Nobody may be there to read it. The system ends the process after this handler.
    let _ = rustix::io::write(io::stderr(), MESSAGE);
}
