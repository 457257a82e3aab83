//! Emitter: turns the tokeniser's calls into text with origins, by the rule of `docs/formats.md`.
//!
//! `html5gum` reports how far it has read, with every string that it emits. The origin of a string is the
//! input read since the previous string. If origin and string have the same length, they are the same text,
//! except for a few character references. Otherwise the origin is a character reference or a line end, or the
//! origin also contains the next string.

use html5gum::emitters::Emitter as Calls;
use html5gum::{Error, State};

use super::elements::{
    ElementRole, LONGEST, PARAGRAPH, bit, breaks_out, contained_by, content, ended_by, ends_before, hides,
    is_container, is_void, open_after, role,
};
use crate::extract::text::builder::TextBuilder;
use fpdb_kernel::document::Span;

/// Builds text from the calls of the tokeniser.
pub(super) struct Emitter<'a> {
    source: &'a [u8],
    /// Offset in `source` at which reading began.
    from: u64,
    builder: &'a mut TextBuilder,
    /// True if the document is XML: a self-closing tag closes its element, and CDATA is text.
    xml: bool,
    /// `position`: offset up to which the tokeniser has read. `emitted`: offset after the text emitted so
    /// far.
    position: u64,
    emitted: u64,
    tag: Tag,
    /// The value of the attribute being read, if it may hide the element.
    value: Vec<u8>,
    /// Name of the last start tag. An end tag must match it to end raw text.
    last_start: Name,
    dropped: Option<DroppedElement>,
    /// The open elements that may lack their end tag, except those in the dropped element.
    open: u16,
    /// Number of open SVG and MathML elements.
    foreign: u32,
}

/// An open element whose content is dropped.
struct DroppedElement {
    name: Name,
    /// Number of open elements with this name.
    depth: u32,
    /// True if an attribute hides the element. Such an element ends at the latest with the element around it,
    /// even if its own end tag is missing.
    is_hidden: bool,
    /// Number of open containers in the dropped element.
    containers: u32,
    /// Open elements that may lack their end tag. `open`: those in the dropped element, but not in a
    /// container there. `around`: those around it.
    open: u16,
    around: u16,
}

/// The tag being read.
#[derive(Default)]
struct Tag {
    name: Name,
    is_end: bool,
    self_closing: bool,
    /// The attribute being read.
    attribute: Name,
    /// True if an attribute hides the element.
    is_hidden: bool,
}

/// Maximum bytes of a style that are looked at.
const STYLE: usize = 4096;

/// The name of an element, cut off above the maximum length of known names.
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

    /// The name; empty if it is longer than any known name.
    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl DroppedElement {
    fn new(name: Name, is_hidden: bool, open: u16) -> Self {
        let around = match role(name.get()) {
            ElementRole::Inline => open,
            // A button may be in a paragraph and contain blocks. These do not end the paragraph.
            _ => open & !PARAGRAPH,
        };
        Self { name, depth: 1, is_hidden, containers: 0, open: 0, around }
    }

    /// True if this start tag ends the dropped element, or an element around it.
    fn ends_at_start(&self, next: &[u8]) -> bool {
        let ends_around = self.around & ended_by(next) & !self.open != 0;
        self.is_hidden && self.containers == 0 && (ends_before(self.name.get(), next) || ends_around)
    }

    /// Notes an end tag of another name. Returns true if the tag ends an element around the dropped one.
    fn ends_at_end(&mut self, name: &[u8]) -> bool {
        let is_container = is_container(name);
        if is_container && self.containers > 0 {
            self.containers -= 1;
            return false;
        }
        let bit = if self.containers == 0 { bit(name) } else { 0 };
        if bit & self.open != 0 {
            self.open = open_after(self.open, name, false);
            return false;
        }
        // Pages often have `</p>` without a paragraph, so `</p>` counts only if a paragraph is open around.
        let may_end = !contained_by(self.name.get()) & !ended_by(self.name.get()) & (!PARAGRAPH | self.around);
        self.is_hidden && (is_container || ends_before(self.name.get(), name) || bit & may_end != 0)
    }
}

impl<'a> Emitter<'a> {
    /// Reads `source` from its byte `from` on.
    pub(super) fn new(source: &'a [u8], from: usize, xml: bool, builder: &'a mut TextBuilder) -> Self {
        Self {
            source,
            from: from as u64,
            builder,
            xml,
            position: from as u64,
            emitted: from as u64,
            tag: Tag::default(),
            value: Vec::new(),
            last_start: Name::default(),
            dropped: None,
            open: 0,
            foreign: 0,
        }
    }

