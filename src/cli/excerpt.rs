//! Excerpt: the first words of a passage, or some lines around where it begins, with line numbers, as ripgrep shows matches.

use std::collections::HashMap;
use std::path::Path;

use encoding_rs::Encoding;
use fpdb::{Database, DocId, Format, Location, Match, Offsets, Profile, ReadOptions};

use super::render::{Style, escape_terminal};

/// The most bytes of a passage that are looked at for its first words.
const LOOKED_AT: usize = 4096;

/// Where the texts of matches are to be had, and how much of them is shown.
pub(crate) struct Excerpts<'a> {
    source: TextSource<'a>,
    read: &'a ReadOptions,
    /// Lines before and after the one in which a passage begins; the passage's first words alone where `None`.
    context: Option<usize>,
    style: Style,
    /// The text of the match that was asked about last.
    last: HashMap<DocId, Option<ExcerptText>>,
}

enum TextSource<'a> {
    Database(&'a Database),
    /// The file that is compared with, and how.
    File(&'a Path, &'a Profile),
}

/// A document, and how its bytes become characters.
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

    /// The lines of text for the passage of a match that is here in its document; none where its text is gone.
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

    /// The reason why a text is unreadable was shown with the passage, which is inferred then.
    fn text(&self, id: DocId) -> Option<ExcerptText> {
        let (text, encoding) = match self.source {
            TextSource::Database(database) => {
                let encoding = database.document(id).ok()?.encoding;
                (database.text_within(id, &self.read.limits).ok()??, encoding)
            }
            TextSource::File(path, profile) => (fpdb::text_of_file(path, profile.unit, self.read).ok()?, String::new()),
        };
        // Extracted text is UTF-8 whatever its document is.
        let label =
            if text.offsets == Offsets::Extracted || text.format == Format::Bytes { "" } else { encoding.as_str() };
        let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::UTF_8);
        Some(ExcerptText { bytes: text.bytes, encoding })
    }
}

impl ExcerptText {
    fn decoded(&self, from: usize, to: usize) -> String {
        let piece = self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default();
        // NULs come from a wide encoding that is not recorded: no text to show.
        if self.encoding.is_ascii_compatible() && piece.contains(&0) {
            return String::new();
        }
        self.encoding.decode_without_bom_handling(piece).0.into_owned()
    }
}

/// The number of the line in which a passage begins, and its first words.
fn first_words(text: &ExcerptText, at: &Location, columns: usize) -> Option<String> {
    let start = usize::try_from(at.start).ok()?;
    let end = usize::try_from(at.end).ok()?.min(start.saturating_add(LOOKED_AT));
    let words: Vec<String> = text.decoded(start, end).split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then(|| line(at.lines[0], ':', &words.join(" "), columns))
}

/// The line in which a passage begins, and the lines around it: those of the passage with a colon, the others with a dash.
fn lines_around(text: &ExcerptText, at: &Location, context: usize, columns: usize) -> Vec<String> {
    let Ok(start) = usize::try_from(at.start) else { return Vec::new() };
    if !text.encoding.is_ascii_compatible() {
        return first_words(text, at, columns).into_iter().collect();
    }
    let bytes = &text.bytes[..];
    let before = bytes.get(..start).unwrap_or_default();
    let mut begin = line_start(before);
    let mut number = at.lines[0];
    for _ in 0..context {
        if begin == 0 {
            break;
        }
        begin = line_start(&before[..begin - 1]);
        number -= 1;
    }
    let mut lines = Vec::new();
    while begin < bytes.len() && number <= at.lines[0] + context as u64 {
        let end = bytes[begin..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| begin + length);
        let mark = if (at.lines[0]..=at.lines[1]).contains(&number) { ':' } else { '-' };
        lines.push(line(number, mark, text.decoded(begin, end.min(begin + LOOKED_AT)).trim_end(), columns));
        (begin, number) = (end + 1, number + 1);
    }
    lines
}

/// Where the line begins that goes on after these bytes.
fn line_start(before: &[u8]) -> usize {
    before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)
}

/// A numbered line that fits so many columns.
fn line(number: u64, mark: char, text: &str, columns: usize) -> String {
    let line = format!("      {number}{mark} {}", escape_terminal(text));
    match line.char_indices().nth(columns) {
        None => line,
        Some(_) => line.chars().take(columns - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ExcerptText {
        ExcerptText { bytes: text.as_bytes().to_vec(), encoding: encoding_rs::UTF_8 }
    }

    /// The place of a part of the text.
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
        assert_eq!(first_words(&text(whole), &at, 80).unwrap(), "      2: three four five");
        assert_eq!(first_words(&text(whole), &at, 16).unwrap(), "      2: three …");
        assert_eq!(first_words(&text("a \n b"), &place("a \n b", " \n "), 80), None);
        // A name of a document is not the only thing that could talk to a terminal.
        assert!(
            !first_words(&text("\u{1b}[31mred"), &place("\u{1b}[31mred", "\u{1b}[31mred"), 80)
                .unwrap()
                .contains('\u{1b}')
        );
        let wide: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = ExcerptText { bytes: wide, encoding: encoding_rs::UTF_16LE };
        let at: Location =
            serde_json::from_value(serde_json::json!({"start": 16, "end": 26, "lines": [2, 2]})).unwrap();
        assert_eq!(first_words(&wide, &at, 80).unwrap(), "      2: three");
    }

    #[test]
    fn lines_around_are_marked_as_of_the_passage_or_not() {
        let whole = "one\r\ntwo\r\nthree\r\nfour\r\nfive";
        let at = place(whole, "two\r\nthree");
        let around = |context: usize| lines_around(&text(whole), &at, context, 80).join("|");
        assert_eq!(around(0), "      2: two");
        assert_eq!(around(1), "      1- one|      2: two|      3: three");
        assert_eq!(around(2), "      1- one|      2: two|      3: three|      4- four");
        assert_eq!(around(9), "      1- one|      2: two|      3: three|      4- four|      5- five");
    }
}
