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
    /// The width of these columns.
    fn width(self) -> usize {
        let columns = [self.longest, self.score, self.text != PairText::None];
        11 * columns.into_iter().map(usize::from).sum::<usize>()
    }
}

/// The names of the columns of [`pair_line`].
pub(crate) fn pair_header_line(columns: PairColumns, folder: &str) -> String {
    let longest = if columns.longest { "  longest  " } else { "" };
    let score = if columns.score { "    score  " } else { "" };
    let text = if columns.text != PairText::None { "     text  " } else { "" };
    let names = if folder.is_empty() { String::new() } else { format!("  documents{}", in_folder(folder)) };
    format!("{longest}{score}{text}{:>11}  {:>9}  {:>9}  {:>9}{names}\n", "resemblance", "a in b", "b in a", "shared")
}

/// One pair.
pub(crate) fn pair_line(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    let longest = pair.longest.map_or_else(|| "-".to_owned(), grouped);
    let longest = if columns.longest { format!("{longest:>9}  ") } else { String::new() };
    let score = if columns.score { format!("{:>9}  ", percent(pair.score)) } else { String::new() };
    let text = pair.text_resemblance.map_or_else(|| "-".to_owned(), percent);
    let text = if columns.text != PairText::None { format!("{text:>9}  ") } else { String::new() };
    let measures = format!(
        "{longest}{score}{text}{:>11}  {:>9}  {:>9}  {:>9}  ",
        percent(pair.resemblance),
        percent(pair.containment_a),
        percent(pair.containment_b),
        grouped(pair.shared),
    );
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

/// The files of two submissions that share most.
pub(crate) fn file_lines(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    // Aligns the lines with the column of shared fingerprints.
    let indent = columns.width() + 33;
    let mut lines = String::new();
    // A document outside any submission already has its name in the line of the pair.
    let files = pair.files.iter().filter(|file| (&file.a, &file.b) != (&pair.a, &pair.b));
    for file in files.take(FILES_SHOWN) {
        let [a, b] = [&file.a, &file.b].map(|name| name_in(name, folder));
        let _ = writeln!(lines, "{:indent$}  {:>9}    {}", "", grouped(file.shared), style.faint(&format!("{a}  {b}")));
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
