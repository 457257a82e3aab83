//! Packed data: the JSON of a pair or a text, compressed and encoded for the report. Consecutive passages
//! differ by little, and texts shrink to a third or half. A browser unpacks it with `DecompressionStream`.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

/// JSON, deflated (RFC 1951), in base64 (RFC 4648). No character of it has a meaning in HTML or JavaScript.
pub(super) fn pack(value: &impl Serialize) -> std::io::Result<String> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&serde_json::to_vec(value)?)?;
    Ok(BASE64_STANDARD.encode(packed.finish()?))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::*;

    #[test]
    fn what_is_packed_is_nothing_but_letters_and_is_unpacked_again() {
        let hostile = "</script><!--\u{2028}\u{202e}\u{0}\"'`${alert(1)}".repeat(100);
        let packed = pack(&hostile).unwrap();
        assert!(packed.len() < hostile.len() / 4);
        assert!(packed.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c)), "{packed}");
        let mut json = String::new();
        DeflateDecoder::new(&*BASE64_STANDARD.decode(packed).unwrap()).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
