//! Parquet deltas: numbers that are stored as differences.

use super::parquet_memory::varint;

/// Decodes numbers that are stored as differences (`DELTA_BINARY_PACKED`): blocks, each divided into parts
/// with their own number of bits. Moves `bytes` to the end of the numbers. Returns `None` if they cannot be
/// decoded or one of them is negative.
pub(super) fn deltas(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let [block, parts, count] = [varint(bytes)?, varint(bytes)?, varint(bytes)?];
    let signed = |zigzag: u64| (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
    let mut number = i32::try_from(signed(varint(bytes)?)).ok()?;
    let in_part =
        usize::try_from(block.checked_div(parts)?).ok().filter(|&numbers| numbers > 0 && numbers % 32 == 0)?;
    let count = usize::try_from(count).ok()?;
    let mut numbers = Vec::new();
    if count > 0 {
        numbers.push(u32::try_from(number).ok()?);
    }
    while numbers.len() < count {
        let least = i32::try_from(signed(varint(bytes)?)).ok()?;
        let (widths, rest) = bytes.split_at_checked(usize::try_from(parts).ok()?)?;
        *bytes = rest;
        for &width in widths {
            // Parts after the last number are not stored.
            let wanted = in_part.min(count - numbers.len());
            if wanted == 0 {
                break;
            }
            let width = usize::from(width);
            let packed;
            (packed, *bytes) = bytes.split_at_checked((in_part / 8).checked_mul(width)?)?;
            if width > 32 {
                return None;
            }
            for at in (0..wanted).map(|index| index * width) {
                let five =
                    packed.get(at / 8..)?.iter().take(5).rev().fold(0, |five, &byte| five << 8 | u64::from(byte));
                let difference = (five >> (at % 8) & ((1 << width) - 1)) as u32;
                number = number.wrapping_add(least).wrapping_add(difference.cast_signed());
                numbers.push(u32::try_from(number).ok()?);
            }
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_numbers_in_blocks() {
        let decoded = |bytes: &[u8]| {
            let mut rest = bytes;
            deltas(&mut rest).map(|numbers| (numbers, rest.len()))
        };
        assert_eq!(decoded(&[0x80, 1, 4, 0, 0, 9]), Some((vec![], 1)));
        assert_eq!(decoded(&[0x80, 1, 4, 1, 14, 9]), Some((vec![7], 1)));
        // Each number is one more than the one before; then differences of 0 to 3 more than -1, in two bits.
        assert_eq!(decoded(&[0x80, 1, 4, 3, 14, 2, 0, 0, 0, 0, 9]), Some((vec![7, 8, 9], 1)));
        let mut bits = vec![0x80, 1, 4, 5, 14, 1, 2, 9, 9, 9, 0b1110_0100];
        bits.extend([0; 7]);
        assert_eq!(decoded(&bits), Some((vec![7, 6, 6, 7, 9], 0)));
        for cut in 0..bits.len() {
            assert_eq!(decoded(&bits[..cut]), None, "{cut}");
        }
        for odd in [
            &[0x80, 1, 4, 1, 1][..],
            &[0x80, 1, 0, 1, 2],
            &[0, 4, 2, 2, 0, 0, 0, 0, 0],
            &[0x80, 1, 4, 2, 0, 1, 0, 0, 0, 0],
        ] {
            assert_eq!(decoded(odd), None, "{odd:?}");
        }
    }
}
