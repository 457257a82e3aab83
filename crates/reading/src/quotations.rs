//! Quotations: finds the parts of a document that the author attributes to someone else.
//!
//! * Text in quotation marks. A quotation ends with the closing mark that fits its opening mark. The closing
//!   mark is in the same paragraph or in a later one. In the second case, each paragraph after the first
//!   begins with the opening mark again. In a PDF, the first page end within a quotation does not end the
//!   paragraph, nor does the page's number. At a second page end the quotation is dropped. A mark without a
//!   closing mark opens no quotation. Single marks open none, since they are mostly apostrophes, but two in a
//!   row do (``as in TeX'').
//! * Lines that begin with `>`, as in Markdown and in the answer to a mail.
//! * The elements and environments of HTML and TeX for quotations.

use crate::extract::{self, Map};
use crate::input::InputLimits;
use fpdb_host::error::Result;
use fpdb_kernel::document::{Format, Offsets, Span};
use fpdb_kernel::normalize::Readable;

/// The quotations of a document, marks included, ascending and disjoint, in the document's own offsets.
///
/// # Errors
/// Fails if the text cannot be extracted.
pub fn quotations(bytes: &[u8], format: Format, limits: &InputLimits) -> Result<Vec<Span>> {
    if !extract::applies(format) {
        let readable = Readable::decode(bytes);
        return Ok(union(marked(readable.characters(), &[]).into_iter().chain(lines(readable.characters()))));
    }
    let extracted = extract::extract(format, bytes, limits)?;
    let characters = || utf8_characters(&extracted.text);
    let found = marked(characters(), &extracted.pages).into_iter();
    if extracted.offsets == Offsets::Extracted {
        // In other formats the markup shows quotations, and a line that begins with `>` can be code.
        let answered = if format == Format::Mail { lines(characters()) } else { Vec::new() };
        return Ok(union(found.chain(answered)));
    }
    let mut map = Map::new(&extracted.segments, extracted.text.len() as u64);
    Ok(union(found.map(|span| map.origin(span)).chain(of_markup(bytes, format))))
}

/// The characters of UTF-8 text, each with its byte range.
fn utf8_characters(text: &[u8]) -> impl Iterator<Item = (char, Span)> {
    let mut at = 0;
    text.utf8_chunks().flat_map(move |chunk| {
        let start = at;
        at += (chunk.valid().len() + chunk.invalid().len()) as u64;
        chunk.valid().char_indices().map(move |(index, c)| {
            let start = start + index as u64;
            (c, Span { start, end: start + c.len_utf8() as u64 })
        })
    })
}

/// The quotations that only the markup of the original shows.
fn of_markup(bytes: &[u8], format: Format) -> Vec<Span> {
    match format {
        Format::Markdown => lines(Readable::decode(bytes).characters()),
        Format::Html => enclosed(bytes, &[("<blockquote", "</blockquote")]),
        Format::Tex => {
            enclosed(bytes, &[("\\begin{quote}", "\\end{quote}"), ("\\begin{quotation}", "\\end{quotation}")])
        }
        _ => Vec::new(),
    }
}

/// The parts from an opening string to its closing string, both included, for each of these pairs of strings.
/// A part can lie in another.
fn enclosed(bytes: &[u8], pairs: &[(&str, &str)]) -> Vec<Span> {
    let mut readable = Readable::decode(bytes);
    readable.text.make_ascii_lowercase();
    let mut found = Vec::new();
    for (opening, closing) in pairs {
        let opened = readable.text.match_indices(opening).map(|(at, _)| (at, true));
        let closed = readable.text.match_indices(closing).map(|(at, _)| (at + closing.len(), false));
        let mut places: Vec<(usize, bool)> = opened.chain(closed).collect();
        places.sort_unstable();
        let mut open = Vec::new();
        for (at, opens) in places {
            if opens {
                open.push(at);
            } else if let Some(start) = open.pop() {
                found.push(Span { start: readable.origin_at(start), end: readable.origin_at(at) });
            }
        }
    }
    found
}

/// The union of these parts, ascending and disjoint.
fn union(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    spans
}

