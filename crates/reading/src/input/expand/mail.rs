//! Mail: a mail whose attachments are documents. It is a document and a container.

use std::io::Read;

use super::Expander;
use super::member_place::MemberPlace;
use super::within::Within;
use crate::extract::{attachments, mail_headers};
use crate::input::read::reader::PIECE;
use crate::input::{ReadOptions, containers};
use crate::recognise::{Choice, Layer, choose, layer_of};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::guarded::guarded;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::Unit;

/// The kind of a layer with this name, for a reader with these options. `head` is as for [`choose`].
pub(super) fn layer_under(options: &ReadOptions, name: &str, head: &[u8]) -> Layer {
    match layer_of(name, head) {
        Layer::Document
            if options.reads_attachments() && choose(name, head, Unit::Char) == Choice::Read(Format::Mail) =>
        {
            Layer::Mail
        }
        layer => layer,
    }
}

impl Expander<'_> {
    /// Passes on a mail, and then its attachments.
    pub(super) fn mail(&mut self, mut place: MemberPlace, input: &mut dyn Read) -> Result<()> {
        let limits = &self.options.limits;
        let mut mail = Vec::new();
        if let Err(error) = (&mut *input).take(limits.whole_bytes.saturating_add(1)).read_to_end(&mut mail) {
            let error = self.meter.error(place.format, error);
            return self.break_off(&place, error);
        }
        let (head, rest) = mail.split_at(mail.len().min(PIECE));
        // The reader of the mail adds the mail's own headers.
        place.headers.clear();
        self.document(place.clone(), head.to_vec(), &mut rest.chain(input))?;
        let attachments = match attachments(&mail, limits) {
            Ok(attachments) if attachments.is_empty() => return Ok(()),
            Ok(attachments) => attachments,
            // The mail itself is refused too, for the same reason.
            Err(Error::Document(
                DocumentError::NotOfFormat { .. } | DocumentError::TooLarge { .. } | DocumentError::Unpacked { .. },
            )) => return Ok(()),
            Err(Error::Document(error)) => {
                let error = DocumentError::Attachments { source: Box::new(error) };
                return self.fail(&place.suffix, Error::Document(error));
            }
            Err(error) => return self.fail(&place.suffix, error),
        };
        if let Err(error) = self.deeper(&place) {
            return self.fail(&place.suffix, error);
        }
        let headers = mail_headers(head, &self.options.fields.kept());
        let outer = MemberPlace { headers, ..place }.around_members(Format::Mail.name(), limits.name_bytes);
        let mut within = Within { outer: &outer, expander: self, last: String::new() };
        match guarded(|| containers::mail::read(&attachments, &mut within)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.break_off(&outer, error)?,
            Err(detail) => self.give_up(&outer, detail)?,
        }
        // A broken attachment does not break the bytes around the mail.
        self.goes_on();
        Ok(())
    }
}
