//! Extents: where the members of a file lie in it.

use std::ops::Range;

use crate::recognise::Container;

/// Learns where the members of the outermost container of a file lie.
pub trait Extents {
    /// The container is of this kind, below so many layers of compression.
    fn container(&mut self, container: Container, depth: u32);
    /// The member whose name ends like this lies here, in the words of `Members::extent`. Its documents were visited before.
    fn member(&mut self, suffix: &str, at: Range<u64>);
    /// Another member needs the one whose name ends like this.
    fn needed(&mut self, suffix: &str);
}
