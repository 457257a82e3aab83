//! Draw: takes numbers, sizes and choices from the front of a fuzz input. After the end of the input, every
//! draw is 0, so every input is valid.

#![allow(dead_code, reason = "the store takes this file in too, and each of the two uses a part of it")]

/// The part of an input that is not drawn yet.
pub(crate) struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The remaining bytes.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// Draws a number from 1 to 256, from one byte.
    pub(crate) fn size(&mut self) -> usize {
        1 + usize::from(self.byte())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let (taken, rest) = self.0.split_at(N.min(self.0.len()));
        array[..taken.len()].copy_from_slice(taken);
        self.0 = rest;
        array
    }
}
