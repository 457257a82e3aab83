//! Hexadecimal digits: for digests, for keys in messages, and for the profile in a database's marker file.
//!
//! These functions are short and outside hot paths, so a dependency is not worth its cost.

/// Encodes each byte as two lower-case digits.
pub fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Decodes pairs of digits, in either case. `None` if the length is odd or a character is not a digit.
pub fn decode(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks() else { return None };
    pairs.iter().map(|&[high, low]| decode_byte(high, low)).collect()
}

/// Decodes one byte from two digits. `None` if a character is not a digit.
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
