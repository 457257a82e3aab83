//! Disguise: finds words that look like other words and have other symbols.
//!
//! A Cyrillic `а` in an English word looks like the Latin letter, and a zero-width space in a word is
//! invisible. Copied text with such words does not match its source. Fingerprints do not change because of
//! such words: the words are only counted.

use std::iter::once;
use std::ops::Range;

/// The Latin letters that look like Cyrillic ones, and those that look like Greek ones.
const LATIN: [&str; 2] = ["aceijopsxyABCEHIJKMOPSTXY", "oABEHIKMNOPTXYZ"];

/// The Cyrillic letters that look like Latin ones, and the Greek ones. The only small Greek letter is
/// omicron: the others mostly belong to formulas and units, such as νmax.
const OTHERS: [&str; 2] = ["асеіјорѕхуһԁԛԝАВСЕНІЈКМОРЅТХУ", "οΑΒΕΗΙΚΜΝΟΡΤΧΥΖ"];

/// A text is reported if it has at least `LEAST` disguised words, and at least one for each `MOST_TO_ONE`
/// words. Fewer disguised words may be slips of the keyboard or of a scanner.
const LEAST: u64 = 5;
const MOST_TO_ONE: u64 = 1000;

/// The letters of a word so far.
#[derive(Default)]
struct Letters {
    latin: u32,
    /// Cyrillic and Greek letters.
    others: [u32; 2],
    /// `latin_alike`: Latin letters that look like Cyrillic ones, and like Greek ones. `others_alike`:
    /// Cyrillic letters, and Greek letters, that look like Latin ones.
    latin_alike: [u32; 2],
    others_alike: [u32; 2],
    /// True if the word has a letter of a further script. Such a word may mix scripts, as in `Tシャツ`.
    has_further: bool,
    /// `breaks`: a zero-width space followed the last letter. `is_broken`: a letter followed such a space.
    breaks: bool,
    is_broken: bool,
}

impl Letters {
    fn add(&mut self, c: char) {
        self.is_broken |= std::mem::take(&mut self.breaks);
        match c {
            'A'..='Z' | 'a'..='z' | 'À'..='ɏ' | 'Ḁ'..='ỿ' => {
                self.latin += 1;
                (0..2).for_each(|script| self.latin_alike[script] += u32::from(LATIN[script].contains(c)));
            }
            'Ѐ'..='ԯ' | 'Ͱ'..='Ͽ' => {
                let script = usize::from(!('Ѐ'..='ԯ').contains(&c));
                self.others[script] += 1;
                self.others_alike[script] += u32::from(OTHERS[script].contains(c));
            }
            _ => self.has_further = true,
        }
    }

    /// True if the word has letters of two scripts, and all letters of one of them look like letters of the
    /// other.
    fn are_mixed(&self) -> bool {
        let in_script = |script: usize| {
            let (latin, others) = (self.latin, self.others[script]);
            let looks_latin = self.others_alike[script] == others;
            let looks_other = self.latin_alike[script] == latin && others > latin;
            latin > 0 && others > 0 && latin + others > 2 && (looks_latin || looks_other)
        };
        !self.has_further && (self.others[0] == 0 || self.others[1] == 0) && (in_script(0) || in_script(1))
    }
}

/// The number of disguised words, and the byte range of the first. A disguised word mixes letters of two
/// scripts that look alike. With `breaks`, words with a zero-width space inside count too. `None` if there
/// are too few disguised words to report.
pub fn disguised_words(text: &str, breaks: bool) -> Option<(u64, Range<usize>)> {
    // The first bytes of Greek and Cyrillic letters in UTF-8.
    let may_mix = text.bytes().any(|byte| (0xCD..=0xD4).contains(&byte));
    let may_break = breaks && text.contains('\u{200B}');
    if !may_mix && !may_break {
        return None;
    }
    let (mut found, mut words, mut example) = (0, 0, None);
    let mut word: Option<(usize, Letters)> = None;
    for (at, c) in text.char_indices().chain(once((text.len(), ' '))) {
        match c {
            _ if c.is_alphabetic() => word.get_or_insert_with(|| (at, Letters::default())).1.add(c),
            '\u{200B}' => word.iter_mut().for_each(|(_, letters)| letters.breaks = true),
            // Accents, the soft hyphen, joiners, and the byte order mark inside a text.
            '\u{300}'..='\u{36F}' | '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{FEFF}' => {}
            _ => {
                let Some((start, letters)) = word.take() else { continue };
                words += 1;
                if letters.are_mixed() || breaks && letters.is_broken && !letters.has_further {
                    found += 1;
                    example.get_or_insert(start..at);
                }
            }
        }
    }
    example.filter(|_| found >= LEAST && found * MOST_TO_ONE >= words).map(|example| (found, example))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(u64, &str)> {
        let (words, example) = disguised_words(text, true)?;
        Some((words, &text[example]))
    }

    #[test]
    fn words_of_two_scripts_that_look_like_one_are_found() {
        let text = "The committee reported that several members opposed the measure. ";
        for (latin, other) in [("aeo", "аео"), ("o", "ο"), ("T", "Т")] {
            let disguised: String = text
                .repeat(8)
                .chars()
                .map(|c| latin.chars().position(|of| of == c).map_or(c, |place| other.chars().nth(place).unwrap()))
                .collect();
            let (words, example) = found(&disguised).unwrap();
            assert!(words >= 8 && example.chars().any(|c| other.contains(c)), "{words} {example}");
        }
        let russian =
            "Комиссия сообщила, что несколько членов выступили против этой меры. ".repeat(2).replace('о', "o");
        assert_eq!(found(&russian).map(|(words, example)| (words >= 6, example)), Some((true, "Кoмиссия")));
        // A few disguised words count as slips, also in a long text.
        assert_eq!(found(&"сору that ".repeat(9)), None);
        assert_eq!(found(&"cоpy that ".repeat(4)), None);
        assert_eq!(found(&("cоpy that ".repeat(5))), Some((5, "cоpy")));
        assert_eq!(found(&("cоpy that ".repeat(5) + &"and so on ".repeat(2000))), None);
    }

    #[test]
    fn words_with_an_invisible_break_are_found() {
        let text = "mea\u{200B}sure the mem\u{AD}bers of\u{200B} \u{200B}it ".repeat(5);
        assert_eq!(disguised_words(&text, true), Some((5, 0..10)));
        assert_eq!(disguised_words(&text, false), None);
        assert_eq!(found(&"ภาษา\u{200B}ไทย ".repeat(9)), None);
    }

    #[test]
    fn scripts_that_are_mixed_by_right_are_not() {
        let text =
            "Tシャツ 3µm 5μm kΩ ΔT ΔE αβγ νmax σx IT-отдел iPhone pH-метр 3D-печать АБВ ABC U2-концерт é ﬁ Straße ";
        assert_eq!(found(&text.repeat(20)), None);
    }
}
