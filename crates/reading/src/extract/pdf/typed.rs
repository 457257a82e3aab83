//! Typed: texts that people typed onto a page, into the fields of a form or as notes on the page itself. They
//! are annotations, which the library does not draw.

use fpdb_host::error::Result;
use pdf_extract::{Dictionary, Document, Object, ObjectId, StringFormat, decode_text_string};

/// Bytes charged for each annotation, because pages may share a list of annotations.
const ANNOTATION: usize = 64;

/// The flags of an annotation that no reader shows: `Hidden` and `NoView`.
const HIDDEN: i64 = 1 << 1 | 1 << 5;

/// The texts typed onto a page, in the order of its annotations. Calls `charge` with the number of bytes
/// before it reads them, because many annotations may share one text.
pub(super) fn typed_on(
    document: &Document,
    page: ObjectId,
    charge: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Vec<String>> {
    let annotations = document.get_dictionary(page).and_then(|page| page.get_deref(b"Annots", document));
    let annotations = annotations.and_then(Object::as_array).map_or(&[][..], Vec::as_slice);
    let mut typed = Vec::new();
    for annotation in annotations {
        charge(ANNOTATION)?;
        let values = match shown_value(document, annotation) {
            // The choices made in a list.
            Some(Object::Array(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        for value in values {
            let Ok((_, Object::String(bytes, _))) = document.dereference(value) else {
                charge(1)?;
                continue;
            };
            charge(bytes.len() + 1)?;
            typed.extend(text_of(bytes).filter(|text| !text.trim().is_empty()));
        }
    }
    Ok(typed)
}

/// The value that an annotation shows, if people type such values.
fn shown_value<'a>(document: &'a Document, annotation: &'a Object) -> Option<&'a Object> {
    let annotation = document.dereference(annotation).ok()?.1.as_dict().ok()?;
    if annotation.get_deref(b"F", document).and_then(Object::as_i64).is_ok_and(|flags| flags & HIDDEN != 0) {
        return None;
    }
    match annotation.get_deref(b"Subtype", document).and_then(Object::as_name).ok()? {
        b"Widget" => value_of(document, annotation),
        b"FreeText" => annotation.get_deref(b"Contents", document).ok(),
        _ => None,
    }
}

/// The text of a string. Ends of lines that are single bytes become spaces, because the library drops them.
fn text_of(bytes: &[u8]) -> Option<String> {
    let mut bytes = bytes.to_vec();
    if !bytes.starts_with(b"\xFE\xFF") {
        bytes.iter_mut().filter(|byte| byte.is_ascii_whitespace()).for_each(|byte| *byte = b' ');
    }
    decode_text_string(&Object::String(bytes, StringFormat::Literal)).ok()
}

/// The value of the field that a box on the page belongs to.
fn value_of<'a>(document: &'a Document, shown: &'a Dictionary) -> Option<&'a Object> {
    shown.get_deref(b"V", document).ok().or_else(|| {
        let field = shown.get_deref(b"Parent", document).and_then(Object::as_dict).ok()?;
        field.get_deref(b"V", document).ok()
    })
}
