//! Next line: rewrites the operators `'` and `"`, which move to the next line and show a text there. The
//! library ignores both, so their text would be lost. Each becomes the operators that it stands for.

use pdf_extract::content::{Content, Operation};
use pdf_extract::{Document, Object, ObjectId, Stream, StringFormat};

use super::memory_of;
use crate::extract::InputLimits;
use fpdb_host::error::Result;
use fpdb_kernel::document::Format;

/// Rewrites the graphics that pages draw.
pub(super) fn rewrite_graphics(document: &mut Document, limits: &InputLimits) -> Result<()> {
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        if !stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Form") {
            continue;
        }
        let content = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
        if let Some(content) = rewritten(&content, limits)? {
            stream.set_plain_content(content);
            // If compression fails, the content stays the same, but larger.
            let _ = stream.compress();
        }
    }
    Ok(())
}

/// The content that a page had before it was rewritten.
pub(super) struct Original {
    contents: Option<Object>,
    replacement: ObjectId,
}

/// Rewrites a page. Returns its original content, or `None` if the page has none of these operators. Once the
/// page is drawn, the caller puts the original back: several pages may share one content, and only one
/// rewritten content is in memory at a time.
pub(super) fn rewrite_page(document: &mut Document, page: ObjectId, limits: &InputLimits) -> Result<Option<Original>> {
    let content = document.get_page_content(page).unwrap_or_default();
    let Some(content) = rewritten(&content, limits)? else { return Ok(None) };
    let replacement = document.add_object(Stream::new(Default::default(), content));
    let Ok(page) = document.get_dictionary_mut(page) else { return Ok(None) };
    let contents = page.get(b"Contents").ok().cloned();
    page.set("Contents", replacement);
    Ok(Some(Original { contents, replacement }))
}

impl Original {
    pub(super) fn put_back(self, document: &mut Document, page: ObjectId) {
        document.objects.remove(&self.replacement);
        if let (Ok(page), Some(contents)) = (document.get_dictionary_mut(page), self.contents) {
            page.set("Contents", contents);
        }
    }
}

/// The content with these operators rewritten; `None` if the content has none of them.
fn rewritten(content: &[u8], limits: &InputLimits) -> Result<Option<Vec<u8>>> {
    if !may_have_some(content) {
        return Ok(None);
    }
    limits.check_needed(Format::Pdf, memory_of(content))?;
    let Ok(Content { operations }) = Content::decode(content) else { return Ok(None) };
    if !operations.iter().any(|operation| matches!(&*operation.operator, "'" | "\"")) {
        return Ok(None);
    }
    let operations: Vec<Operation> = operations.into_iter().flat_map(spelled_out).collect();
    let Ok(content) = (Content { operations }).encode() else { return Ok(None) };
    limits.check_needed(Format::Pdf, memory_of(&content))?;
    Ok(Some(content))
}

/// True if a content may have one of these operators. An apostrophe within a word is not an operator.
fn may_have_some(content: &[u8]) -> bool {
    memchr::memchr2_iter(b'\'', b'"', content).any(|at| {
        let is_after_operand =
            content[..at].last().is_none_or(|&byte| byte.is_ascii_whitespace() || b")>".contains(&byte));
        is_after_operand && !content.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
    })
}

/// The operations that an operation stands for. Empty for an image, which has no text.
fn spelled_out(operation: Operation) -> Vec<Operation> {
    let Operation { operator, mut operands } = operation;
    operands.iter_mut().for_each(to_hexadecimal);
    match &*operator {
        "'" | "\"" => {}
        "BI" => return Vec::new(),
        _ => return vec![Operation { operator, operands }],
    }
    let Some(text @ Object::String(..)) = operands.pop() else { return Vec::new() };
    let mut operations = Vec::new();
    if operator == "\"" && operands.len() == 2 && operands.iter().all(|operand| operand.as_float().is_ok()) {
        let spacings = ["Tw", "Tc"].into_iter().zip(operands);
        operations.extend(spacings.map(|(operator, spacing)| Operation::new(operator, vec![spacing])));
    }
    operations.extend([Operation::new("T*", Vec::new()), Operation::new("Tj", vec![text])]);
    operations
}

/// Marks texts to be written in hexadecimal digits. Otherwise the library takes quadratic time to write a
/// text with many brackets.
fn to_hexadecimal(object: &mut Object) {
    match object {
        Object::String(_, format) => *format = StringFormat::Hexadecimal,
        Object::Array(objects) => objects.iter_mut().for_each(to_hexadecimal),
        Object::Dictionary(dictionary) => dictionary.iter_mut().for_each(|(_, object)| to_hexadecimal(object)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_become_those_that_they_stand_for() {
        for (content, expected) in [
            ("(a) '", Some("T*\n<61> Tj")),
            ("(a)'(b)'", Some("T*\n<61> Tj\nT*\n<62> Tj")),
            ("1 .5 <61>\"", Some("1 Tw\n0.5 Tc\nT*\n<61> Tj")),
            ("[(a) -3] TJ (it's) '", Some("[<61> -3] TJ\nT*\n<69742773> Tj")),
            ("q BI /W 1 /H 1 /BPC 8 /CS /G ID x EI ( ' ) ' Q", Some("q\nT*\n<202720> Tj\nQ")),
            ("1 ' (a) Tj", Some("<61> Tj")),
            ("(a) \" ET", Some("T*\n<61> Tj\nET")),
            ("(a ' b) Tj", None),
            ("(it's) Tj", None),
            ("", None),
        ] {
            let content = rewritten(content.as_bytes(), &InputLimits::default()).unwrap();
            assert_eq!(content.as_deref().map(|content| str::from_utf8(content).unwrap()), expected);
        }
    }

    #[test]
    fn a_text_of_brackets_takes_no_time() {
        let content = format!("({}) '", "\\(".repeat(1 << 20));
        assert!(rewritten(content.as_bytes(), &InputLimits::default()).unwrap().is_some());
    }
}
