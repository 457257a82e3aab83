//! Reader process: this program, started once more to read documents.

use std::path::Path;

use fpdb::ReaderProcess;

/// The argument after the program's name that makes it read documents for another process of this program.
pub(crate) const READ_DOCUMENTS: &str = "read-documents";

/// A handle that starts this program as a reader of documents.
pub(crate) fn reader_process() -> ReaderProcess {
    // This link leads to the running program, even if another version has replaced the program's file in the
    // meantime.
    let link = Path::new("/proc/self/exe");
    let program =
        if link.exists() { link.to_owned() } else { std::env::current_exe().unwrap_or_else(|_| "fpdb".into()) };
    ReaderProcess::new(program, [READ_DOCUMENTS])
}
