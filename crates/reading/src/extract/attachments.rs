//! Attachments: the files in a mail, packed into one piece of memory. A reader process sends them in this
//! form.

use fpdb_host::error::{DocumentError, Error, Result};

/// The attachments of a mail. Each has four fields, preceded by their lengths: name, media type, content, and
/// a field that is empty unless the content is broken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Attachments(Vec<u8>);

/// A file in a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attachment<'a> {
    /// Its name. Empty if it has none.
    pub(crate) name: &'a str,
    /// Its type, such as `application/pdf`. Empty if the mail does not say it.
    pub(crate) media_type: &'a str,
    pub(crate) content: &'a [u8],
    /// True if the content could not be decoded.
    pub(crate) is_broken: bool,
}

impl Attachments {
    #[cfg_attr(not(feature = "mail"), expect(dead_code, reason = "this build reads no mail"))]
    pub(super) fn push(&mut self, Attachment { name, media_type, content, is_broken }: Attachment<'_>) {
        let broken = if is_broken { &b"!"[..] } else { &[] };
        for field in [name.as_bytes(), media_type.as_bytes(), content, broken] {
            self.0.extend((field.len() as u64).to_le_bytes());
            self.0.extend(field);
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The attachments in these bytes, which another process wrote.
    ///
    /// # Errors
    /// [`DocumentError::ReaderFailed`] if the bytes do not consist of whole attachments.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Result<Self> {
        let mut rest = &bytes[..];
        while next(&mut rest).is_some() {}
        if rest.is_empty() {
            return Ok(Self(bytes));
        }
        Err(Error::Document(DocumentError::ReaderFailed { detail: "its answer makes no sense".into() }))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Attachment<'_>> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || next(&mut rest))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Takes the next attachment from `rest`. Returns `None` and leaves `rest` unchanged if no whole attachment
/// follows.
fn next<'a>(rest: &mut &'a [u8]) -> Option<Attachment<'a>> {
    let mut after = *rest;
    let mut field = || {
        let (length, from) = after.split_first_chunk()?;
        let (field, end) = from.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        after = end;
        Some(field)
    };
    let (name, media_type, content, broken) = (field()?, field()?, field()?, field()?);
    let (name, media_type) = (str::from_utf8(name).ok()?, str::from_utf8(media_type).ok()?);
    *rest = after;
    Some(Attachment { name, media_type, content, is_broken: !broken.is_empty() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_are_read_as_they_were_written() {
        let whole = Attachment { name: "ä.pdf", media_type: "application/pdf", content: b"%PDF\0", is_broken: false };
        let broken = Attachment { name: "", media_type: "", content: b"", is_broken: true };
        let mut packed = Attachments::default();
        [whole, broken, whole].into_iter().for_each(|attachment| packed.push(attachment));
        assert_eq!(packed.iter().collect::<Vec<_>>(), [whole, broken, whole]);
        let bytes = packed.into_bytes();
        let ends: Vec<usize> =
            (0..=bytes.len()).filter(|&end| Attachments::of_bytes(bytes[..end].into()).is_ok()).collect();
        let mut one = Attachments::default();
        one.push(whole);
        let (first, last) = (one.into_bytes().len(), bytes.len());
        assert_eq!(ends, [0, first, last - first, last]);
        // A length beyond the end of the bytes is an error.
        assert!(Attachments::of_bytes([0xFF; 40].into()).is_err());
    }
}
