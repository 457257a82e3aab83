//! A property of any bytes that are read as text: the pieces they come in and the instruction set do not matter,
//! origins are those of the document and ascend, and the symbols are those of the whole text.

use super::reference::{reference_chars, reference_words};
use super::{FrontEnd, Symbols, TextFacts};
use crate::document::Language;
use crate::fuzzing::Draw;
use crate::lanes::Processor;
use crate::profile::WordRule;

/// Values, origins, and the lines of those.
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

/// Characters and words, in any encoding; of what is UTF-8 as the references see it.
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
    // Nothing is left of the document before.
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

/// Tokens of source code in a drawn language, or in none.
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
