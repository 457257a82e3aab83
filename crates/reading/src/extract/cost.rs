//! Cost: estimates from a document's bytes how much memory reading it will take.
//!
//! A parser allocates something for each mark of its format, such as a tag, a bracket or a command: a node of
//! a tree, or a [`Segment`](super::Segment). So the estimate has one term per byte and one per byte that can
//! be a mark. A page of text costs a few times its size. A document of nothing but marks costs a hundred
//! times its size. The factors are measured, and include the spare capacity of growing vectors. `cost_tests`
//! checks them with documents made of the worst marks of each format.

use fpdb_kernel::document::Format;
use fpdb_kernel::normalize::is_plain_utf8;

/// The memory that reading a format takes, in bytes.
struct Factors {
    /// Bytes of memory per byte of the document.
    byte: u64,
    /// Additional bytes of memory per mark.
    mark: u64,
    is_mark: fn(u8) -> bool,
}

/// Estimates the memory for reading a document of this format, in bytes, rather too high than too low.
pub(super) fn memory(format: Format, bytes: &[u8]) -> u64 {
    let factors = match format {
        Format::Html => Factors { byte: 4, mark: 100, is_mark: |byte| matches!(byte, b'<' | b'&' | b'\r' | 0) },
        Format::Markdown => {
            Factors { byte: 6, mark: 260, is_mark: |byte| byte.is_ascii_punctuation() || byte == b'\n' }
        }
        Format::Notebook => Factors { byte: 10, mark: 350, is_mark: |byte| byte.is_ascii_punctuation() },
        Format::Tex => Factors { byte: 4, mark: 100, is_mark: |byte| matches!(byte, b'\\' | b'%' | b'{' | b'}') },
        // Includes a copy of the mail with missing closing lines added. Each of these lines is about as long
        // as its boundary, which the mail contains.
        Format::Mail => Factors {
            byte: 10,
            mark: 200,
            is_mark: |byte| matches!(byte, b'\n' | b',' | b';' | b':' | b'<' | b'(' | b'-'),
        },
        // The size after decompression matters: the reader checks each part once it is decompressed.
        Format::Docx | Format::Odt | Format::Epub | Format::Pdf => Factors { byte: 2, mark: 0, is_mark: |_| false },
        Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_) => return 0,
    };
    let marks = bytes.iter().filter(|&&byte| (factors.is_mark)(byte)).count() as u64;
    let is_decoded = matches!(format, Format::Html | Format::Markdown | Format::Notebook | Format::Tex);
    let transcript = if is_decoded { transcript(bytes) } else { 0 };
    bytes.len() as u64 * factors.byte + marks * factors.mark + transcript
}

/// Memory for a transcript in UTF-8, or 0 if none is needed. In the worst case each non-ASCII byte is a
/// character with its own segment. In UTF-16 and UTF-32, every character has its own segment. Segments exist
/// twice: in the transcript and in the final mapping.
fn transcript(bytes: &[u8]) -> u64 {
    if is_plain_utf8(bytes).is_some() {
        return 0;
    }
    let (foreign, zeros) = bytes.iter().fold((0_u64, 0_u64), |(foreign, zeros), &byte| {
        (foreign + u64::from(!byte.is_ascii()), zeros + u64::from(byte == 0))
    });
    bytes.len() as u64 * 6 + (foreign + 2 * zeros) * 110
}
