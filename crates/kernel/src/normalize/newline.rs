//! Newline: the bytes of a newline character in each encoding.

/// The bytes of a newline character in the encoding with this WHATWG name. A newline is one byte in all
/// encodings except UTF-16 and UTF-32.
pub fn newline_of(encoding: &str) -> &'static [u8] {
    match encoding {
        "UTF-16LE" => b"\n\0",
        "UTF-16BE" => b"\0\n",
        "UTF-32LE" => b"\n\0\0\0",
        "UTF-32BE" => b"\0\0\0\n",
        _ => b"\n",
    }
}
