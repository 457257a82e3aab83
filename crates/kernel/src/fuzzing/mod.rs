//! Properties of the kernel that must hold for any bytes. Each reader of bytes has one property: a function
//! that panics if the property does not hold.
//!
//! The fuzz targets in `fuzz/` search for bytes that break a property. The tests run each property on
//! `tests/corpus/`, which holds samples and all earlier findings. Only tests and fuzzing compile this module.

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

/// All properties. The names are those of their fuzz targets and of their folders in `tests/corpus/`.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("code", normalize::code),
    ("kernel", kernel::kernel),
    ("normalize", normalize::normalize),
    ("winnow", winnow::winnow),
];
