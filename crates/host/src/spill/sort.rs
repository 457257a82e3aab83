//! External sort: sorts more records than fit in memory.
//!
//! Records are collected in a buffer of fixed size. A full buffer is sorted and appended to a temporary file
//! as one *run*. The runs are merged when the records are read back. If all records fit in the buffer,
//! nothing is written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;

use bytemuck::Pod;
use rayon::prelude::*;

use super::space::{TempSpace, read_at, write_at};
use crate::error::Result;

/// Minimum number of records read from a run at a time.
const LEAST_READ: usize = 1024;

/// Collects records to be sorted.
pub struct Sorter<'a, T> {
    temp: &'a TempSpace,
    buffer: Vec<T>,
    /// Maximum number of records in the buffer.
    capacity: usize,
    /// True if the thread that fills the buffer sorts it alone.
    alone: bool,
    spilled: Option<Spilled>,
}

/// The runs on disk: one file, and the number of records in each run, in order.
struct Spilled {
    file: File,
    runs: Vec<u64>,
    records: u64,
}

impl<'a, T: Pod + Ord + Send> Sorter<'a, T> {
    /// A sorter that uses about `memory` bytes.
    pub fn new(temp: &'a TempSpace, memory: u64) -> Self {
        let capacity = (memory / size_of::<T>() as u64).max(LEAST_READ as u64);
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        Self { temp, buffer: Vec::new(), capacity, alone: false, spilled: None }
    }

    /// A sorter behind a lock that threads of the pool share. The thread that fills the buffer sorts it
    /// alone. If that thread waited for other threads to sort, the pool could give it work that waits for the
    /// same lock.
    pub fn shared(temp: &'a TempSpace, memory: u64) -> Self {
        Self { alone: true, ..Self::new(temp, memory) }
    }

    /// Adds a record.
    pub fn push(&mut self, record: T) -> Result<()> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        if self.buffer.len() == self.buffer.capacity() {
            // Doubles the buffer, up to its capacity.
            let more = self.buffer.len().max(LEAST_READ).min(self.capacity - self.buffer.len());
            self.buffer.reserve_exact(more);
        }
        self.buffer.push(record);
        Ok(())
    }

    /// Number of records added.
    pub fn count(&self) -> u64 {
        self.spilled.as_ref().map_or(0, |spilled| spilled.records) + self.buffer.len() as u64
    }

    fn spill(&mut self) -> Result<()> {
        if self.alone {
            self.buffer.sort_unstable();
        } else {
            self.buffer.par_sort_unstable();
        }
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: self.temp.file()?, runs: Vec::new(), records: 0 }),
        };
        write_at(&spilled.file, &self.buffer, spilled.records, self.temp)?;
        spilled.runs.push(self.buffer.len() as u64);
        spilled.records += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Returns all records, ascending.
    pub fn sorted(mut self) -> Result<Sorted<'a, T>> {
        if self.spilled.is_some() && !self.buffer.is_empty() {
            self.spill()?;
        }
        let Some(Spilled { file, runs, .. }) = self.spilled else {
            self.buffer.par_sort_unstable();
            return Ok(Sorted::InMemory(self.buffer.into_iter()));
        };
        drop(self.buffer);
        let most = (self.capacity / runs.len()).max(LEAST_READ);
        let mut merge = Merge { temp: self.temp, file, runs: Vec::with_capacity(runs.len()), heads: BinaryHeap::new() };
        let mut start = 0;
        for records in runs {
            merge.runs.push(SortedRun { next: start, end: start + records, most, read: Vec::new().into_iter() });
            start += records;
        }
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(Sorted::Merged(merge))
    }
}

/// Records in ascending order.
pub enum Sorted<'a, T> {
    /// All records are in memory.
    InMemory(std::vec::IntoIter<T>),
    /// The records are in runs on disk.
    Merged(Merge<'a, T>),
}

impl<T: Pod + Ord> Iterator for Sorted<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match self {
            Self::InMemory(records) => records.next().map(Ok),
            Self::Merged(merge) => {
                let Reverse((record, run)) = merge.heads.pop()?;
                Some(merge.advance(run).map(|()| record))
            }
        }
    }
}

/// A merge of runs.
pub struct Merge<'a, T> {
    temp: &'a TempSpace,
    file: File,
    runs: Vec<SortedRun<T>>,
    /// For each run, its smallest record that is not yet returned, with the index of the run.
    heads: BinaryHeap<Reverse<(T, usize)>>,
}

/// The rest of a run: records already read, and records `next..end` in the file.
struct SortedRun<T> {
    next: u64,
    end: u64,
    most: usize,
    read: std::vec::IntoIter<T>,
}

impl<T: Pod + Ord> Merge<'_, T> {
    /// Moves the next record of a run into the heads.
    fn advance(&mut self, number: usize) -> Result<()> {
        let run = &mut self.runs[number];
        if run.read.len() == 0 {
            let count = (run.end - run.next).min(run.most as u64);
            // Frees the previous records before it allocates for the next.
            run.read = Vec::new().into_iter();
            run.read = read_at(&self.file, run.next, count as usize, self.temp)?.into_iter();
            run.next += count;
        }
        self.heads.extend(run.read.next().map(|record| Reverse((record, number))));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_number_of_runs_is_sorted(
            mut numbers in prop::collection::vec(any::<u64>(), 0..9000),
            memory in 0u64..60_000,
            alone in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let temp = TempSpace::new(folder.path()).unwrap();
            let mut sorter = if alone { Sorter::shared(&temp, memory) } else { Sorter::new(&temp, memory) };
            for &number in &numbers {
                sorter.push(number).unwrap();
            }
            let sorted: Vec<u64> = sorter.sorted().unwrap().map(Result::unwrap).collect();
            numbers.sort_unstable();
            prop_assert_eq!(sorted, numbers);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "spilled records have no name");
        }
    }
}
