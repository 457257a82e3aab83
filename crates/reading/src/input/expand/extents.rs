//! Extents: the places of members in a file.

use std::ops::Range;

use crate::recognise::Container;

/// Receives the places of members in the outermost container of a file.
pub trait Extents {
    /// The container has this kind and lies below `depth` layers of compression.
    fn container(&mut self, container: Container, depth: u32);
    /// The container has one more entry: a document, a container or anything else except a folder.
    fn entry(&mut self);
    /// The member with this suffix lies at `at`, in the unit of `Members::extent`. The documents of the
    /// member were visited before this call.
    fn member(&mut self, suffix: &str, at: Range<u64>);
    /// Another member needs the member with this suffix.
    fn needed(&mut self, suffix: &str);
}
