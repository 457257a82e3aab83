//! Posting buffer: the postings of a batch, in anonymous memory of its own.
//!
//! The room for a whole batch is reserved at once and touched as it fills, so that growing copies nothing
//! and never holds one and a half times what is asked for; released, it goes back to the system whole.

use memmap2::{MmapMut, MmapOptions};

use crate::codec::block::Posting;
use fpdb_host::error::{Error, Result};

/// A list of postings with a fixed most.
#[derive(Debug)]
pub(crate) struct PostingBuffer {
    capacity: usize,
    map: Option<MmapMut>,
    len: usize,
}

impl PostingBuffer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), map: None, len: 0 }
    }

    /// Appends postings. The caller empties the buffer in time: one too many is an error.
    pub(crate) fn extend(&mut self, postings: impl ExactSizeIterator<Item = Posting>) -> Result<()> {
        let map = match &mut self.map {
            Some(map) => map,
            None => {
                let bytes = self.capacity.saturating_mul(size_of::<Posting>());
                let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon();
                let map = map.map_err(Error::system("reserve memory for a batch of postings"))?;
                self.map.insert(map)
            }
        };
        let room = bytemuck::cast_slice_mut::<u8, Posting>(map).get_mut(self.len..self.len + postings.len());
        let full = || Error::system("add a posting to a batch that is full")(std::io::ErrorKind::OutOfMemory.into());
        let room = room.ok_or_else(full)?;
        self.len += room.len();
        room.iter_mut().zip(postings).for_each(|(slot, posting)| *slot = posting);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The bytes that are used.
    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<Posting>()
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Posting] {
        match &mut self.map {
            Some(map) => &mut bytemuck::cast_slice_mut(map)[..self.len],
            None => &mut [],
        }
    }

    /// Empties the buffer and gives its memory back.
    pub(crate) fn release(&mut self) {
        self.map = None;
        self.len = 0;
    }
}
