//! Properties of every decoder of the store, for any bytes. `crates/kernel/src/fuzzing` explains them.

#[path = "../../../kernel/src/fuzzing/draw.rs"]
mod draw;
#[cfg(test)]
#[path = "../../../../tests/corpus.rs"]
mod replay;

pub(crate) use draw::Draw;

use crate::properties as store;

/// A check that must hold for any bytes.
pub type Property = fn(&[u8]);

/// All properties. Each has the name of its fuzz target and of its folder in `tests/corpus/`.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("document_set", store::document_set),
    ("filter", store::filter),
    ("keys", store::keys),
    ("positions", store::positions),
    ("posting_block", store::posting_block),
    ("records", store::records),
    ("stored_text", store::stored_text),
];
