//! Text: what an extractor makes of a document. It is a text in UTF-8 and the origin of each part of it.

pub(crate) mod builder;
pub(crate) mod charset;
pub(crate) mod extracted;
pub(crate) mod map;
pub(crate) mod source;
