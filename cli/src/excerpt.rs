//! Excerpt: shows the first words of a passage, or lines around its beginning and end, with line numbers as
//! in ripgrep.

use std::collections::HashMap;
use std::path::Path;

use encoding_rs::Encoding;
use fpdb::{Database, DocId, Format, Location, Match, Offsets, Profile, ReadOptions};

use super::render::{Style, escape_terminal};

/// Maximum bytes of a passage that are searched for its first words.
const LOOKED_AT: usize = 4096;

/// The source of the texts of matches, and the number of lines to show.
pub(crate) struct Excerpts<'a> {
    source: TextSource<'a>,
    read: &'a ReadOptions,
    /// Lines to show before and after the first and the last line of a passage. `None`: shows only the first
    /// words of the passage.
    context: Option<usize>,
    style: Style,
    /// The text of the last match.
    last: HashMap<DocId, Option<ExcerptText>>,
}

enum TextSource<'a> {
    Database(&'a Database),
    /// The second file of a comparison, and the profile with which it is read.
    File(&'a Path, &'a Profile),
}

/// The bytes of a document, and their encoding.
struct ExcerptText {
    bytes: Vec<u8>,
    encoding: &'static Encoding,
}

impl<'a> Excerpts<'a> {
    pub(crate) fn of_database(
        database: &'a Database,
        read: &'a ReadOptions,
        context: Option<usize>,
        style: Style,
    ) -> Self {
        Self { source: TextSource::Database(database), read, context, style, last: HashMap::new() }
    }

    pub(crate) fn of_file(
        file: &'a Path,
        profile: &'a Profile,
        read: &'a ReadOptions,
        context: Option<usize>,
        style: Style,
    ) -> Self {
        Self { source: TextSource::File(file, profile), read, context, style, last: HashMap::new() }
    }

    /// The lines to show for a passage at this location of a match. Empty if the text is unavailable.
    pub(crate) fn lines(&mut self, found: &Match, at: &Location) -> Vec<String> {
        if !self.last.contains_key(&found.id) {
            let text = self.text(found.id);
            self.last.clear();
            self.last.insert(found.id, text);
        }
        let Some(Some(text)) = self.last.get(&found.id) else { return Vec::new() };
        match self.context {
            None => first_words(text, at, self.style.columns()).into_iter().collect(),
            Some(context) => lines_around(text, at, context, self.style.columns()),
        }
    }

    /// The text of a document. `None` if the text is unavailable: then the passage is inferred, and the line
    /// of the passage says why.
    fn text(&self, id: DocId) -> Option<ExcerptText> {
        let (text, encoding) = match self.source {
            TextSource::Database(database) => {
                let encoding = database.document(id).ok()?.encoding;
                (database.text_within(id, &self.read.limits).ok()??, encoding)
            }
            TextSource::File(path, profile) => {
                (fpdb::text_of_file(path, profile.unit(), self.read).ok()?, String::new())
            }
        };
        // Extracted text is always UTF-8.
        let label =
            if text.offsets == Offsets::Extracted || text.format == Format::Bytes { "" } else { encoding.as_str() };
        let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::UTF_8);
        Some(ExcerptText { bytes: text.bytes, encoding })
    }
}

impl ExcerptText {
    fn decoded(&self, from: usize, to: usize) -> String {
        let piece = self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default();
        // NULs show that the text has a wide encoding that was not recorded, so the text cannot be shown.
        if self.encoding.is_ascii_compatible() && piece.contains(&0) {
            return String::new();
        }
        self.encoding.decode_without_bom_handling(piece).0.into_owned()
    }
}

/// The number of the first line of a passage, and its first words.
fn first_words(text: &ExcerptText, at: &Location, columns: Option<usize>) -> Option<String> {
    let start = usize::try_from(at.start).ok()?;
    let end = usize::try_from(at.end).ok()?.min(start.saturating_add(LOOKED_AT));
    let words: Vec<String> = text.decoded(start, end).split_whitespace().map(str::to_owned).collect();
    // Cut to 80 columns even without a terminal.
    (!words.is_empty()).then(|| line(at.lines[0], ':', &words.join(" "), columns.or(Some(80))))
}

/// The lines around the beginning and around the end of a passage, with `--` between them if lines are left
/// out. Lines of the passage have a colon, other lines a dash.
fn lines_around(text: &ExcerptText, at: &Location, context: usize, columns: Option<usize>) -> Vec<String> {
    let (Ok(start), Ok(end)) = (usize::try_from(at.start), usize::try_from(at.end)) else { return Vec::new() };
    if !text.encoding.is_ascii_compatible() {
        return first_words(text, at, columns).into_iter().collect();
    }
    let mut lines = Vec::new();
    let [first, last] = at.lines;
    let (begin, number) = back(&text.bytes, start, first, context);
    let next = push_lines(&mut lines, text, (begin, number), first + context as u64, (at, columns));
    let (begin, number) = back(&text.bytes, end.saturating_sub(1).max(start), last, context);
    if begin > next.0 {
        lines.push("      --".to_owned());
    }
    // If the two groups of lines overlap, each line is shown once.
    let from = if begin > next.0 { (begin, number) } else { next };
    push_lines(&mut lines, text, from, last + context as u64, (at, columns));
    lines
}

