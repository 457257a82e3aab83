//! The standard form: the normalised text. Two passages are the same if their standard forms are the same.
//!
//! This file makes the standard form by compatibility composition (NFKC), full case folding, and NFKC again,
//! because folding can undo a composition. Units then drop white space, punctuation, symbols and invisible
//! characters. [`Folding`] caches the standard form of each character that does not combine with others.

use std::borrow::Cow;
use std::iter::once;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{
    ComposingNormalizer, ComposingNormalizerBorrowed, DecomposingNormalizer, DecomposingNormalizerBorrowed,
};
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};

use super::value::value_of_char;

/// Computes the standard form of a string, and the properties of characters that units need.
pub(super) struct StandardForm {
    nfkc: ComposingNormalizerBorrowed<'static>,
    cases: CaseMapperBorrowed<'static>,
    categories: CodePointMapDataBorrowed<'static, GeneralCategory>,
    ignorable: CodePointSetDataBorrowed<'static>,
}

impl StandardForm {
    pub(super) fn new() -> Self {
        Self {
            nfkc: ComposingNormalizer::new_nfkc(),
            cases: CaseMapper::new(),
            categories: CodePointMapData::new(),
            ignorable: CodePointSetData::new::<DefaultIgnorableCodePoint>(),
        }
    }

    /// The standard form: NFKC, full case folding, NFKC.
    pub(super) fn of<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.nfkc.normalize(text);
        let text = then(text, |text| self.cases.fold_string(text));
        then(text, |text| self.nfkc.normalize(text))
    }

    /// True if a character of the standard form is a symbol of unit char: a visible letter or number of any
    /// script, or a visible accent.
    pub(super) fn keeps(&self, c: char) -> bool {
        (c.is_alphanumeric() || self.is_mark(c)) && !self.is_ignorable(c)
    }

    /// True if `c` is an accent or vowel sign (general category Mn or Mc).
    pub(super) fn is_mark(&self, c: char) -> bool {
        matches!(self.categories.get(c), GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark)
    }

    /// True if `c` is invisible by itself: soft hyphen, joiners, variation selectors, fillers.
    pub(super) fn is_ignorable(&self, c: char) -> bool {
        self.ignorable.contains(c)
    }
}

/// Applies a step. Text that the step leaves unchanged is not copied.
fn then<'a>(text: Cow<'a, str>, step: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    let changed = match step(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(changed) => Some(changed),
    };
    changed.map_or(text, Cow::Owned)
}

/// The result of folding a character that is a normalisation segment by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldResult {
    /// Its standard form contains no symbol.
    Drop,
    /// Its standard form is this one character, which is a symbol.
    Keep(char),
    /// Its standard form has several characters, and at least one symbol. [`StandardForm::of`] computes it.
    Expand,
    /// The character does not begin a segment. It belongs to the segment of the character before it.
    Join,
}

impl FoldResult {
    /// True if the character gives at most one symbol, unless another character joins it.
    pub(super) fn is_simple(self) -> bool {
        matches!(self, Self::Drop | Self::Keep(_))
    }
}

// The variants fit into the unused values of `char`, so a page of folding results is 1 KiB.
const _: () = assert!(size_of::<FoldResult>() == 4);

/// The value in the table for a character that gives several symbols or joins the character before it.
pub(super) const NOT_SIMPLE: u64 = 1;

/// Characters per page of the cache.
const PAGE: usize = 256;

/// Caches the folding result of every character, in pages that are filled on demand.
///
/// A text consists of normalisation segments. A segment is a character that can begin a segment, and the
/// characters after it that cannot. The standard form of a text is the concatenation of the standard forms of
/// its segments. This holds because neither composition nor reordering crosses the start of a segment, and
/// folding does not change that.
pub(super) struct Folding {
    pub(super) form: StandardForm,
    nfkd: DecomposingNormalizerBorrowed<'static>,
    starters: CodePointSetDataBorrowed<'static>,
    pages: Vec<Option<Box<[FoldResult; PAGE]>>>,
    /// The results of [`value`](Self::value) for each filled page.
    values: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Folding {
    pub(super) fn new() -> Self {
        #[expect(deprecated, reason = "not a property of the UCD, but the one the normaliser's own data would give")]
        let starters = CodePointSetData::new::<icu_properties::props::SegmentStarter>();
        Self {
            form: StandardForm::new(),
            nfkd: DecomposingNormalizer::new_nfkd(),
            starters,
            pages: vec![None; char::MAX as usize / PAGE + 1],
            values: vec![None; char::MAX as usize / PAGE + 1],
        }
    }

    pub(super) fn fate(&mut self, c: char) -> FoldResult {
        let (page, index) = (c as usize / PAGE, c as usize % PAGE);
        match &self.pages[page] {
            Some(fates) => fates[index],
            None => self.fill(page)[index],
        }
    }

    /// The value of the symbol for a code point: 0 if it gives no symbol, [`NOT_SIMPLE`] if it is not simple.
    #[inline(always)]
    pub(super) fn value(&mut self, code_point: u32) -> u64 {
        let (page, index) = (code_point as usize / PAGE, code_point as usize % PAGE);
        match &self.values[page] {
            Some(values) => values[index],
            None => self.fill_values(page)[index],
        }
    }

    #[cold]
    fn fill_values(&mut self, page: usize) -> &[u64; PAGE] {
        if self.pages[page].is_none() {
            self.fill(page);
        }
        let value = |fate: &FoldResult| match fate {
            FoldResult::Keep(c) => value_of_char(*c),
            FoldResult::Drop => 0,
            FoldResult::Expand | FoldResult::Join => NOT_SIMPLE,
        };
        let fates = self.pages[page].iter().flat_map(|fates| fates.iter());
        let mut values = Box::new([0; PAGE]);
        for (slot, fate) in values.iter_mut().zip(fates) {
            *slot = value(fate);
        }
        self.values[page].insert(values)
    }

    #[cold]
    fn fill(&mut self, page: usize) -> &[FoldResult; PAGE] {
        // Surrogates are not characters, and no caller looks them up.
        let fates = std::array::from_fn(|index| {
            let c = u32::try_from(page * PAGE + index).ok().and_then(char::from_u32);
            c.map_or(FoldResult::Drop, |c| self.compute(c))
        });
        self.pages[page].insert(Box::new(fates))
    }

    fn compute(&self, c: char) -> FoldResult {
        // Tests the decomposition, because half-width voiced marks (U+FF9E) are spacing letters, but
        // decompose to accents.
        if self.nfkd.normalize_iter(once(c)).next().is_some_and(|first| !self.starters.contains(first)) {
            return FoldResult::Join;
        }
        let form = self.form.of(c.encode_utf8(&mut [0; 4])).into_owned();
        let mut chars = form.chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) if self.form.keeps(only) => FoldResult::Keep(only),
            _ if form.contains(|c| self.form.keeps(c)) => FoldResult::Expand,
            _ => FoldResult::Drop,
        }
    }
}
