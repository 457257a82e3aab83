//! XML: reads the elements and text of one part of a package in order, with `quick-xml`. Nothing here
//! recurses.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::extract::text::charset::declared;
use crate::extract::text::source::Utf8Source;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

/// An event while a part is read. Names have no prefix.
pub(crate) enum XmlEvent<'a> {
    /// An element begins.
    Start(&'a str, Attributes<'a>),
    /// An element ends. An empty element ends at once.
    End(&'a str),
    /// Text, with references resolved.
    Text(&'a str),
}

/// The attributes of an element.
pub(crate) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of the attribute with this name, ignoring prefixes.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let found = self.0.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
        let value = found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?;
        Some(value.into_owned())
    }

    /// True if the element has this prefix.
    pub(crate) fn has_prefix(&self, prefix: &str) -> bool {
        self.0.name().prefix().is_some_and(|of| of.as_ref() == prefix)
    }
}

/// Reads a part of a document of this format from start to end, and passes each event to `take`.
///
/// # Errors
/// [`DocumentError::NotOfFormat`] if the part is not well-formed or ends too early, and any error of `take`.
pub(crate) fn read(format: Format, bytes: &[u8], take: &mut dyn FnMut(XmlEvent<'_>) -> Result<()>) -> Result<()> {
    let broken = |error: quick_xml::Error| {
        Error::Document(DocumentError::NotOfFormat {
            format: format.name(),
            detail: "a part of it is not well-formed".into(),
            source: Some(error.into()),
        })
    };
    let source = Utf8Source::new(bytes, declared(bytes));
    let mut reader = Reader::from_str(source.text());
    let mut open = 0_u64;
    loop {
        match reader.read_event().map_err(broken)? {
            Event::Start(start) => {
                open += 1;
                take(XmlEvent::Start(start.local_name().as_ref(), Attributes(&start)))?;
            }
            Event::Empty(start) => {
                take(XmlEvent::Start(start.local_name().as_ref(), Attributes(&start)))?;
                take(XmlEvent::End(start.local_name().as_ref()))?;
            }
            Event::End(end) => {
                open = open.saturating_sub(1);
                take(XmlEvent::End(end.local_name().as_ref()))?;
            }
            Event::Text(text) => take(XmlEvent::Text(&text.into_inner()))?,
            Event::CData(text) => take(XmlEvent::Text(&text.into_inner()))?,
            Event::GeneralRef(reference) => {
                let mut buffer = [0; 4];
                let character = reference.resolve_char_ref().map_err(broken)?;
                let name = reference.into_inner();
                let text = match character {
                    Some(character) => &*character.encode_utf8(&mut buffer),
                    // Any other entity would need a declaration in the document. None of these formats have
                    // such declarations.
                    None => quick_xml::escape::resolve_predefined_entity(&name).unwrap_or_default(),
                };
                take(XmlEvent::Text(text))?;
            }
            Event::Eof if open == 0 => return Ok(()),
            Event::Eof => return Err(Error::not_of_format(format, "a part of it ends too early")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}