/// The start and the number of the line that lies `lines` lines before the line of `place`. `number` is the
/// number of the line of `place`.
fn back(bytes: &[u8], place: usize, mut number: u64, lines: usize) -> (usize, u64) {
    let before = bytes.get(..place).unwrap_or_default();
    let mut begin = line_start(before);
    for _ in 0..lines {
        if begin == 0 {
            break;
        }
        begin = line_start(&before[..begin - 1]);
        number -= 1;
    }
    (begin, number)
}

/// Adds the lines from a place to line number `last`. Returns the beginning and the number of the next line.
fn push_lines(
    lines: &mut Vec<String>,
    text: &ExcerptText,
    (mut begin, mut number): (usize, u64),
    last: u64,
    (at, columns): (&Location, Option<usize>),
) -> (usize, u64) {
    let bytes = &text.bytes[..];
    while begin < bytes.len() && number <= last {
        let end = bytes[begin..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| begin + length);
        let mark = if (at.lines[0]..=at.lines[1]).contains(&number) { ':' } else { '-' };
        lines.push(line(number, mark, text.decoded(begin, end.min(begin + LOOKED_AT)).trim_end(), columns));
        (begin, number) = (end + 1, number + 1);
    }
    (begin, number)
}

/// Beginning of the last line of these bytes.
fn line_start(before: &[u8]) -> usize {
    before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)
}

/// A line with its number, cut to `columns` columns.
fn line(number: u64, mark: char, text: &str, columns: Option<usize>) -> String {
    let line = format!("      {number}{mark} {}", escape_terminal(text));
    match columns.filter(|&columns| line.chars().nth(columns).is_some()) {
        None => line,
        Some(columns) => line.chars().take(columns - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ExcerptText {
        ExcerptText { bytes: text.as_bytes().to_vec(), encoding: encoding_rs::UTF_8 }
    }

    /// The location of a part of the text.
    fn place(text: &str, part: &str) -> Location {
        let start = text.find(part).unwrap();
        let line = |end: usize| 1 + text[..end].matches('\n').count();
        let (start, end) = (start, start + part.len());
        serde_json::from_value(serde_json::json!({"start": start, "end": end, "lines": [line(start), line(end - 1)]}))
            .unwrap()
    }

    #[test]
    fn first_words_run_over_line_ends_and_are_cut_at_the_last_column() {
        let whole = "one\ntwo three\n  four five\nsix";
        let at = place(whole, "three\n  four five");
        assert_eq!(first_words(&text(whole), &at, Some(80)).unwrap(), "      2: three four five");
        assert_eq!(first_words(&text(whole), &at, Some(16)).unwrap(), "      2: three …");
        assert_eq!(first_words(&text("a \n b"), &place("a \n b", " \n "), Some(80)), None);
        // Like names, texts can hold control characters.
        assert!(
            !first_words(&text("\u{1b}[31mred"), &place("\u{1b}[31mred", "\u{1b}[31mred"), Some(80))
                .unwrap()
                .contains('\u{1b}')
        );
        let wide: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = ExcerptText { bytes: wide, encoding: encoding_rs::UTF_16LE };
        let at: Location =
            serde_json::from_value(serde_json::json!({"start": 16, "end": 26, "lines": [2, 2]})).unwrap();
        assert_eq!(first_words(&wide, &at, Some(80)).unwrap(), "      2: three");
    }

    #[test]
    fn long_passages_show_their_beginning_and_their_end() {
        let whole = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let around = |part: &str, context: usize| {
            lines_around(&text(whole), &place(whole, part), context, None).join("|").replace(' ', "")
        };
        assert_eq!(around("b\nc\nd\ne\nf\ng", 0), "2:b|--|7:g");
        assert_eq!(around("b\nc\nd\ne\nf\ng\n", 1), "1-a|2:b|3:c|--|6:f|7:g|8-h");
        assert_eq!(around("b\nc\nd\ne\nf\ng", 2), "1-a|2:b|3:c|4:d|5:e|6:f|7:g|8-h");
        assert_eq!(around("h\n", 1), "7-g|8:h");
        let long = format!("{}\n", "x".repeat(300));
        let line = |columns| lines_around(&text(&long), &place(&long, "xx"), 0, columns)[0].chars().count();
        assert_eq!((line(None), line(Some(120))), (309, 120));
    }

    #[test]
    fn lines_around_are_marked_as_of_the_passage_or_not() {
        let whole = "one\r\ntwo\r\nthree\r\nfour\r\nfive";
        let at = place(whole, "two\r\nthree");
        let around = |context: usize| lines_around(&text(whole), &at, context, None).join("|");
        assert_eq!(around(0), "      2: two|      3: three");
        assert_eq!(around(1), "      1- one|      2: two|      3: three|      4- four");
        assert_eq!(around(2), "      1- one|      2: two|      3: three|      4- four|      5- five");
        assert_eq!(around(9), "      1- one|      2: two|      3: three|      4- four|      5- five");
    }
}
