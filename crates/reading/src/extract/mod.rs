//! Here is a document of some format: what is its text, and where does each part of it come from?
//!
//! Formats that are not text themselves are read whole. Their text comes out as UTF-8, which the front-ends of
//! `normalize` then read like any text, and segments that lead from there to the original. One file per format, pure:
//! bytes in, values out. `docs/formats.md` states the parts that each format keeps and drops, in the words of
//! [`formats`]. `recognise` tells the format of a document.

mod accents;
mod builder;
mod charset;
mod cmap;
mod cost;
#[cfg(all(test, feature = "all"))]
mod cost_tests;
#[cfg(feature = "office")]
mod epub;
mod extracted;
#[cfg(all(test, feature = "all"))]
mod hostile_tests;
mod html;
mod limits;
#[cfg(feature = "mail")]
mod mail;
mod map;
mod markdown;
mod notebook;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "office")]
mod package;
#[cfg(feature = "pdf")]
mod pdf;
pub mod process;
#[cfg(all(any(test, fuzzing), feature = "all"))]
pub mod properties;
mod source;
#[cfg(all(test, feature = "all"))]
mod tests;
mod tex;
#[cfg(feature = "office")]
mod xml;

pub use extracted::{Extracted, Segment, Unread};
pub use limits::Limits;
pub use map::{Lines, Map};
pub use process::ReaderProcess;

use self::extracted::UnreadParts;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_kernel::document::Format;

/// True if documents of this format are extracted before they are read; the others are their own text.
pub fn applies(format: Format) -> bool {
    !matches!(format, Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_))
}

/// True if the text of this format is apart from the document, so that no offset leads back. These are the formats whose
/// readers are the work of others from end to end; a process of its own can read them.
pub(crate) fn is_detached(format: Format) -> bool {
    matches!(format, Format::Mail | Format::Pdf | Format::Docx | Format::Odt | Format::Epub)
}

/// The text of a document. A format to which this [does not apply](self::applies) has none.
///
/// # Errors
/// [`DocumentError::TooLarge`](fpdb_host::error::DocumentError::TooLarge), [`DocumentError::ReadingMemory`](fpdb_host::error::DocumentError::ReadingMemory), [`DocumentError::ReadingTime`](fpdb_host::error::DocumentError::ReadingTime), [`DocumentError::Unpacked`](fpdb_host::error::DocumentError::Unpacked),
/// [`DocumentError::EncryptedDocument`](fpdb_host::error::DocumentError::EncryptedDocument), and [`DocumentError::NotOfFormat`](fpdb_host::error::DocumentError::NotOfFormat) or [`DocumentError::ReaderFailed`](fpdb_host::error::DocumentError::ReaderFailed) for what is not a document of this
/// format, or one that the library which reads it cannot cope with.
pub fn extract(format: Format, bytes: &[u8], limits: &Limits) -> Result<Extracted> {
    match &limits.process {
        #[cfg(unix)]
        Some(process) if is_detached(format) => {
            limits.check_document(format, bytes.len() as u64)?;
            process::read(process, format, bytes, limits)
        }
        _ => extract_here(format, bytes, limits),
    }
}

/// As [`extract`], in this process.
fn extract_here(format: Format, bytes: &[u8], limits: &Limits) -> Result<Extracted> {
    limits.check_document(format, bytes.len() as u64)?;
    limits.check_memory(format, bytes)?;
    // The libraries are not meant to panic, and this one document is lost if they do. Its state is dropped.
    let extracted = guarded(|| match format {
        Format::Html => Ok(Extracted { unread: embedded(bytes), ..html::extract(bytes) }),
        Format::Markdown => Ok(Extracted { unread: embedded(bytes), ..markdown::extract(bytes) }),
        Format::Tex => Ok(tex::extract(bytes)),
        Format::Notebook => notebook::extract(bytes),
        Format::Mail => behind_feature!("mail", mail::extract(bytes, limits)),
        Format::Pdf => behind_feature!("pdf", pdf::extract(bytes, limits)),
        Format::Docx => behind_feature!("office", office::docx(bytes, limits)),
        Format::Odt => behind_feature!("office", office::odt(bytes, limits)),
        Format::Epub => behind_feature!("office", epub::extract(bytes, limits)),
        Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_) => Ok(Extracted::default()),
    });
    extracted.unwrap_or_else(|detail| Err(Error::Document(DocumentError::ReaderFailed { detail })))
}

/// The pictures and the like that a page holds within itself: what its `data:` addresses give in base64.
fn embedded(page: &[u8]) -> Unread {
    const MARK: &[u8] = b";base64,";
    const MEDIA_TYPE: usize = 100;
    let mut unread = UnreadParts::default();
    for found in memchr::memmem::find_iter(page, MARK) {
        let before = &page[found.saturating_sub(MEDIA_TYPE)..found];
        if memchr::memmem::find(before, b"data:").is_some() {
            let content = &page[found + MARK.len()..];
            let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=%-_".contains(byte);
            unread.add(&content[..content.iter().position(|byte| !is_base64(byte)).unwrap_or(content.len())]);
        }
    }
    unread.finish()
}
