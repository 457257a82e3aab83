//! Spill: data of long jobs that does not fit in memory goes to nameless temporary files.

mod sort;
mod space;

pub use sort::{Sorted, Sorter};
pub use space::{TempSpace, read_at, read_into, write_at};
