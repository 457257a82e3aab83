//! Read: reads the bytes of one document, from its file, its container, its place in the database or the
//! caller's memory.

pub(crate) mod held;
pub(crate) mod metadata;
pub(crate) mod reader;
pub(crate) mod single_document;
pub(crate) mod stored;
pub(crate) mod supplied;
