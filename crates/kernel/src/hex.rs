//! Hexadecimal digits: of digests, of keys in messages, of the profile in a database's marker file.
//!
//! Own code: two short functions outside hot paths, for which no crate is in the tree.

/// Two lower-case digits for each byte.
pub fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The bytes of pairs of digits, in either case; `None` for anything else.
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks() else { return None };
    pairs.iter().map(|&[high, low]| decode_byte(high, low)).collect()
}

/// The byte of two digits.
pub fn decode_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn digits_are_what_they_are_elsewhere() {
        assert_eq!(encode(&[0, 9, 0x1a, 0xff]), "00091aff");
        assert_eq!(decode("00091AfF"), Some(vec![0, 9, 0x1a, 0xff]));
        for bad in ["0", "0g", "+1", " 1", "é"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
