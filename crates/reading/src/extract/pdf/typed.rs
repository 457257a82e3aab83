//! Typed: texts that people typed onto a page, into the fields of a form or as notes on the page itself. They
//! are annotations, which the library does not draw.

use pdf_extract::{Dictionary, Document, Object, ObjectId, decode_text_string};

/// The texts typed onto a page, in the order of its annotations.
pub(super) fn typed_on(document: &Document, page: ObjectId) -> impl Iterator<Item = String> {
    let annotations = document.get_dictionary(page).and_then(|page| page.get_deref(b"Annots", document));
    let annotations = annotations.and_then(Object::as_array).map_or(&[][..], Vec::as_slice);
    annotations.iter().filter_map(|annotation| {
        let annotation = document.dereference(annotation).ok()?.1.as_dict().ok()?;
        let value = match annotation.get_deref(b"Subtype", document).and_then(Object::as_name).ok()? {
            b"Widget" => value_of(document, annotation)?,
            b"FreeText" => annotation.get_deref(b"Contents", document).ok()?,
            _ => return None,
        };
        text_of(value).filter(|text| !text.trim().is_empty())
    })
}

/// The text of a value; `None` if it is none. The library drops ends of lines that are single bytes.
fn text_of(value: &Object) -> Option<String> {
    let Object::String(mut bytes, format) = value.clone() else { return None };
    if !bytes.starts_with(b"\xFE\xFF") {
        bytes.iter_mut().filter(|byte| byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    }
    decode_text_string(&Object::String(bytes, format)).ok()
}

/// The value of the field that a box on the page belongs to.
fn value_of<'a>(document: &'a Document, shown: &'a Dictionary) -> Option<&'a Object> {
    shown.get_deref(b"V", document).ok().or_else(|| {
        let field = shown.get_deref(b"Parent", document).and_then(Object::as_dict).ok()?;
        field.get_deref(b"V", document).ok()
    })
}
