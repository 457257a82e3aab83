//! Reading a run from end to end, posting by posting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rocksdb::DBRawIterator;

use super::Store;
use super::block::Posting;
use super::lookup::{blocks_of, current_block};
use crate::error::Result;

/// A place in one run, which need not be committed yet.
pub(super) struct RunReader<'a> {
    blocks: DBRawIterator<'a>,
    /// What is left of the current block.
    block: std::vec::IntoIter<Posting>,
}

impl<'a> RunReader<'a> {
    /// Stands before the first posting of `run`.
    pub(super) fn new(store: &'a Store, run: u32) -> Result<Self> {
        let mut blocks = blocks_of(store, run)?;
        blocks.seek_to_first();
        Ok(Self { blocks, block: Vec::new().into_iter() })
    }

    /// The next posting, in ascending order; `None` at the run's end.
    pub(super) fn next(&mut self) -> Result<Option<Posting>> {
        loop {
            if let Some(posting) = self.block.next() {
                return Ok(Some(posting));
            }
            let Some((_, block)) = current_block(&self.blocks)? else { return Ok(None) };
            self.block = block.postings().collect::<Vec<_>>().into_iter();
            self.blocks.next();
        }
    }
}

/// Calls `visit` with the postings of all readers in one ascending order.
pub(super) fn merge(readers: &mut [RunReader<'_>], mut visit: impl FnMut(Posting) -> Result<()>) -> Result<()> {
    let mut heads = BinaryHeap::new();
    for (index, reader) in readers.iter_mut().enumerate() {
        heads.extend(reader.next()?.map(|posting| Reverse((posting, index))));
    }
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((posting, index)) = *head;
        visit(posting)?;
        match readers[index].next()? {
            Some(next) => *head = Reverse((next, index)),
            None => {
                PeekMut::pop(head);
            }
        }
    }
    Ok(())
}
