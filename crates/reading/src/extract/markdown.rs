//! Markdown: takes text and its places from `pulldown-cmark`. Embedded HTML is read like any HTML.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Extracted;
use super::html;
use crate::extract::text::builder::TextBuilder;
use crate::extract::text::source::Utf8Source;
use fpdb_kernel::document::Span;

/// CommonMark and common extensions.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_YAML_STYLE_METADATA_BLOCKS);

/// Extracts the text of a Markdown document.
pub(super) fn extract(bytes: &[u8]) -> Extracted {
    let source = Utf8Source::new(bytes, None);
    let mut builder = source.builder(bytes.len());
    read(source.text(), &mut builder);
    source.lead_back(builder)
}

/// Adds the text of a document.
pub(super) fn read(markdown: &str, builder: &mut TextBuilder) {
    // Number of open images and metadata blocks. Their text is not read.
    let mut dropped = 0_u32;
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        let written = &markdown[range.clone()];
        let origin = Span { start: range.start as u64, end: range.end as u64 };
        match event {
            Event::Start(Tag::Image { .. } | Tag::MetadataBlock(_)) => dropped += 1,
            Event::End(TagEnd::Image | TagEnd::MetadataBlock(_)) => dropped = dropped.saturating_sub(1),
            _ if dropped > 0 => {}
            Event::Text(text) if *text == *written => builder.verbatim(text.as_bytes(), origin.start),
            Event::Text(text) => builder.replaced(text.as_bytes(), origin),
            Event::Code(text) => match written.find(&*text) {
                Some(found) => builder.verbatim(text.as_bytes(), origin.start + found as u64),
                // The code contains a line end or an escape.
                None => builder.replaced(text.as_bytes(), origin),
            },
            Event::SoftBreak | Event::HardBreak => builder.replaced(b"\n", origin),
            Event::Start(Tag::HtmlBlock) => {
                builder.separate(origin.start);
                html::tokenise(&markdown[..range.end], range.start, false, builder);
            }
            // The block's lines are already read.
            Event::Html(_) => {}
            Event::InlineHtml(_) => html::tokenise(&markdown[..range.end], range.start, false, builder),
            Event::Start(tag) if !is_inline(tag.to_end()) => builder.separate(origin.start),
            Event::End(tag) if !is_inline(tag) => builder.separate(origin.end),
            Event::Rule => builder.separate(origin.start),
            _ => {}
        }
    }
}

/// True if text before, in and after the element is joined.
fn is_inline(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link)
}
