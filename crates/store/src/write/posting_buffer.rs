//! Posting buffer: the postings of a batch, in anonymous memory of its own.
//!
//! The buffer reserves the address space for a whole batch at once. The system provides memory only as the
//! batch fills. So growing copies nothing, and no old copy exists beside the new one. Dropping the buffer
//! returns all memory to the system.

use memmap2::{MmapMut, MmapOptions};

use crate::codec::block::Posting;
use fpdb_host::error::{Error, Result};

/// A list of postings with a fixed capacity.
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

    /// Appends postings. The caller must release the buffer before it is full.
    ///
    /// # Errors
    /// [`Error::System`] if the postings exceed the capacity, or the system provides no memory.
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

    /// The bytes of the postings in the buffer.
    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<Posting>()
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Posting] {
        match &mut self.map {
            Some(map) => &mut bytemuck::cast_slice_mut(map)[..self.len],
            None => &mut [],
        }
    }

    pub(crate) fn as_slice(&self) -> &[Posting] {
        match &self.map {
            Some(map) => &bytemuck::cast_slice(map)[..self.len],
            None => &[],
        }
    }

    /// Moves the postings out. The buffer is then empty.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.capacity))
    }
}
