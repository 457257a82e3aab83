//! References for unit char and unit word. They read the whole text at once. Tests compare the front-ends
//! with them.

use std::ops::Range;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizer;
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_segmentation::UnicodeSegmentation;

use super::value::{value_of_char, value_of_word};
use crate::profile::WordRule;

/// The value of a symbol and its origin.
pub(super) type Symbol = (u64, Range<u64>);

pub(super) fn standard_form(text: &str) -> String {
    let nfkc = ComposingNormalizer::new_nfkc();
    nfkc.normalize(&CaseMapper::new().fold_string(&nfkc.normalize(text))).into_owned()
}

pub(super) fn is_ignorable(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

pub(super) fn is_mark(c: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    [GeneralCategory::NonspacingMark, GeneralCategory::SpacingMark].contains(&category)
}

pub(super) fn reference_chars(text: &str) -> Vec<u64> {
    let form = standard_form(text);
    form.chars().filter(|&c| (c.is_alphanumeric() || is_mark(c)) && !is_ignorable(c)).map(value_of_char).collect()
}

pub(super) fn reference_words(text: &str, rule: WordRule) -> Vec<Symbol> {
    let mut ranges = Vec::new();
    for piece in text.split(char::is_whitespace) {
        let piece_at = piece.as_ptr() as usize - text.as_ptr() as usize;
        for (at, segment) in piece.split_word_bound_indices() {
            let at = piece_at + at;
            match rule {
                WordRule::Unicode if segment.contains(char::is_alphanumeric) => ranges.push(at..at + segment.len()),
                WordRule::Unicode => {}
                WordRule::Letters => {
                    let mut from = None;
                    for (offset, c) in segment.char_indices().chain([(segment.len(), '.')]) {
                        match from {
                            None if c.is_alphabetic() => from = Some(offset),
                            Some(start) if !(c.is_alphabetic() || is_mark(c) || is_ignorable(c)) => {
                                ranges.push(at + start..at + offset);
                                from = None;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    let fold = |range: Range<usize>| {
        let form: String = standard_form(&text[range.clone()]).chars().filter(|&c| !is_ignorable(c)).collect();
        (!form.is_empty()).then(|| (value_of_word(&form), range.start as u64..range.end as u64))
    };
    ranges.into_iter().filter_map(fold).collect()
}
