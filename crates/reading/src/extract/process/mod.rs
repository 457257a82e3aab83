//! Process: reads documents in formats with foreign parsers (PDF, DOCX, ODT, EPUB, mail) in separate
//! processes. The system limits their memory and time. A document may exceed the limits, or crash or hang its
//! reader. Then only this document fails, the process ends, and the next document gets a new one.

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
