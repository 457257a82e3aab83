//! Properties of every decoder of the store, for any bytes: see `crates/kernel/src/fuzzing`.

#[path = "../../../kernel/src/fuzzing/draw.rs"]
mod draw;
#[cfg(test)]
#[path = "../../../../tests/corpus.rs"]
mod replay;

pub(crate) use draw::Draw;

use crate::properties as store;

/// A property of any bytes.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets and of their folders in `tests/corpus/`.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("document_set", store::document_set),
    ("filter", store::filter),
    ("keys", store::keys),
    ("positions", store::positions),
    ("posting_block", store::posting_block),
    ("records", store::records),
    ("stored_text", store::stored_text),
];
