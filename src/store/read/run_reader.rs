//! Reading a run from end to end, or a range of its hashes, posting by posting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::RangeInclusive;

use crate::error::Result;
use crate::store::Store;
use crate::store::codec::block::Posting;
use crate::store::codec::format::posting_key;
use crate::store::engine::rows::Rows;
use crate::store::read::lookup::{Reading, blocks_of, current_block};

/// Postings in ascending order.
pub(in crate::store) trait Postings {
    /// The next posting; `None` at the end.
    fn next(&mut self) -> Result<Option<Posting>>;
}

/// A place in one run, which need not be committed yet.
pub(in crate::store) struct RunReader<'a> {
    blocks: Rows<'a>,
    hashes: RangeInclusive<u64>,
    /// What is left of the current block, last first.
    block: Vec<Posting>,
}

impl<'a> RunReader<'a> {
    /// Stands before the first posting of `run`.
    pub(in crate::store) fn new(store: &'a Store, run: u32) -> Result<Self> {
        Self::of_hashes(store, run, 0..=u64::MAX)
    }

    /// Stands before the first posting of `run` whose hash is in `hashes`, and ends after the last one.
    pub(in crate::store) fn of_hashes(store: &'a Store, run: u32, hashes: RangeInclusive<u64>) -> Result<Self> {
        let mut blocks = blocks_of(store, run, Reading::Through)?;
        blocks.seek(posting_key(run, *hashes.start(), 0));
        Ok(Self { blocks, hashes, block: Vec::new() })
    }
}

impl Postings for RunReader<'_> {
    fn next(&mut self) -> Result<Option<Posting>> {
        loop {
            match self.block.pop() {
                Some(posting) if posting.hash < *self.hashes.start() => {}
                Some(posting) if posting.hash > *self.hashes.end() => return Ok(None),
                Some(posting) => return Ok(Some(posting)),
                None => {
                    let Some((_, block)) = current_block(&self.blocks)? else { return Ok(None) };
                    self.block.extend(block.postings());
                    self.block.reverse();
                    self.blocks.next();
                }
            }
        }
    }
}

/// Calls `visit` with the postings of all readers in one ascending order.
pub(in crate::store) fn merge<P: Postings>(
    readers: &mut [P],
    mut visit: impl FnMut(Posting) -> Result<()>,
) -> Result<()> {
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
