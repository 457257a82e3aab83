//! Varints: unsigned LEB128. Each byte has seven bits of the value, the lowest first. At most 10 bytes.

/// Appends the encoding of `value` to `out`.
pub fn write(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Removes a value from the front of `bytes`. `None` if `bytes` ends inside it or the value exceeds 64 bits.
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        let part = u64::from(byte & 0x7f);
        if index == 9 && part > 1 {
            return None;
        }
        value |= part << (7 * index);
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            let mut rest = &bytes[..];
            match read(&mut rest) {
                Some(_) => prop_assert!(bytes.len() - rest.len() <= 10),
                None => prop_assert_eq!(rest, &bytes[..]),
            }
        }
    }

    #[test]
    fn edges_come_back_and_bad_input_does_not() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            write(value, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(read(&mut rest), Some(value));
            assert!(rest.is_empty());
            for cut in 0..bytes.len() {
                assert_eq!(read(&mut &bytes[..cut]), None);
            }
        }
        assert_eq!(read(&mut &[0xff; 10][..]), None);
        assert_eq!(read(&mut &[0x80; 11][..]), None);
    }
}
