//! Cost: how much memory it takes to read a document here, told by its bytes before it is read.
//!
//! A parser keeps something for each mark of its format, be it a node of a tree or a [`Segment`](super::Segment). So the cost
//! is so much for each byte, and so much more for each byte that can be such a mark: a page of text costs a few times its
//! size, and a document made of nothing but marks a hundred times. The factors are measured, with what a vector that grows
//! holds in reserve; `hostile_tests` holds documents of each format made of the worst marks against them.

use fpdb_kernel::document::Format;
use fpdb_kernel::normalize::is_plain_utf8;

/// The memory that reading a format takes, in bytes.
struct Factors {
    /// For each byte.
    byte: u64,
    /// For each byte that is a mark.
    mark: u64,
    is_mark: fn(u8) -> bool,
}

/// The memory that reading a document of this format takes, in bytes, about, and rather too much than too little.
pub(super) fn memory(format: Format, bytes: &[u8]) -> u64 {
    let factors = match format {
        Format::Html => Factors { byte: 4, mark: 100, is_mark: |byte| matches!(byte, b'<' | b'&' | b'\r' | 0) },
        Format::Markdown => {
            Factors { byte: 6, mark: 260, is_mark: |byte| byte.is_ascii_punctuation() || byte == b'\n' }
        }
        Format::Notebook => Factors { byte: 10, mark: 350, is_mark: |byte| byte.is_ascii_punctuation() },
        Format::Tex => Factors { byte: 4, mark: 100, is_mark: |byte| matches!(byte, b'\\' | b'%' | b'{' | b'}') },
        // With a copy that has the closing lines it lacks: as long as the boundaries, which are in it.
        Format::Mail => Factors {
            byte: 10,
            mark: 200,
            is_mark: |byte| matches!(byte, b'\n' | b',' | b';' | b':' | b'<' | b'(' | b'-'),
        },
        // Their size after decompression counts: the reader checks each part once it is decompressed.
        Format::Docx | Format::Odt | Format::Epub | Format::Pdf => Factors { byte: 2, mark: 0, is_mark: |_| false },
        Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_) => return 0,
    };
    let marks = bytes.iter().filter(|&&byte| (factors.is_mark)(byte)).count() as u64;
    let is_decoded = matches!(format, Format::Html | Format::Markdown | Format::Notebook | Format::Tex);
    let transcript = if is_decoded { transcript(bytes) } else { 0 };
    bytes.len() as u64 * factors.byte + marks * factors.mark + transcript
}

/// The memory of a transcript in UTF-8, where one is needed: of bytes that are not ASCII each may be a character with a
/// segment of its own, here and where the text is led back; in UTF-16 and UTF-32 every character is.
fn transcript(bytes: &[u8]) -> u64 {
    if is_plain_utf8(bytes).is_some() {
        return 0;
    }
    let (foreign, zeros) = bytes.iter().fold((0_u64, 0_u64), |(foreign, zeros), &byte| {
        (foreign + u64::from(!byte.is_ascii()), zeros + u64::from(byte == 0))
    });
    bytes.len() as u64 * 6 + (foreign + 2 * zeros) * 110
}
