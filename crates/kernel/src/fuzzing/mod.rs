//! Properties of the kernel, for any bytes: one property for each reader of bytes, a function that panics where it does not hold.
//!
//! The targets in `fuzz/` look for such bytes, and the tests give each property those in `tests/corpus/`: samples, and all that
//! was ever found. No part of the library: it is there for tests and for fuzzing alone.

mod draw;
mod kernel;
#[cfg(test)]
#[path = "../../../../tests/corpus.rs"]
mod replay;

pub(crate) use draw::Draw;

use crate::normalize::properties as normalize;
use crate::winnow::properties as winnow;

/// A property of any bytes.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets and of their folders in `tests/corpus/`.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("code", normalize::code),
    ("kernel", kernel::kernel),
    ("normalize", normalize::normalize),
    ("winnow", winnow::winnow),
];
