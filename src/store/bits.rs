//! Bit columns: n values of the same width, packed without gaps, least significant bit first.

/// The bits needed for values up to `greatest`.
pub(super) fn width_of(greatest: u64) -> u32 {
    u64::BITS - greatest.leading_zeros()
}

/// The bytes a column of `count` values of `width` bits takes.
pub(super) fn column_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends a column to `out`. Every value must fit in `width` bits.
pub(super) fn write_column(values: impl IntoIterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let mut pending: u128 = 0;
    let mut bits = 0;
    for value in values {
        debug_assert!(width_of(value) <= width, "value {value} in {width} bits");
        pending |= u128::from(value) << bits;
        bits += width;
        while bits >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        out.push(pending as u8);
    }
}

/// Reads a column in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    bytes: &'a [u8],
    width: u32,
}

impl<'a> Column<'a> {
    /// Takes a column of `count` values off the front of `bytes`; `None` where they end too early.
    pub(super) fn take(bytes: &mut &'a [u8], count: usize, width: u32) -> Option<Self> {
        let (column, rest) = bytes.split_at_checked(column_bytes(count, width))?;
        *bytes = rest;
        Some(Self { bytes: column, width })
    }

    /// The bits set in a column of width 1.
    pub(super) fn ones(&self) -> usize {
        self.bytes.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// The value at `index`, which must be below the count.
    pub(super) fn get(&self, index: usize) -> u64 {
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
        // The last few values, and those that span nine bytes.
        let end = (bit + self.width as usize).div_ceil(8);
        let word = self.bytes[byte..end].iter().rev().fold(0u128, |word, &byte| word << 8 | u128::from(byte));
        (word >> shift) as u64 & mask
    }
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
}
