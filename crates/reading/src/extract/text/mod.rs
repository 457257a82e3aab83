//! Text: the result of an extractor. It is a text in UTF-8 and the origin of each part of it.

pub(crate) mod builder;
pub(crate) mod charset;
pub(crate) mod extracted;
pub(crate) mod map;
pub(crate) mod source;
