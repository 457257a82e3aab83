//! Properties of the front-ends that must hold for any bytes. Neither the pieces nor the instruction set
//! affect the result. Origins ascend and lie in the document. The symbols equal those of the references,
//! which read the whole text at once.

use super::reference::{reference_chars, reference_words};
use super::{FrontEnd, Symbols, TextFacts};
use crate::document::Language;
use crate::fuzzing::Draw;
use crate::lanes::Processor;
use crate::profile::WordRule;

/// The value, start, end, first line and last line of each symbol, and the facts.
type ReadResult = (Vec<(u64, u64, u64, u64, u64)>, TextFacts);

fn read(front_end: &mut FrontEnd, document: &[u8], piece: usize) -> ReadResult {
    let mut out = Symbols::new();
    for piece in document.chunks(piece) {
        front_end.feed(piece, &mut out);
    }
    let facts = front_end.finish(&mut out);
    let symbol = |(i, &value): (usize, &u64)| {
        let (start, end) = (out.start(i), out.end(i));
        (value, start, end, out.line_at(start), out.line_at(end - 1))
    };
    (out.values().iter().enumerate().map(symbol).collect(), facts)
}

fn check(document: &[u8], (symbols, facts): &ReadResult) {
    assert_eq!(facts.bytes, document.len() as u64);
    assert!(symbols.is_sorted_by_key(|&(_, start, _, line, _)| (start, line)));
    for &(_, start, end, first_line, last_line) in symbols {
        assert!(start < end && end <= facts.bytes);
        assert!(1 <= first_line && first_line <= last_line && last_line <= facts.lines);
    }
}

/// Checks characters and words, in any encoding. UTF-8 is also compared with the references.
pub(crate) fn normalize(data: &[u8]) {
    let mut draw = Draw::new(data);
    let (unit, piece) = (draw.byte() % 3, draw.size());
    let document = draw.rest();
    let fresh = || match unit {
        0 => FrontEnd::chars(),
        1 => FrontEnd::words(WordRule::Letters),
        _ => FrontEnd::words(WordRule::Unicode),
    };
    let mut front_end = fresh();
    let whole = read(&mut front_end, document, usize::MAX);
    check(document, &whole);
    // No state of the previous document remains.
    assert_eq!(read(&mut front_end, document, piece), whole);
    if unit == 0 {
        for processor in Processor::all() {
            front_end.set_processor(processor);
            assert_eq!(read(&mut front_end, document, piece), whole, "{processor:?}");
        }
    }
    let Ok(text) = std::str::from_utf8(document) else { return };
    let marked = format!("\u{FEFF}{text}");
    let (symbols, facts) = read(&mut fresh(), marked.as_bytes(), piece);
    assert_eq!((facts.encoding, facts.undecodable), ("UTF-8", 0));
    if unit == 0 {
        assert!(symbols.iter().map(|it| it.0).eq(reference_chars(text)));
        return;
    }
    let rule = [WordRule::Letters, WordRule::Unicode][usize::from(unit == 2)];
    let expected = reference_words(text, rule);
    let expected = expected.into_iter().map(|(value, origin)| (value, origin.start + 3, origin.end + 3));
    assert!(symbols.iter().map(|it| (it.0, it.1, it.2)).eq(expected));
}

/// Checks the tokens of source code, in a drawn language or in none.
pub(crate) fn code(data: &[u8]) {
    let mut draw = Draw::new(data);
    let language = Language::ALL.get(usize::from(draw.byte()) % (Language::ALL.len() + 1)).copied();
    let piece = draw.size();
    let document = draw.rest();
    let mut front_end = FrontEnd::tokens();
    front_end.begin(language);
    let whole = read(&mut front_end, document, usize::MAX);
    check(document, &whole);
    assert_eq!(read(&mut front_end, document, piece), whole);
}