/// The closing marks for this opening mark.
fn ends(mark: char) -> Option<&'static [char]> {
    Some(match mark {
        '"' => &['"'],
        '\u{FF02}' => &['\u{FF02}'],
        '“' | '”' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '»' => &['«', '»'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// A quotation whose end is not found yet.
struct OpenQuotation {
    mark: char,
    ends: &'static [char],
    /// True if the closing mark is written twice.
    twice: bool,
    start: u64,
    /// True between two paragraphs or pages.
    waits: bool,
    /// True if a page begins at this place.
    at_page: bool,
    /// True once a page has ended in the quotation.
    over_page: bool,
}

/// Finds quotations in marks among characters, each given with its byte span. `pages` are the starts of the
/// pages.
fn marked(characters: impl Iterator<Item = (char, Span)>, pages: &[u64]) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Option<OpenQuotation> = None;
    let (mut before, mut line_is_empty) = ((' ', 0), false);
    let mut next_pages = pages.iter().peekable();
    for (c, at) in characters {
        let begins_page = next_pages.next_if(|&&page| page <= at.start).is_some();
        if let Some(quotation) = &mut open {
            if begins_page && quotation.over_page && !quotation.at_page {
                // A stray mark must not hide the pages up to the next stray mark.
                open = None;
            } else if begins_page {
                (quotation.waits, quotation.at_page, quotation.over_page) = (true, true, true);
            }
        }
        if let Some(quotation) = &mut open {
            // A number before or after the end of a page is the page's number.
            let is_between = c.is_whitespace() || (!pages.is_empty() && c.is_numeric());
            if quotation.waits && !is_between && c != quotation.mark {
                if quotation.at_page {
                    (quotation.waits, quotation.at_page) = (false, false);
                } else {
                    // The next paragraph does not continue the quotation.
                    open = None;
                }
            }
        }
        match &mut open {
            Some(open) if open.waits => {
                open.waits = c != open.mark;
                open.at_page &= open.waits;
            }
            Some(OpenQuotation { ends, twice, start, .. }) if ends.contains(&c) && (!*twice || before.0 == c) => {
                found.push(Span { start: *start, end: at.end });
                open = None;
            }
            Some(open) => open.waits = c == '\n' && line_is_empty,
            // A straight mark after a letter or digit closes a quotation, or means inches.
            None if c == '"' && before.0.is_alphanumeric() => {}
            None if c == '`' && before.0 == '`' => {
                open = Some(OpenQuotation {
                    mark: c,
                    ends: &['\''],
                    twice: true,
                    start: before.1,
                    waits: false,
                    at_page: false,
                    over_page: false,
                });
            }
            None => {
                let start = at.start;
                let opened = |ends| OpenQuotation {
                    mark: c,
                    ends,
                    twice: false,
                    start,
                    waits: false,
                    at_page: false,
                    over_page: false,
                };
                open = ends(c).map(opened);
            }
        }
        line_is_empty = c == '\n' || (line_is_empty && c.is_whitespace());
        before = (c, at.start);
    }
    found
}

/// Finds the lines that begin with `>`, after at most three spaces.
fn lines(characters: impl Iterator<Item = (char, Span)>) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    // The number of spaces so far, at the start of a line; `None` after them.
    let (mut spaces, mut start, mut is_quoted) = (Some(0), 0, false);
    for (c, at) in characters {
        if spaces == Some(0) {
            start = at.start;
        }
        if let Some(so_far) = spaces {
            spaces = (c == ' ' && so_far < 3).then_some(so_far + 1);
            if c == '>' {
                is_quoted = true;
                found.push(Span { start, end: at.end });
            }
        }
        if let Some(last) = found.last_mut().filter(|_| is_quoted) {
            last.end = at.end;
        }
        if c == '\n' {
            (spaces, is_quoted) = (Some(0), false);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Vec<&str> {
        quoted_in(Format::Text, text)
    }

    #[test]
    fn a_quotation_ends_with_its_own_mark_in_its_own_paragraph() {
        assert_eq!(quoted("He said \"no\", and “yes “and” no”."), ["\"no\"", "“yes “and”"]);
        assert_eq!(quoted("Er sagte „nein“, »ja« und „vielleicht”."), ["„nein“", "»ja«", "„vielleicht”"]);
        assert_eq!(
            quoted("Elle dit : « non, il dit \"oui\" » ; 彼は「いいえ」と"),
            ["« non, il dit \"oui\" »", "「いいえ」"]
        );
        assert_eq!(quoted("A 3\" pipe, 'single', it's. \"Two\nlines.\""), ["\"Two\nlines.\""]);
        assert_eq!(quoted("\"Never ended.\n \nThe next, with \"one\" in it."), ["\"one\""]);
        assert_eq!(quoted("\"Never ended"), [""; 0]);
        assert_eq!(quoted("``It is so'', he said, and ``so ``it'' is. `It' is."), ["``It is so''", "``so ``it''"]);
    }

    /// The quotations of a document of this format.
    fn quoted_in(format: Format, text: &str) -> Vec<&str> {
        let spans = quotations(text.as_bytes(), format, &InputLimits::default()).unwrap();
        spans.into_iter().map(|span| &text[span.start as usize..span.end as usize]).collect()
    }

    #[test]
    fn a_quotation_continues_in_a_paragraph_that_begins_with_its_mark() {
        for (open, close) in [("“", "”"), ("\"", "\""), ("``", "''"), ("«", "»"), ("„", "“")] {
            let whole = format!("{open}One\ntwo.\n \n\n  {open}Three.\n\n{open}Four{close}");
            assert_eq!(quoted(&format!("He said: {whole} to us.\n\nFive.")), [whole.as_str()]);
            assert_eq!(quoted(&format!("{open}One.\n\n{open}Two.\n\nThree{close}")), [""; 0], "{open}");
            let next = format!("{open}Three{close}");
            assert_eq!(quoted(&format!("{open}One.\n\nTwo {next}")), [next.as_str()]);
        }
    }

    /// The quotations of text whose pages end at form feeds.
    fn quoted_over_pages(text: &str) -> Vec<&str> {
        let pages: Vec<u64> = std::iter::once(0).chain(text.match_indices('\x0c').map(|(at, _)| at as u64)).collect();
        let spans = marked(utf8_characters(text.as_bytes()), &pages).into_iter();
        spans.map(|span| &text[span.start as usize..span.end as usize]).collect()
    }

    #[test]
    fn a_page_ends_no_quotation() {
        for (open, close) in [("“", "”"), ("\"", "\""), ("``", "''"), ("«", "»"), ("„", "“")] {
            for between in ["\x0c", "\n\x0c\n\n", "\n\n 7\n\x0c\n", "\n\n\x0c8\n\n", " \n\n\x0c\n\x0c\n\n"] {
                let whole = format!("{open}One{between}two{close}");
                assert_eq!(quoted_over_pages(&format!("He said: {whole} and so on.")), [whole.as_str()], "{between:?}");
                let whole = format!("{open}One{between}{open}two{close}");
                assert_eq!(quoted_over_pages(&whole), [whole.as_str()], "{between:?}");
                let two = format!("{open}Two{close}");
                let text = format!("{open}One{between}and on.\n\nThen {two}");
                assert_eq!(quoted_over_pages(&text), [two.as_str()], "{between:?}");
            }
            assert_eq!(quoted_over_pages(&format!("{open}One.\n\nTwo\x0cthree{close}")), [""; 0], "{open}");
            // A mark without a partner hides no page.
            assert_eq!(quoted_over_pages(&format!("{open}One\x0ctwo\x0cthree{close}")), [""; 0], "{open}");
        }
        // Without pages, a number begins a paragraph like a word.
        assert_eq!(quoted("\"One\n\n7\n\n\"Two\" three"), ["\"Two\""]);
    }

    #[test]
    fn lines_with_a_mark_are_quotations() {
        let text = "Own.\n> A line \n>another\n   > third\nOwn > and.\n    > code\n>";
        let expected = ["> A line \n>another\n   > third\n", ">"];
        assert_eq!(quoted_in(Format::Text, text), expected);
        assert_eq!(quoted_in(Format::Markdown, text), expected);
        assert_eq!(quoted_in(Format::Markdown, "# Own\n\n> “One”\n>\n> two\n\nOwn."), ["> “One”\n>\n> two\n"]);
    }

    #[test]
    fn markup_shows_quotations() {
        let tex = "\\documentclass{a}\\begin{document}Own ``é''. \\begin{quote}One.\n\n\\begin{quotation}``Two''\\end{quotation} three\\end{quote} own \\end{quote}\\begin{quote}\\end{document}";
        let all = "\\begin{quote}One.\n\n\\begin{quotation}``Two''\\end{quotation} three\\end{quote}";
        assert_eq!(quoted_in(Format::Tex, tex), ["``é''", all]);
        let html =
            "<p>Own</p><BLOCKQUOTE cite=\"x\"><p>One</p><blockquote>two</blockquote></BlockQuote><p>\"Three\"</p>";
        let all = "<BLOCKQUOTE cite=\"x\"><p>One</p><blockquote>two</blockquote></BlockQuote";
        assert_eq!(quoted_in(Format::Html, html), [all, "\"Three\""]);
    }

    #[test]
    fn offsets_are_those_of_the_document() {
        let utf16: Vec<u8> = "ab “cd” e".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let with_mark = [&[0xFF, 0xFE][..], &utf16].concat();
        let spans = quotations(&with_mark, Format::Text, &InputLimits::default()).unwrap();
        assert_eq!(spans.len(), 1);
        assert_eq!((spans[0].start, spans[0].end), (8, 16));
        let html = "<p class=\"a\">He said &ldquo;no&rdquo; to \"all\"</p>";
        let spans = quotations(html.as_bytes(), Format::Html, &InputLimits::default()).unwrap();
        let texts: Vec<&str> = spans.iter().map(|span| &html[span.start as usize..span.end as usize]).collect();
        assert_eq!(texts, ["&ldquo;no&rdquo;", "\"all\""]);
    }
}
