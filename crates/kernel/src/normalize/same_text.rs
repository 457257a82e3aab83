//! Same text: a digest of a document's characters. It does not depend on the encoding, on the kind of line
//! ends, or on line ends after the last line, which editors and mail programs change by themselves.

use xxhash_rust::xxh3::Xxh3;

use super::Sink;
use super::decode::Decoder;
use super::symbols::Symbols;
use crate::document::Digest;

/// Computes the digest of one document.
#[derive(Default)]
pub struct SameText {
    decoder: Decoder,
    symbols: Symbols,
    characters: Characters,
}

impl SameText {
    /// Takes the next bytes of the document, in pieces of any size.
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.characters.is_binary {
            self.decoder.feed(bytes, &mut self.characters, &mut self.symbols);
            self.symbols.clear();
        }
    }

    /// Ends the document. `None` if it has no characters besides line ends, or bytes that are no characters.
    #[must_use]
    pub fn finish(mut self) -> Option<Digest> {
        let (_, counts) = self.decoder.finish(&mut self.characters, &mut self.symbols);
        let Characters { digest, has_text, is_binary, .. } = self.characters;
        (has_text && !is_binary && counts.undecodable == 0).then(|| digest.digest128().to_be_bytes())
    }
}

/// The characters so far, in UTF-8.
#[derive(Default)]
struct Characters {
    digest: Xxh3,
    /// The number of line ends after the last other character.
    line_ends: u64,
    /// True if the last character is a carriage return: a line feed after it is a part of this line end.
    after_return: bool,
    has_text: bool,
    /// True if there is a NUL.
    is_binary: bool,
}

impl Characters {
    fn take(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() && !self.is_binary {
            let plain = memchr::memchr3(b'\r', b'\n', 0, rest).unwrap_or(rest.len());
            if plain > 0 {
                (0..std::mem::take(&mut self.line_ends)).for_each(|_| self.digest.update(b"\n"));
                self.digest.update(&rest[..plain]);
                (self.has_text, self.after_return) = (true, false);
            }
            let Some(&sign) = rest.get(plain) else { return };
            self.is_binary = sign == 0;
            self.line_ends += u64::from(sign == b'\r' || !self.after_return);
            self.after_return = sign == b'\r';
            rest = &rest[plain + 1..];
        }
    }
}

impl Sink for Characters {
    fn text(&mut self, text: &str, _: u64, _: &mut Symbols) {
        self.take(text);
    }

    fn char(&mut self, c: char, _: u64, _: u64, _: &mut Symbols) {
        self.take(c.encode_utf8(&mut [0; 4]));
    }

    fn cut(&mut self, _: &mut Symbols) {}
}

#[cfg(test)]
mod tests {
    use super::SameText;
    use crate::document::Digest;

    fn digest(document: &[u8], piece: usize) -> Option<Digest> {
        let mut text = SameText::default();
        document.chunks(piece).for_each(|piece| text.feed(piece));
        text.finish()
    }

    fn of(document: impl AsRef<[u8]>) -> Option<Digest> {
        let document = document.as_ref();
        let whole = digest(document, usize::MAX);
        assert!([1, 2, 3, 7].iter().all(|&piece| digest(document, piece) == whole));
        whole
    }

    const TEXT: &str = "Größe und Länge,\n\n  déjà vu – so «weit».\nEnde: größer als die übrigen Wörter";

    #[test]
    fn encodings_marks_and_line_ends_make_no_other_text() {
        let wide: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (western, _, _) = encoding_rs::WINDOWS_1252.encode(TEXT);
        let same = [
            TEXT.replace('\n', "\r\n").into_bytes(),
            TEXT.replace('\n', "\r").into_bytes(),
            format!("{TEXT}\n").into_bytes(),
            format!("{TEXT}\r\n\r\n").into_bytes(),
            format!("\u{feff}{TEXT}").into_bytes(),
            [b"\xff\xfe", &wide[..]].concat(),
            western.into_owned(),
        ];
        for document in same {
            assert_eq!(of(&document), of(TEXT), "{document:?}");
        }
    }

    #[test]
    fn all_other_characters_count() {
        let other = [
            TEXT.to_lowercase(),
            TEXT.replace("\n\n", "\n"),
            TEXT.replace("  ", " "),
            format!("{TEXT} "),
            format!("\n{TEXT}"),
            TEXT.replace('\n', "\r\r\n"),
        ];
        for document in other {
            assert_ne!(of(&document), of(TEXT), "{document:?}");
        }
    }

    #[test]
    fn what_has_no_characters_is_no_text() {
        for document in
            [&b""[..], b"\r\n\n", b"\xef\xbb\xbf", b"a\0b", b"%PDF-1.4\n\0\xff\xfe\x01", b"\xef\xbb\xbfa\xff"]
        {
            assert_eq!(of(document), None, "{document:?}");
        }
    }
}
