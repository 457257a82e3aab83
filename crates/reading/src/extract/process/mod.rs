//! Process: reads documents in formats with foreign parsers (PDF, DOCX, ODT, EPUB, mail) in separate
//! processes. The system limits their memory and time. If a document exceeds the limits, or crashes or hangs
//! its reader, only this document fails. The process of this document ends, and the next document gets a new
//! process.

mod client;
mod handle;
mod serve;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use client::{attachments, read};
pub use handle::ReaderProcess;
pub use serve::serve_documents;
#[cfg(any(test, fuzzing))]
pub(crate) use wire::check_answer;