    /// Start of the unemitted text. For CR LF, the tokeniser emits a line end after the CR, and reads the LF
    /// later, together with the text after it. This LF is not text.
    #[inline]
    fn unemitted(&self) -> u64 {
        let at = self.emitted as usize;
        let is_within_line_end = self.emitted > self.from
            && self.position > self.emitted
            && self.source.get(at) == Some(&b'\n')
            && self.source.get(at - 1) == Some(&b'\r');
        self.emitted + u64::from(is_within_line_end)
    }

    /// Notes that the element is hidden, if the attribute read last hides it.
    fn end_attribute(&mut self) {
        self.tag.is_hidden |= match std::mem::take(&mut self.tag.attribute).get() {
            // A browser shows this text if a search on the page finds it.
            b"hidden" => !self.value.trim_ascii().eq_ignore_ascii_case(b"until-found"),
            b"style" => hides(&self.value),
            _ => false,
        };
        self.value.clear();
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
        let has_content = !is_empty && !is_void(name.get());
        self.dropped.take_if(|dropped| is_html && dropped.ends_at_start(name.get()));
        if self.dropped.is_none() && is_html {
            self.open = open_after(self.open, name.get(), has_content);
        }
        // Some pages hide themselves until they are loaded. Scripts then show them.
        let is_hidden = self.tag.is_hidden && has_content && !matches!(name.get(), b"html" | b"body");
        match (&mut self.dropped, role) {
            (Some(dropped), _) if dropped.name == name => dropped.depth += u32::from(has_content),
            (Some(dropped), _) => {
                if dropped.containers == 0 {
                    dropped.open = open_after(dropped.open, name.get(), has_content);
                }
                dropped.containers += u32::from(has_content && is_container(name.get()));
            }
            (None, ElementRole::Dropped) if !is_empty => self.dropped = Some(DroppedElement::new(name, false, 0)),
            (None, _) if is_hidden => self.dropped = Some(DroppedElement::new(name, true, self.open)),
            (None, ElementRole::Block) => self.builder.separate(self.position),
            (None, _) => {}
        }
        self.foreign += u32::from(role == ElementRole::Foreign && !is_empty);
        if is_html && !is_empty { content(name.get()) } else { None }
    }

    fn end_tag(&mut self) {
        let name = self.tag.name;
        if role(name.get()) == ElementRole::Foreign {
            self.foreign = self.foreign.saturating_sub(1);
        }
        if let Some(dropped) = &mut self.dropped {
            if dropped.name == name {
                dropped.depth -= 1;
                if dropped.depth == 0 {
                    self.dropped = None;
                    self.open = open_after(self.open, name.get(), false);
                }
                return;
            }
            if !dropped.ends_at_end(name.get()) {
                return;
            }
            self.dropped = None;
        }
        self.open = open_after(self.open, name.get(), false);
        if role(name.get()) == ElementRole::Block {
            self.builder.separate(self.position);
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
        // A few character references have the same length as their text.
        let is_reference = self.source.get(start as usize) == Some(&b'&') && text.first() != Some(&b'&');
        let stands_there =
            || text.first() != Some(&b'&') && self.source.get(start as usize..).is_some_and(|it| it.starts_with(text));
        if self.position - start == text.len() as u64 && !is_reference {
            self.builder.verbatim(text, start);
        } else if stands_there() {
            // The tokeniser reads text that resembles an end tag, or the end of a section, as a whole, and
            // emits it in parts.
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
        self.end_attribute();
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
        // The tokeniser calls this after it opened a section of character data. No other call announces the
        // section.
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

    #[inline]
    fn init_attribute(&mut self) {
        self.end_attribute();
    }

    #[inline]
    fn push_attribute_name(&mut self, name: &[u8]) {
        self.tag.attribute.push(name);
    }

    #[inline]
    fn push_attribute_value(&mut self, value: &[u8]) {
        if matches!(self.tag.attribute.get(), b"style" | b"hidden") {
            let room = STYLE - self.value.len();
            self.value.extend_from_slice(&value[..value.len().min(room)]);
        }
    }

    // Comments and document types are not text. Errors do not matter here.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
