//! Prints pairs as text for people.

use std::fmt::Write;

use fpdb::pairs::Pair;

use super::csv::PairText;
use super::folder::{in_folder, name_in};
use super::human::{FILES_SHOWN, labels};
use super::numbers::{count, grouped, percent};
use super::style::Style;

/// The optional columns of a list of pairs.
#[derive(Clone, Copy)]
pub(crate) struct PairColumns {
    /// True if the score has a column. If fingerprints are weighted, it differs from the resemblance.
    pub(crate) score: bool,
    /// The text whose resemblance has a column.
    pub(crate) text: PairText,
    /// True if the number of symbols of the longest passage has a column.
    pub(crate) longest: bool,
}

impl PairColumns {
    /// True if the number of shared fingerprints of the text is known.
    fn shared_as_text(self) -> bool {
        self.text == PairText::View
    }
}

/// The names of the columns of [`pair_line`].
pub(crate) fn pair_header_line(columns: PairColumns, folder: &str) -> String {
    let longest = if columns.longest { "  longest  " } else { "" };
    let score = if columns.score { "    score  " } else { "" };
    let text = if columns.text != PairText::None { "     text  " } else { "" };
    let names = if folder.is_empty() { String::new() } else { format!("  documents{}", in_folder(folder)) };
    let as_text = if columns.shared_as_text() { "    as text" } else { "" };
    format!(
        "{longest}{score}{text}{:>11}  {:>9}  {:>9}  {:>9}{as_text}{names}\n",
        "resemblance", "a in b", "b in a", "shared"
    )
}

/// The figures of a pair, in its columns.
fn measures(pair: &Pair, columns: PairColumns) -> String {
    let longest = pair.longest.map_or_else(|| "-".to_owned(), grouped);
    let longest = if columns.longest { format!("{longest:>9}  ") } else { String::new() };
    let score = if columns.score { format!("{:>9}  ", percent(pair.score)) } else { String::new() };
    let text = pair.text_resemblance.map_or_else(|| "-".to_owned(), percent);
    let text = if columns.text != PairText::None { format!("{text:>9}  ") } else { String::new() };
    let as_text = pair.text_shared.map_or_else(|| "-".to_owned(), grouped);
    let as_text = if columns.shared_as_text() { format!("{as_text:>9}  ") } else { String::new() };
    format!(
        "{longest}{score}{text}{:>11}  {:>9}  {:>9}  {:>9}  {as_text}",
        percent(pair.resemblance),
        percent(pair.containment_a),
        percent(pair.containment_b),
        grouped(pair.shared),
    )
}

/// One pair.
pub(crate) fn pair_line(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    let measures = measures(pair, columns);
    let [a, b] = [(&pair.a, &pair.a_metadata), (&pair.b, &pair.b_metadata)]
        .map(|(name, metadata)| (name_in(name, folder), labels(metadata)));
    // If two names do not fit on one line, they are shown on two lines.
    let long = measures.len() + [&*a.0, &a.1, &b.0, &b.1].map(|text| text.chars().count()).iter().sum::<usize>() + 2;
    let between = match style.width {
        Some(width) if long > width => format!("\n{:width$}", "", width = measures.len()),
        _ => "  ".to_owned(),
    };
    format!("{measures}{}{}{between}{}{}\n", style.strong(&a.0), a.1, style.strong(&b.0), b.1)
}

/// The best pairs of files of two submissions.
pub(crate) fn file_lines(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    let mut lines = String::new();
    // A document outside any submission already has its name in the line of the pair.
    let files = pair.files.iter().filter(|file| (&file.a, &file.b) != (&pair.a, &pair.b));
    for file in files.take(FILES_SHOWN) {
        let [a, b] = [&file.a, &file.b].map(|name| name_in(name, folder));
        let _ = writeln!(lines, "{}", style.faint(&format!("{}  {a}  {b}", measures(file, columns))));
    }
    lines
}

/// A note on the hashes that the df cap excludes.
pub(crate) fn common_left_out(hashes: u64, most: u64) -> String {
    let (are, were) = if hashes == 1 { ("is", "was") } else { ("are", "were") };
    format!(
        "{} {are} held by more than {} each and {were} not counted (--max-df)",
        count(hashes, "fingerprint"),
        count(most, "document")
    )
}

/// A note on the hashes that boilerplate excludes.
pub(crate) fn boilerplate_left_out(hashes: u64) -> String {
    let (are, were) = if hashes == 1 { ("is", "was") } else { ("are", "were") };
    format!("{} {are} held by boilerplate and {were} not counted", count(hashes, "fingerprint"))
}

/// A line with the number of pairs.
pub(crate) fn pairs_total(printed: u64, all: u64) -> String {
    match all - printed {
        0 => format!("{}\n", count(all, "pair")),
        _ => format!("{} of {} (--top 0 prints all)\n", grouped(printed), count(all, "pair")),
    }
}
