//! Bit columns and bit vectors.
//!
//! A column is a sequence of values of equal width, packed without gaps, least significant bit first. A bit
//! vector is a sequence of single bits. Its n-th set or clear bit can be found.

/// The number of bits that values up to `greatest` need.
pub(crate) fn width_of(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}

/// The number of bytes that a column of `count` values of `width` bits takes.
pub(crate) fn column_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends a column to `out`. Every value must fit in `width` bits.
pub(crate) fn write_column(values: impl ExactSizeIterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    out.reserve(column_bytes(values.len(), width));
    let mut pending: u64 = 0;
    let mut bits = 0;
    for value in values {
        debug_assert!(width_of(value) <= width, "value {value} in {width} bits");
        pending |= value << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend_from_slice(&pending.to_le_bytes());
            bits -= u64::BITS;
            // The upper bits of the value had no room in the word just written.
            pending = value.checked_shr(width - bits).unwrap_or(0);
        }
    }
    out.extend_from_slice(&pending.to_le_bytes()[..bits.div_ceil(8) as usize]);
}

/// A column, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    bytes: &'a [u8],
    width: u32,
}

impl<'a> Column<'a> {
    /// Removes a column of `count` values from the front of `bytes`. `None` if `bytes` is too short.
    pub(crate) fn take(bytes: &mut &'a [u8], count: usize, width: u32) -> Option<Self> {
        let (column, rest) = bytes.split_at_checked(column_bytes(count, width))?;
        *bytes = rest;
        Some(Self { bytes: column, width })
    }

    /// The value at `index`, which must be less than the number of values.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        if self.width == 0 {
            return 0;
        }
        let bit = index * self.width as usize;
        let (byte, shift) = (bit / 8, bit % 8);
        let mask = u64::MAX >> (u64::BITS - self.width);
        if let Some(word) = self.bytes.get(byte..byte + 8)
            && let Ok(word) = word.try_into()
            && shift + self.width as usize <= 64
        {
            return (u64::from_le_bytes(word) >> shift) & mask;
        }
        // Reads the last few values, and values that span nine bytes.
        let end = (bit + self.width as usize).div_ceil(8);
        let word = self.bytes[byte..end].iter().rev().fold(0u128, |word, &byte| word << 8 | u128::from(byte));
        (word >> shift) as u64 & mask
    }
}

/// Appends a vector of `count` bits to `out`. The bits at the places `set` are set, the others clear.
pub(crate) fn write_bits(set: impl IntoIterator<Item = usize>, count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + count.div_ceil(8), 0);
    for bit in set {
        debug_assert!(bit < count, "bit {bit} of {count}");
        out[start + bit / 8] |= 1 << (bit % 8);
    }
}

/// A bit vector, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitVector<'a> {
    /// The unused bits of the last byte are clear. So counting and selecting need not know the number of
    /// bits.
    bytes: &'a [u8],
}

impl<'a> BitVector<'a> {
    /// Removes a vector of `count` bits from the front of `bytes`. `None` if `bytes` is too short or an
    /// unused bit of the last byte is set.
    pub(crate) fn take(bytes: &mut &'a [u8], count: usize) -> Option<Self> {
        let (vector, rest) = bytes.split_at_checked(count.div_ceil(8))?;
        let used = count % 8;
        if used != 0 && vector.last()? >> used != 0 {
            return None;
        }
        *bytes = rest;
        Some(Self { bytes: vector })
    }

    /// The number of set bits.
    pub(crate) fn count_ones(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// True if this bit is set. False past the end.
    pub(crate) fn get(&self, bit: usize) -> bool {
        self.bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// The place of the n-th set bit, counted from 0. `None` if there are fewer.
    pub(crate) fn select_one(&self, n: usize) -> Option<usize> {
        select(self.words(), n)
    }

    /// The place of the n-th clear bit, counted from 0. All bits past the end count as clear.
    pub(crate) fn select_zero(&self, n: usize) -> Option<usize> {
        select(self.words().map(|word| !word).chain(std::iter::repeat(u64::MAX)), n)
    }

    /// The places of the set bits, ascending.
    pub(crate) fn ones(self) -> impl Iterator<Item = usize> + 'a {
        self.words().enumerate().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| index * 64 + word.trailing_zeros() as usize);
                word &= word.wrapping_sub(1);
                bit
            })
        })
    }

    fn words(self) -> impl Iterator<Item = u64> + 'a {
        let (whole, rest) = self.bytes.as_chunks::<8>();
        let last = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        whole.iter().map(|&word| u64::from_le_bytes(word)).chain((!rest.is_empty()).then_some(last))
    }
}

fn select(words: impl Iterator<Item = u64>, mut n: usize) -> Option<usize> {
    for (index, mut word) in words.enumerate() {
        let ones = word.count_ones() as usize;
        if n < ones {
            for _ in 0..n {
                word &= word - 1;
            }
            return Some(index * 64 + word.trailing_zeros() as usize);
        }
        n -= ones;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back() {
        for width in 0..=64u32 {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            for count in [0usize, 1, 2, 7, 8, 9, 100] {
                let values: Vec<u64> =
                    (0..count as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7) & mask).collect();
                let mut bytes = Vec::new();
                write_column(values.iter().copied(), width, &mut bytes);
                assert_eq!(bytes.len(), column_bytes(count, width));
                let mut rest = &bytes[..];
                let column = Column::take(&mut rest, count, width).unwrap();
                assert!(rest.is_empty());
                let read: Vec<u64> = (0..count).map(|i| column.get(i)).collect();
                assert_eq!(read, values, "width {width}");
                if !bytes.is_empty() {
                    assert!(Column::take(&mut &bytes[1..], count, width).is_none());
                }
            }
        }
    }

    #[test]
    fn bits_are_found_by_number() {
        for count in [0usize, 1, 7, 8, 63, 64, 65, 200] {
            for step in [1, 2, 3, 70] {
                let set: Vec<usize> = (0..count).step_by(step).collect();
                let clear: Vec<usize> = (0..count).filter(|bit| !set.contains(bit)).collect();
                let mut bytes = Vec::new();
                write_bits(set.iter().copied(), count, &mut bytes);
                let mut rest = &bytes[..];
                let vector = BitVector::take(&mut rest, count).unwrap();
                assert!(rest.is_empty());
                assert_eq!(vector.count_ones(), set.len());
                assert_eq!(vector.ones().collect::<Vec<_>>(), set);
                assert!((0..count + 9).all(|bit| vector.get(bit) == set.contains(&bit)));
                for (n, &bit) in set.iter().enumerate() {
                    assert_eq!(vector.select_one(n), Some(bit));
                }
                assert_eq!(vector.select_one(set.len()), None);
                for (n, &bit) in clear.iter().enumerate() {
                    assert_eq!(vector.select_zero(n), Some(bit));
                }
                assert_eq!(vector.select_zero(clear.len()), Some(count));
                for spare in count..count.next_multiple_of(8) {
                    let mut marked = bytes.clone();
                    marked[spare / 8] |= 1 << (spare % 8);
                    assert!(BitVector::take(&mut &marked[..], count).is_none(), "spare bit {spare} of {count}");
                }
            }
        }
    }
}
