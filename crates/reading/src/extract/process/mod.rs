//! Process: reads documents in formats of foreign parsers (PDF, DOCX, ODT, EPUB, mail) in processes of their own, whose
//! memory and time the system limits. A document that exceeds the limits, or that makes its reader crash or hang, fails by
//! name; the process ends, and the next document gets a new one.

#[cfg(unix)]
mod client;
mod handle;
#[cfg(unix)]
mod serve;
#[cfg(all(test, unix))]
mod tests;
mod wire;

#[cfg(unix)]
pub(crate) use client::read;
pub use handle::ReaderProcess;
#[cfg(unix)]
pub use serve::serve_documents;
#[cfg(any(test, fuzzing))]
pub(crate) use wire::check_answer;
