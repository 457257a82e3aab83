//! Names: distinguishes passages of source code with the same names from passages with only the same
//! structure.
//!
//! All name tokens are equal as symbols. Here each name of a passage is compared with its counterpart in the
//! longest match that covers it.

use std::cmp::Reverse;

use crate::query::text::WholeText;
use fpdb_passages::{Joined, MaximalMatch};

/// Compares the names of one pair of documents, in bounded time.
pub(super) struct NameComparison<'a> {
    query: &'a WholeText,
    document: &'a WholeText,
    /// The matches of both texts, in order of the query.
    matches: &'a [MaximalMatch],
    /// Number of matches and symbols that may still be examined.
    budget: usize,
}

impl<'a> NameComparison<'a> {
    pub(super) fn new(query: &'a WholeText, document: &'a WholeText, matches: &'a [MaximalMatch]) -> Self {
        Self { query, document, matches, budget: 1 << 26 }
    }

    /// The share of a passage's names that are the same, 0 to 1. `None` if there are no names, or once the
    /// budget is spent.
    pub(super) fn same(&mut self, passage: &Joined) -> Option<f64> {
        if !self.query.has_names() || !self.document.has_names() {
            return None;
        }
        let from = self.matches.partition_point(|found| found.query < passage.query.start);
        let to = self.matches.partition_point(|found| found.query < passage.query.end);
        self.budget = self.budget.checked_sub(to - from + passage.query.len())?;
        let is_within = |found: &&MaximalMatch| {
            found.query_end() <= passage.query.end
                && found.document >= passage.document.start
                && found.document_end() <= passage.document.end
        };
        let mut matches: Vec<&MaximalMatch> = self.matches[from..to].iter().filter(is_within).collect();
        let symbols = matches.iter().map(|found| found.length as usize).sum();
        self.budget = self.budget.checked_sub(symbols)?;
        // Among equally long matches, prefers a match at the same distance from the start of the passage in
        // both documents.
        let shift = |found: &MaximalMatch| {
            (found.query - passage.query.start).abs_diff(found.document - passage.document.start)
        };
        matches.sort_by_key(|found| (Reverse(found.length), shift(found)));
        let mut seen = vec![false; passage.query.len()];
        let (mut names, mut same) = (0, 0);
        for found in matches {
            for step in 0..found.length {
                let (here, there) = ((found.query + step) as usize, (found.document + step) as usize);
                if std::mem::replace(&mut seen[here - passage.query.start as usize], true) {
                    continue;
                }
                if let (Some(name), Some(other)) = (self.query.name(here), self.document.name(there)) {
                    names += 1;
                    same += u32::from(name == other);
                }
            }
        }
        (names > 0).then(|| f64::from(same) / f64::from(names))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::query::options::PassageOptions;
    use crate::query::passages::QueryText;
    use crate::query::text::Symboliser;
    use fpdb_host::stop::StopToken;
    use fpdb_kernel::document::{Format, Language};
    use fpdb_kernel::profile::Profile;
    use fpdb_passages::KgramHashes;
    use fpdb_passages::Uncounted;

    /// The passages of two texts: the number of symbols in each, and its share of equal names.
    fn passages(a: &str, b: &str, format: Format) -> Vec<(u64, Option<f64>)> {
        let profile = Profile::named("code").unwrap();
        let mut symboliser = Symboliser::new(&profile).with_names();
        let [query, document] = [a, b].map(|text| symboliser.read(text.as_bytes(), format).unwrap());
        let (mut hashes, stop) = (Vec::new(), StopToken::new());
        KgramHashes::new(profile.k() as usize).for_each(query.values(), |_, hash| hashes.push(hash));
        hashes.sort_unstable();
        hashes.dedup();
        let query =
            QueryText::new(query, &profile, hashes.iter().copied(), Uncounted::default(), Default::default(), &stop)
                .unwrap();
        let found = query.compare(&document, hashes.into_iter(), &PassageOptions::default(), &stop).unwrap().passages;
        found.iter().map(|passage| (passage.symbols, passage.same_names)).collect()
    }

    const C: Format = Format::Code(Language::C);

    #[test]
    fn the_same_text_is_told_from_the_same_structure() {
        let text = "int sum(int *from, int count) { int all = 0; while (count > 0) all += from[--count]; return all; }";
        let other = text.replace("from", "list").replace("count", "n").replace("all", "s").replace("sum", "add");
        let tokens = passages(text, text, C)[0].0;
        assert_eq!(passages(text, text, C), [(tokens, Some(1.0))]);
        assert_eq!(passages(text, &other, C), [(tokens, Some(0.0))]);
        // Three of the 9 names are `all`.
        assert_eq!(passages(text, &text.replace("all", "s"), C), [(tokens, Some(6.0 / 9.0))]);
        // Layout and comments are not names, and neither are the words of plain text.
        assert_eq!(passages(text, &text.replace(' ', " /* all */\n"), C), [(tokens, Some(1.0))]);
        assert!(passages(text, text, Format::Text).iter().all(|&(_, same)| same.is_none()));
        assert_eq!(passages("1 + 2 + 3 + 4 + 5 + 6", "1 + 2 + 3 + 4 + 5 + 6", C), [(11, None)]);
    }

    #[test]
    fn the_parts_of_a_passage_count_together() {
        let first = "int a = 1; b = a * 22; while (b > 3) b = b - a;";
        let second = "if (c == 44) { d = c / 5; c = d % 66; }";
        let [a, b] = [format!("{first} {second}"), format!("{first} return; {}", second.replace('c', "e"))];
        // The first part has 7 names; the second has 5, and 3 of them differ.
        assert_eq!(passages(&a, &b, C).iter().map(|passage| passage.1).collect::<Vec<_>>(), [Some(9.0 / 12.0)]);
    }

    proptest! {
        #[test]
        fn the_share_is_that_of_the_names(
            statements in prop::collection::vec((0usize..5, [0usize..4, 0..4, 0..4]), 8..60),
            renamed in prop::collection::vec(prop::bool::weighted(0.3), 1..40),
        ) {
            let text = |renamed: &mut dyn FnMut() -> bool| -> String {
                let mut name = |name: usize| format!("{}{name}", if renamed() { "other" } else { "name" });
                let statement = |&(kind, [a, b, c]): &(usize, [usize; 3])| {
                    let [a, b, c] = [name(a), name(b), name(c)];
                    match kind {
                        0 => format!("{a} = {b} + {c};\n"),
                        1 => format!("while ({a} < {b}) {c}--;\n"),
                        2 => format!("if ({a}) {b} = {c}[7];\n"),
                        3 => format!("{a}({b}, \"x\", {c});\n"),
                        _ => format!("return {a} * {b} * {c};\n"),
                    }
                };
                statements.iter().map(statement).collect()
            };
            let mut next = renamed.iter().cycle();
            let (mut all, mut same) = (0, 0);
            let a = text(&mut || false);
            let b = text(&mut || {
                let renamed = *next.next().unwrap();
                (all, same) = (all + 1, same + u32::from(!renamed));
                renamed
            });
            // Both have one structure, so the longest passage is the whole text.
            let whole = passages(&a, &b, C).into_iter().max_by_key(|passage| passage.0).unwrap();
            prop_assert_eq!(whole.1, Some(f64::from(same) / f64::from(all)), "{} {}", a, b);
        }
    }
}
