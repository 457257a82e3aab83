//! Phrases: what is known to be said by everybody, one a line of a file, and is not to count in a query.
//!
//! A phrase is compared in the standard form, as documents are: case, layout and, with characters, spaces make no difference.
//! All phrases are looked for at once (Aho and Corasick 1975). The automaton reads bytes, so each symbol that some phrase
//! has is given a number and written as the character of that number in UTF-8: no character begins within another, so that
//! none is found where symbols do not begin. A symbol of no phrase is the character 0.

use std::ops::Range;
use std::path::{Path, PathBuf};

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::passages::union;
use super::text::Symboliser;
use crate::document::Format;
use crate::error::{Error, Result};
use crate::profile::{Profile, Unit};

/// Phrases to be ignored, as they stand in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrases {
    path: PathBuf,
    /// The number of the line, and what stands there.
    lines: Vec<(u64, String)>,
}

impl Phrases {
    /// Reads a file of phrases: UTF-8, one a line. Empty lines are left out, and those that begin with `#`.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Phrase`] for a line that is not UTF-8, and where there is no phrase.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
        let wrong = |line: u64, why| Error::Phrase { path: path.to_owned(), line, why };
        let mut lines = Vec::new();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let line = str::from_utf8(line).map_err(|_| wrong(number, "it is not UTF-8"))?.trim();
            if !line.is_empty() && !line.starts_with('#') {
                lines.push((number, line.to_owned()));
            }
        }
        if lines.is_empty() {
            return Err(wrong(1, "there is no phrase in the file"));
        }
        Ok(Self { path: path.to_owned(), lines })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// How many have fewer than k symbols, and so ignore nothing unless others stand beside them.
    ///
    /// # Errors
    /// [`Error::Phrase`] for a phrase of which nothing is left in the standard form; [`Error::InvalidParameter`] for a unit
    /// other than characters and words.
    pub fn shorter_than_k(&self, profile: &Profile) -> Result<usize> {
        Ok(self.symbols(profile)?.iter().filter(|phrase| phrase.len() < profile.k as usize).count())
    }

    /// The symbols of each.
    fn symbols(&self, profile: &Profile) -> Result<Vec<Vec<u64>>> {
        if matches!(profile.unit, Unit::Byte | Unit::Token) {
            return Err(Error::InvalidParameter {
                name: "--ignore-phrases",
                value: self.path.display().to_string(),
                expected: "documents read as prose: unit char or word",
            });
        }
        let mut symboliser = Symboliser::new(profile);
        let symbols_of = |(number, phrase): &(u64, String)| {
            let text = symboliser.read(phrase.as_bytes(), Format::Text)?;
            match text.values() {
                [] => Err(Error::Phrase {
                    path: self.path.clone(),
                    line: *number,
                    why: "the phrase has no letter or digit, so nothing of it is compared",
                }),
                values => Ok(values.to_vec()),
            }
        };
        self.lines.iter().map(symbols_of).collect()
    }
}

/// Finds phrases among symbols.
pub(crate) struct PhraseFinder {
    automaton: AhoCorasick,
    /// The character of each symbol that some phrase has.
    characters: FxHashMap<u64, char>,
    /// The symbols of each phrase.
    lengths: Vec<u32>,
}

impl PhraseFinder {
    /// A finder of these phrases, if there are any.
    ///
    /// # Errors
    /// As [`Phrases::shorter_than_k`].
    pub(crate) fn of(phrases: Option<&Phrases>, profile: &Profile) -> Result<Option<Self>> {
        let Some(phrases) = phrases else { return Ok(None) };
        let too_many = |_| Error::Phrase {
            path: phrases.path.clone(),
            line: phrases.lines.last().map_or(1, |(number, _)| *number),
            why: "there are too many phrases up to here to be looked for at once",
        };
        Self::of_symbols(&phrases.symbols(profile)?).map(Some).map_err(too_many)
    }

    fn of_symbols(phrases: &[Vec<u64>]) -> std::result::Result<Self, TooMany> {
        let mut characters = FxHashMap::default();
        for &symbol in phrases.iter().flatten() {
            let number = characters.len() as u32 + 1;
            // The numbers of surrogates are no characters.
            let number = if number < 0xD800 { number } else { number + 0x800 };
            let character = char::from_u32(number).ok_or(TooMany)?;
            characters.entry(symbol).or_insert(character);
        }
        let written = phrases.iter().map(|phrase| phrase.iter().map(|symbol| characters[symbol]).collect::<String>());
        // All occurrences are asked for, those that overlap as well.
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(written).map_err(|_| TooMany)?;
        let lengths = phrases.iter().map(|phrase| phrase.len() as u32).collect();
        Ok(Self { automaton, characters, lengths })
    }

    /// The symbols that are part of a phrase: ranges in order, apart from each other.
    pub(super) fn find(&self, symbols: &[u64]) -> Vec<Range<u32>> {
        let character = |symbol: &u64| self.characters.get(symbol).copied().unwrap_or('\0');
        let text: String = symbols.iter().map(character).collect();
        let mut ends = symbols.iter().zip(1u32..).scan(0, |end, (symbol, number)| {
            *end += character(symbol).len_utf8();
            Some((*end, number))
        });
        let mut last = (0, 0);
        let found: Vec<Range<u32>> = self
            .automaton
            .find_overlapping_iter(&text)
            .map(|found| {
                // They come in order of their ends.
                while last.0 < found.end()
                    && let Some(next) = ends.next()
                {
                    last = next;
                }
                last.1 - self.lengths[found.pattern().as_usize()]..last.1
            })
            .collect();
        union(found.iter())
    }
}

/// More phrases than an automaton can hold.
#[derive(Debug)]
struct TooMany;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_found_is_what_comparing_each_place_finds(
            phrases in prop::collection::vec(prop::collection::vec(0u64..4, 1..6), 1..6),
            text in prop::collection::vec(0u64..5, 0..60),
            // Symbols whose characters have two bytes.
            others in 0u64..300,
        ) {
            let filler: Vec<u64> = (100..100 + others).collect();
            let phrases = if others > 0 { [&[filler][..], &phrases].concat() } else { phrases };
            let finder = PhraseFinder::of_symbols(&phrases).unwrap();
            let mut expected = vec![false; text.len()];
            for phrase in &phrases {
                for from in 0..text.len() {
                    if text[from..].starts_with(phrase) {
                        expected[from..from + phrase.len()].fill(true);
                    }
                }
            }
            let mut found = vec![false; text.len()];
            for range in finder.find(&text) {
                found[range.start as usize..range.end as usize].fill(true);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_hundred_thousand_phrases_are_looked_for_at_once() {
        let phrases: Vec<Vec<u64>> =
            (0..100_000u64).map(|phrase| vec![phrase, phrase + 1, phrase * 7 % 65_537]).collect();
        let finder = PhraseFinder::of_symbols(&phrases).unwrap();
        let text = [&phrases[70_000][..], &[200_000], &phrases[3], &phrases[4][..2]].concat();
        assert_eq!(finder.find(&text), [0..3, 4..7]);
    }
}
