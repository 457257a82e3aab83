//! From the tokeniser's calls to text with origins: where the rule of `docs/formats.md` is applied.
//!
//! `html5gum` says, with every string it emits, how far it has read. The text read since the string before is the
//! origin of this one: as long as the string it is the string itself, else a character reference or a line end, or the
//! string itself and what the next one is.

use html5gum::emitters::Emitter as Calls;
use html5gum::{Error, State};

use super::elements::{ElementRole, LONGEST, breaks_out, content, role};
use crate::extract::builder::TextBuilder;
use fpdb_kernel::document::Span;

/// Makes text of the calls of the tokeniser.
pub(super) struct Emitter<'a> {
    source: &'a [u8],
    /// Where the reading of it began.
    from: u64,
    builder: &'a mut TextBuilder,
    /// The document is XML: a self-closing tag closes its element, and CDATA is text.
    xml: bool,
    /// How far the tokeniser has read, and how far what it has emitted reaches.
    position: u64,
    emitted: u64,
    tag: Tag,
    /// The start tag last seen, which an end tag has to match to end raw text.
    last_start: Name,
    /// The element whose content is dropped, and how many of that name are open.
    dropped: Option<(Name, u32)>,
    /// SVG and MathML elements open.
    foreign: u32,
}

/// The tag being read.
#[derive(Default)]
struct Tag {
    name: Name,
    is_end: bool,
    self_closing: bool,
}

/// The name of an element, as far as it can matter.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Name {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Name {
    fn push(&mut self, more: &[u8]) {
        let end = self.length + more.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(more);
        }
        self.length = end;
    }

    /// The name, or nothing where it is too long to be known.
    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl<'a> Emitter<'a> {
    /// `source` is read from its byte `from` on.
    pub(super) fn new(source: &'a [u8], from: usize, xml: bool, builder: &'a mut TextBuilder) -> Self {
        Self {
            source,
            from: from as u64,
            builder,
            xml,
            position: from as u64,
            emitted: from as u64,
            tag: Tag::default(),
            last_start: Name::default(),
            dropped: None,
            foreign: 0,
        }
    }

    /// Where what has not been emitted begins. Of CR LF the tokeniser emits a line end once it has read the CR, and
    /// passes over the LF with what follows.
    #[inline]
    fn unemitted(&self) -> u64 {
        let at = self.emitted as usize;
        let is_within_line_end = self.emitted > self.from
            && self.position > self.emitted
            && self.source.get(at) == Some(&b'\n')
            && self.source.get(at - 1) == Some(&b'\r');
        self.emitted + u64::from(is_within_line_end)
    }

    fn start_tag(&mut self) -> Option<State> {
        let name = self.tag.name;
        self.last_start = name;
        let role = role(name.get());
        let is_html = match self.foreign {
            0 => true,
            _ if !self.xml && breaks_out(name.get(), role) => {
                self.foreign = 0;
                true
            }
            _ => false,
        };
        let is_empty = self.tag.self_closing && (self.xml || !is_html || role == ElementRole::Foreign);
        match (&mut self.dropped, role) {
            (Some((dropped, depth)), _) => *depth += u32::from(*dropped == name && !is_empty),
            (None, ElementRole::Block) => self.builder.separate(self.position),
            (None, ElementRole::Dropped) if !is_empty => self.dropped = Some((name, 1)),
            (None, ElementRole::Foreign) if !is_empty => self.foreign += 1,
            _ => {}
        }
        if is_html && !is_empty { content(name.get()) } else { None }
    }

    fn end_tag(&mut self) {
        let name = self.tag.name;
        if let Some((dropped, depth)) = &mut self.dropped {
            if *dropped == name {
                *depth -= 1;
                if *depth == 0 {
                    self.dropped = None;
                }
            }
            return;
        }
        match role(name.get()) {
            ElementRole::Block => self.builder.separate(self.position),
            ElementRole::Foreign => self.foreign = self.foreign.saturating_sub(1),
            _ => {}
        }
    }
}

impl Calls for Emitter<'_> {
    type Token = std::convert::Infallible;

    #[inline]
    fn move_position(&mut self, offset: isize) {
        self.position = self.position.wrapping_add_signed(offset as i64);
    }

    #[inline]
    fn init_string(&mut self) {
        self.emitted = self.position;
    }

    #[inline]
    fn emit_string(&mut self, text: &[u8]) {
        let start = self.unemitted();
        self.emitted = self.position;
        if self.dropped.is_some() {
            return;
        }
        // A few references are as long as what they stand for.
        let is_reference = self.source.get(start as usize) == Some(&b'&') && text.first() != Some(&b'&');
        let stands_there =
            || text.first() != Some(&b'&') && self.source.get(start as usize..).is_some_and(|it| it.starts_with(text));
        if self.position - start == text.len() as u64 && !is_reference {
            self.builder.verbatim(text, start);
        } else if stands_there() {
            // Text that looked like an end tag, or like the end of a section, comes in parts once all of it has been read.
            self.emitted = start + text.len() as u64;
            self.builder.verbatim(text, start);
        } else {
            self.builder.replaced(text, Span { start, end: self.position });
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.emitted = self.position;
        if self.tag.is_end {
            self.end_tag();
            return None;
        }
        self.start_tag()
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.tag = Tag::default();
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.tag = Tag { is_end: true, ..Tag::default() };
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.tag.self_closing = true;
    }

    #[inline]
    fn push_tag_name(&mut self, name: &[u8]) {
        self.tag.name.push(name);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tag.is_end && self.tag.name == self.last_start
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        // It is asked once a section of character data has been opened, which nothing else announces.
        let is_section = self.xml || self.foreign > 0;
        if is_section {
            self.emitted = self.position;
        }
        is_section
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start = Name::default();
        self.last_start.push(name.unwrap_or_default());
    }

    #[inline]
    fn pop_token(&mut self) -> Option<Self::Token> {
        None
    }

    // Attributes, comments and document types are no text, and errors are the author's.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
