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
    .union(Options::ENABLE_TASKLISTS);

/// Extracts the text of a Markdown document.
pub(super) fn extract(bytes: &[u8]) -> Extracted {
    let source = Utf8Source::new(bytes, None);
    let mut builder = source.builder(bytes.len());
    let text = source.text();
    read(text, header_end(text), &mut builder);
    source.lead_back(builder)
}

/// Length of the YAML header with which a document begins; 0 if it has none. The parser's own option takes
/// the text between any two lines `---` for a header, but most such lines are rules. So here the first line
/// of a header must be a key, apart from comments.
fn header_end(markdown: &str) -> usize {
    let mut lines = markdown.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((line.trim_end(), *end))
    });
    if lines.next().is_none_or(|(mark, _)| mark != "---") {
        return 0;
    }
    let has_key = |line: &str| line.ends_with(':') || line.contains(": ");
    if !lines.clone().map(|(line, _)| line).find(|line| !line.starts_with('#')).is_some_and(has_key) {
        return 0;
    }
    lines.find(|(line, _)| matches!(*line, "---" | "...")).map_or(0, |(_, end)| end)
}

/// Adds the text of a document from byte `from` on.
pub(super) fn read(markdown: &str, from: usize, builder: &mut TextBuilder) {
    // Number of open images. Their text is not read.
    let mut dropped = 0_u32;
    for (event, range) in Parser::new_ext(&markdown[from..], OPTIONS).into_offset_iter() {
        let range = from + range.start..from + range.end;
        let written = &markdown[range.clone()];
        let origin = Span { start: range.start as u64, end: range.end as u64 };
        match event {
            Event::Start(Tag::Image { .. }) => dropped += 1,
            Event::End(TagEnd::Image) => dropped = dropped.saturating_sub(1),
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

#[cfg(all(test, feature = "all"))]
mod tests {
    use super::*;
    use crate::extract::properties::check_segments;

    fn text(markdown: &str) -> String {
        let extracted = extract(markdown.as_bytes());
        check_segments(markdown.as_bytes(), &extracted);
        String::from_utf8(extracted.text).expect("the text is UTF-8")
    }

    #[test]
    fn only_a_header_at_the_start_is_dropped() {
        for (header, dropped) in [
            ("---\ntitle: x\n---\n", true),
            ("---\r\ntitle: x\r\n\r\ntags:\r\n- y\r\n...\r\n", true),
            ("---\n# a comment\ntitle: x\n---\n", true),
            ("\u{feff}---\ntitle: x\n---\n", true),
            ("---\n## A title\n\ntitle x\n\n---\n", false),
            ("---\n\ntitle: x\n\n---\n", false),
            ("---\ntitle: x\n", false),
            ("intro\n\n---\ntitle: x\n\n---\n", false),
            ("> ---\n> title: x\n> ---\n\n", false),
        ] {
            let read = text(&format!("{header}The *text*"));
            assert!(read.trim_end().ends_with("The text"), "{read}");
            assert_eq!(!read.contains("title"), dropped, "{header}: {read}");
        }
        assert_eq!(
            text("# T\n\nintro\n\n---\n## Second\nSENTENCE\n\n---\n## Third\nmore\n"),
            "T\nintro\nSecond\nSENTENCE\nThird\nmore\n"
        );
    }
}
