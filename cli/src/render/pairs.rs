//! Prints pairs as text for people.

use fpdb::pairs::Pair;

use super::folder::{in_folder, name_in};
use super::human::FILES_SHOWN;
use super::metadata::{changed, labels};
use super::numbers::{count, grouped, is, percent, was};
use super::style::Style;

/// The optional columns of a list of pairs, and of its table.
#[derive(Clone, Copy)]
pub(crate) struct PairColumns {
    /// True if the score has a column, because it differs from the resemblance: with weighted fingerprints,
    /// or with two views.
    pub(crate) score: bool,
    /// True if the measures of the text as written have columns: with two views.
    pub(crate) text: bool,
    /// True if the number of symbols of the longest passage has a column.
    pub(crate) longest: bool,
    /// True if passages were searched for. A table of pairs of submissions then also has rows for the pairs
    /// of their files.
    pub(crate) passages: bool,
    /// True if documents are joined into submissions: a table then names the submissions and their best two
    /// files.
    pub(crate) by_submission: bool,
    /// True if a table shows the times of files.
    pub(crate) times: bool,
    /// True if a table shows which documents are old.
    pub(crate) divided: bool,
}

/// The names of the columns of [`pair_line`].
pub(crate) fn pair_header_line(columns: PairColumns, folder: &str) -> String {
    let longest = if columns.longest { "  longest  " } else { "" };
    let score = if columns.score { "    score  " } else { "" };
    let text = if columns.text { "     text  " } else { "" };
    let names = if folder.is_empty() { String::new() } else { format!("  documents{}", in_folder(folder)) };
    let as_text = if columns.text { "    as text" } else { "" };
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
    let own = pair.measures();
    let text = own.text_resemblance.map_or_else(|| "-".to_owned(), percent);
    let text = if columns.text { format!("{text:>9}  ") } else { String::new() };
    let as_text = pair.text_shared.map_or_else(|| "-".to_owned(), grouped);
    let as_text = if columns.text { format!("{as_text:>9}  ") } else { String::new() };
    format!(
        "{longest}{score}{text}{:>11}  {:>9}  {:>9}  {:>9}  {as_text}",
        percent(own.resemblance),
        percent(own.containment_a),
        percent(own.containment_b),
        grouped(pair.shared),
    )
}

/// One pair.
pub(crate) fn pair_line(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    let measures = measures(pair, columns);
    let a = (&pair.a, pair.a_old, &pair.a_metadata, pair.a_modified);
    let b = (&pair.b, pair.b_old, &pair.b_metadata, pair.b_modified);
    let names = [a, b].map(|(name, is_old, metadata, modified)| {
        let old = if is_old { "  (old)" } else { "" };
        let (name, labels) = (name_in(name, folder), old.to_owned() + &labels(metadata) + &changed(modified));
        (name.chars().count() + labels.chars().count(), style.strong(&name) + &labels)
    });
    line(&measures, measures.len(), names, style)
}

/// The figures and the names of a pair. If two names do not fit on one line, they are shown on two lines.
/// `width` is the width of the figures. Each name comes with its own width.
fn line(measures: &str, width: usize, [(a_width, a), (b_width, b)]: [(usize, String); 2], style: Style) -> String {
    let between = match style.width {
        Some(columns) if width + a_width + 2 + b_width > columns => format!("\n{:width$}", ""),
        _ => "  ".to_owned(),
    };
    format!("{measures}{a}{between}{b}\n")
}

/// The best pairs of files of two submissions.
pub(crate) fn file_lines(pair: &Pair, columns: PairColumns, folder: &str, style: Style) -> String {
    // A document outside any submission already has its name in the line of the pair.
    let files = pair.files.iter().filter(|file| (&file.a, &file.b) != (&pair.a, &pair.b));
    let lines = files.take(FILES_SHOWN).map(|file| {
        let measures = measures(file, columns) + "  ";
        let names = [(&file.a, file.a_modified), (&file.b, file.b_modified)].map(|(name, modified)| {
            let name = format!("{}{}", name_in(name, folder), changed(modified));
            (name.chars().count(), style.faint(&name))
        });
        line(&style.faint(&measures), measures.len(), names, style)
    });
    lines.collect()
}

/// A note on the hashes that the df cap excludes.
pub(crate) fn common_left_out(hashes: u64, most: u64) -> String {
    let (are, were) = (is(hashes), was(hashes));
    format!(
        "{} {are} held by more than {} each and {were} not counted (--max-df)",
        count(hashes, "fingerprint"),
        count(most, "document")
    )
}

/// A note on the hashes that boilerplate excludes.
pub(crate) fn boilerplate_left_out(hashes: u64) -> String {
    let (are, were) = (is(hashes), was(hashes));
    format!("{} {are} held by boilerplate and {were} not counted", count(hashes, "fingerprint"))
}

/// A line with the number of pairs. A pair with one long passage can have a low score, so if pairs are left
/// out, the line names the flag that lists such pairs first.
pub(crate) fn pairs_total(printed: u64, all: u64, by_longest: bool) -> String {
    let longest = if by_longest { "" } else { "; --sort longest puts long passages first" };
    match all - printed {
        0 => format!("{}\n", count(all, "pair")),
        _ => format!("{} of {} (--top 0 prints all{longest})\n", grouped(printed), count(all, "pair")),
    }
}
