//! Compares the kernel with a plain sequence of front-end, k-gram hash and definition of the selection.
//! Pieces have any size. Every instruction set is tested.

use super::Draw;
use crate::Kernel;
use crate::columns::{Fingerprint, Fingerprints};
use crate::document::Span;
use crate::kgram::hash_kgram;
use crate::lanes::Processor;
use crate::normalize::{FrontEnd, Symbols};
use crate::profile::{Profile, Selection, Unit, WordRule};
use crate::winnow::properties::{definition, drawn_selection};

/// Draws a profile and a piece size, and checks the remaining bytes as a text, in each view.
pub(super) fn kernel(data: &[u8]) {
    let mut draw = Draw::new(data);
    let unit = [Unit::Char, Unit::Word, Unit::Byte, Unit::Token][usize::from(draw.byte() % 4)];
    let choice = draw.byte();
    let rule = [WordRule::Letters, WordRule::Unicode][usize::from(choice % 2)];
    let selection = drawn_selection(&mut draw);
    let (k, w, piece) = (draw.size(), draw.size(), draw.size());
    let w = if selection == Selection::All { 1 } else { w };
    let Ok(mut profile) = Profile::new(unit, rule, k as u32, w as u32, selection) else { return };
    if choice & 2 != 0
        && let Ok(both) = profile.with_text_view(k as u32, w as u32)
    {
        profile = both;
    }
    let text = draw.rest();
    profile.views().for_each(|view| check(&view, text, piece));
}

fn check(profile: &Profile, text: &[u8], piece: usize) {
    let expected = by_definition(profile, text);
    for processor in Processor::all() {
        let mut kernel = Kernel::new(profile);
        kernel.set_processor(processor);
        let mut found = Fingerprints::new();
        for piece in text.chunks(piece) {
            kernel.feed(piece, &mut found);
        }
        kernel.finish(&mut found);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{profile}, {processor:?}");
    }
}

fn by_definition(profile: &Profile, text: &[u8]) -> Vec<Fingerprint> {
    let (mut front_end, mut symbols) = (FrontEnd::of(profile), Symbols::new());
    front_end.feed(text, &mut symbols);
    front_end.finish(&mut symbols);
    let (k, w) = (profile.k as usize, profile.w as usize);
    let marked = |kgram| profile.marks().mark(hash_kgram(kgram));
    let hashes: Vec<u64> = symbols.values().windows(k).map(marked).collect();
    let fingerprint = |hash, first: usize| {
        let span = Span { start: symbols.start(first), end: symbols.end(first + k - 1) };
        let (first_line, last_line) = (symbols.line_at(span.start), symbols.line_at(span.end - 1));
        Fingerprint { hash, position: first as u64, span, first_line, last_line }
    };
    let selected = definition(&hashes, profile.selection, w);
    selected.into_iter().map(|selected| fingerprint(selected.hash, selected.position as usize)).collect()
}
