//! Extraction: takes the text out of a document of some format, and records the origin of each part of the
//! text.
//!
//! Formats that are not plain text are read whole. The result is UTF-8, which the front-ends of `normalize`
//! then read like any text, and segments that map it to the original. Each format has one file of pure
//! functions. `docs/formats.md` states what each format keeps and drops. [`recognise`](crate::recognise)
//! detects the format of a document.

pub(crate) mod attachments;
mod cost;
#[cfg(all(test, feature = "all"))]
mod cost_tests;
#[cfg(all(test, feature = "all"))]
mod hostile_tests;
mod html;
mod limits;
#[cfg(feature = "mail")]
mod mail;
mod markdown;
mod notebook;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
pub mod process;
#[cfg(all(any(test, fuzzing), feature = "all"))]
pub mod properties;
#[cfg(all(test, feature = "all"))]
mod tests;
mod tex;
pub(crate) mod text;

pub use limits::{InputLimit, InputLimits, LimitUnit};
pub use process::ReaderProcess;
pub use text::extracted::{Extracted, Segment, Unlike, Unread};
pub use text::map::{Lines, Map};

use self::attachments::Attachments;
use self::text::extracted::UnreadParts;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::Unit;

/// True if documents of this format need extraction. All other formats are read directly as text or bytes.
pub fn applies(format: Format) -> bool {
    !matches!(format, Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_))
}

/// True if offsets in documents of this format refer to the extracted text, not to the original. Foreign
/// libraries read these formats as a whole. A separate process can read them.
pub(crate) fn is_detached(format: Format) -> bool {
    matches!(format, Format::Mail | Format::Pdf | Format::Docx | Format::Odt | Format::Epub)
}

/// Extracts the text of a document. [`applies`] must be true for the format.
///
/// # Errors
/// * [`DocumentError::TooLarge`], [`DocumentError::ReadingMemory`], [`DocumentError::ReadingTime`] and
///   [`DocumentError::Unpacked`] if a limit is exceeded.
/// * [`DocumentError::EncryptedDocument`].
/// * [`DocumentError::NotOfFormat`] or [`DocumentError::ReaderFailed`] if the document does not have this
///   format, or if the library for the format fails.
pub fn extract(format: Format, bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    match &limits.process {
        Some(process) if is_detached(format) => {
            limits.check_document(format, bytes.len() as u64)?;
            process::read(process, format, bytes, limits)
        }
        _ => extract_here(format, bytes, limits),
    }
}

/// Like [`extract`], for symbols of this unit. For tokens, a notebook in a known language is source code, in
/// which the cells of prose are comments.
///
/// # Errors
/// Like [`extract`].
pub fn extract_for(unit: Unit, format: Format, bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    match (unit, format) {
        (Unit::Token, Format::Notebook) => {
            limits.check_document(format, bytes.len() as u64)?;
            limits.check_memory(format, bytes)?;
            let extracted = guarded(|| notebook::extract_code(bytes));
            extracted.unwrap_or_else(|detail| Err(Error::Document(DocumentError::ReaderFailed { detail })))
        }
        _ => extract(format, bytes, limits),
    }
}

/// Like [`extract`], but always in this process.
fn extract_here(format: Format, bytes: &[u8], limits: &InputLimits) -> Result<Extracted> {
    limits.check_document(format, bytes.len() as u64)?;
    limits.check_memory(format, bytes)?;
    if bytes.is_empty() && is_detached(format) {
        let (format, detail) = (format.name(), "it is empty".into());
        return Err(Error::Document(DocumentError::NotOfFormat { format, detail, source: None }));
    }
    // The libraries should not panic. If one does, its state is dropped, and only this document is lost.
    let extracted = guarded(|| match format {
        Format::Html => Ok(Extracted { unread: embedded(bytes), ..html::extract(bytes) }),
        Format::Markdown => Ok(Extracted { unread: embedded(bytes), ..markdown::extract(bytes) }),
        Format::Tex => Ok(tex::extract(bytes)),
        Format::Notebook => notebook::extract(bytes),
        Format::Mail => behind_feature!("mail", mail::extract(bytes, limits)),
        Format::Pdf => behind_feature!("pdf", pdf::extract(bytes, limits)),
        Format::Docx => behind_feature!("office", office::docx(bytes, limits)),
        Format::Odt => behind_feature!("office", office::odt(bytes, limits)),
        Format::Epub => behind_feature!("office", office::epub::extract(bytes, limits)),
        Format::Text | Format::ReStructuredText | Format::Bytes | Format::Code(_) => Ok(Extracted::default()),
    });
    extracted.unwrap_or_else(|detail| Err(Error::Document(DocumentError::ReaderFailed { detail })))
}

/// The attachments of a mail. An inner mail is one attachment; its own attachments are not listed.
///
/// # Errors
/// Like [`extract`].
pub(crate) fn attachments(mail: &[u8], limits: &InputLimits) -> Result<Attachments> {
    match &limits.process {
        Some(process) => {
            limits.check_document(Format::Mail, mail.len() as u64)?;
            process::attachments(process, mail, limits)
        }
        None => attachments_here(mail, limits),
    }
}

/// Like [`attachments`], but always in this process.
fn attachments_here(mail: &[u8], limits: &InputLimits) -> Result<Attachments> {
    limits.check_document(Format::Mail, mail.len() as u64)?;
    limits.check_memory(Format::Mail, mail)?;
    let attachments = guarded(|| behind_feature!("mail", mail::attachments(mail)));
    attachments.unwrap_or_else(|detail| Err(Error::Document(DocumentError::ReaderFailed { detail })))
}

/// The headers of a mail with these names, and their values as text. `bytes` are the first bytes of the mail.
#[cfg_attr(not(feature = "mail"), expect(unused_variables, reason = "this build reads no mail"))]
pub fn mail_headers(bytes: &[u8], wanted: &[&str]) -> Vec<(String, String)> {
    #[cfg(feature = "mail")]
    return mail::headers(bytes, wanted);
    #[cfg(not(feature = "mail"))]
    Vec::new()
}

/// The pictures and other files embedded in a page: the contents of its `data:` addresses in base64.
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
