//! Packed: the symbols of a document at a fixed width, the smallest that fits all of them. Pure.

use fpdb_kernel::normalize::{LETTERS, SymbolContent, unmix64};
use fpdb_kernel::profile::Unit;

/// The symbols of a document. Equal symbols have equal numbers in all documents.
#[derive(Clone, Debug)]
pub(super) struct PackedSymbols {
    numbered: bool,
    width: u8,
    pub(super) bytes: Vec<u8>,
}

/// For each code of one byte, the value of its symbol before the value was mixed.
static NUMBERS: [u32; LETTERS.len()] = {
    let mut numbers = [0; LETTERS.len()];
    let mut code = 0;
    while code < numbers.len() {
        numbers[code] = unmix64(LETTERS[code]) as u32;
        code += 1;
    }
    numbers
};

impl PackedSymbols {
    /// An empty document with this unit. Characters and bytes are stored as small numbers, other symbols as
    /// their values of 8 bytes.
    pub(super) fn new(unit: Unit) -> Self {
        let numbered = matches!(unit, Unit::Char | Unit::Byte);
        Self { numbered, width: if numbered { 1 } else { 8 }, bytes: Vec::new() }
    }

    /// Bytes of a symbol: 1, 2, 4 or 8.
    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// Number of symbols.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.width)
    }

    /// Adds symbols.
    pub(super) fn extend(&mut self, content: SymbolContent<'_>) {
        match content {
            SymbolContent::Codes(codes) => {
                self.extend_numbers(codes.iter().map(|&code| u64::from(NUMBERS[usize::from(code)])));
            }
            SymbolContent::Values(values) if self.numbered => {
                self.extend_numbers(values.iter().map(|&value| unmix64(value)));
            }
            SymbolContent::Values(values) => self.bytes.extend_from_slice(bytemuck::cast_slice(values)),
        }
    }

    fn extend_numbers(&mut self, numbers: impl Iterator<Item = u64> + Clone) {
        let bits = numbers.clone().fold(0, |bits, number| bits | number);
        while self.width < 8 && bits >> (8 * self.width) != 0 {
            self.widen();
        }
        pack(numbers, self.width, &mut self.bytes);
    }

    fn widen(&mut self) {
        let mut numbers = Vec::with_capacity(self.len());
        unpack(&self.bytes, self.width, &mut numbers);
        self.width *= 2;
        self.bytes.clear();
        pack(numbers.into_iter(), self.width, &mut self.bytes);
    }
}

/// Appends numbers to `out`, each in `width` bytes.
fn pack(numbers: impl Iterator<Item = u64>, width: u8, out: &mut Vec<u8>) {
    match width {
        1 => out.extend(numbers.map(|number| number as u8)),
        2 => out.extend(numbers.flat_map(|number| (number as u16).to_le_bytes())),
        4 => out.extend(numbers.flat_map(|number| (number as u32).to_le_bytes())),
        _ => out.extend(numbers.flat_map(u64::to_le_bytes)),
    }
}

/// Replaces the content of `out` by the numbers in `bytes`. Each number stands for a symbol and has `width`
/// bytes.
fn unpack(bytes: &[u8], width: u8, out: &mut Vec<u64>) {
    out.clear();
    match width {
        1 => out.extend(bytes.iter().map(|&byte| u64::from(byte))),
        2 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from(u16::from_le_bytes(bytes)))),
        4 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from(u32::from_le_bytes(bytes)))),
        _ => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes))),
    }
}

/// Number of bytes compared at a time.
const STRIDE: usize = 32;

/// Consecutive symbols of a document, packed.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolRun {
    /// Bytes of a symbol.
    pub(super) width: u8,
    pub(super) bytes: Vec<u8>,
}

impl SymbolRun {
    /// Replaces the content of `out` by the numbers that stand for the symbols.
    pub(super) fn numbers(&self, out: &mut Vec<u64>) {
        unpack(&self.bytes, self.width, out);
    }

    /// Number of equal symbols directly before `place` in this run and `other_place` in the other run, and
    /// number of equal symbols from these places on.
    pub(super) fn equal_around(&self, place: usize, other: &Self, other_place: usize) -> (usize, usize) {
        if self.width != other.width {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            self.numbers(&mut ours);
            other.numbers(&mut theirs);
            let ((before, after), (other_before, other_after)) = (ours.split_at(place), theirs.split_at(other_place));
            let equal = |(a, b): &(&u64, &u64)| a == b;
            let before = before.iter().rev().zip(other_before.iter().rev()).take_while(equal).count();
            return (before, after.iter().zip(other_after).take_while(equal).count());
        }
        let width = usize::from(self.width);
        let (before, after) = self.bytes.split_at(place * width);
        let (other_before, other_after) = other.bytes.split_at(other_place * width);
        (equal_bytes_before(before, other_before) / width, equal_bytes(after, other_after) / width)
    }
}

/// Number of equal bytes at the beginning of both.
fn equal_bytes(one: &[u8], other: &[u8]) -> usize {
    let strides = one.chunks_exact(STRIDE).zip(other.chunks_exact(STRIDE)).take_while(|(a, b)| a == b).count();
    let rest = one[strides * STRIDE..].iter().zip(&other[strides * STRIDE..]);
    strides * STRIDE + rest.take_while(|(a, b)| a == b).count()
}

/// Number of equal bytes at the end of both.
fn equal_bytes_before(one: &[u8], other: &[u8]) -> usize {
    let strides = one.rchunks_exact(STRIDE).zip(other.rchunks_exact(STRIDE)).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - strides * STRIDE], &other[..other.len() - strides * STRIDE]);
    strides * STRIDE + one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use fpdb_kernel::normalize::{FrontEnd, Symbols};

    proptest! {
        #[test]
        fn runs_of_any_widths_are_compared_symbol_by_symbol(
            shared in prop::collection::vec(0u64..3, 0..100),
            ends in prop::array::uniform4(prop::collection::vec(0u64..3, 0..50)),
            at in any::<prop::sample::Index>(),
            widths in prop::array::uniform2(prop::sample::select(&[1u8, 2, 4, 8])),
        ) {
            let whole = |from: usize| [&ends[from][..], &shared[..], &ends[from + 1][..]].concat();
            let numbers = [whole(0), whole(2)];
            let within = at.index(shared.len() + 1);
            let places = [ends[0].len() + within, ends[2].len() + within];
            let run = |side: usize| {
                let mut run = SymbolRun { width: widths[side], bytes: Vec::new() };
                pack(numbers[side].iter().copied(), widths[side], &mut run.bytes);
                run
            };
            let (one, other) = (run(0), run(1));
            let pairs = |side: usize| numbers[side].split_at(places[side]);
            let equal = |(a, b): &(&u64, &u64)| a == b;
            let before = pairs(0).0.iter().rev().zip(pairs(1).0.iter().rev()).take_while(equal).count();
            let after = pairs(0).1.iter().zip(pairs(1).1).take_while(equal).count();
            prop_assert_eq!(one.equal_around(places[0], &other, places[1]), (before, after));
        }

        #[test]
        fn characters_come_back_by_their_code_points(text in "[a-z0-9é日œ𝔘]{0,40}") {
            let mut symbols = Symbols::new();
            let mut front_end = FrontEnd::chars();
            let mut packed = PackedSymbols::new(Unit::Char);
            front_end.read(text.as_bytes(), &mut symbols);
            front_end.end(&mut symbols);
            packed.extend(symbols.content());
            let mut numbers = Vec::new();
            unpack(&packed.bytes, packed.width(), &mut numbers);
            // 𝔘 is folded to u.
            let expected: Vec<u64> = text.replace('𝔘', "u").chars().map(|c| u64::from(u32::from(c)) + 1).collect();
            prop_assert_eq!(numbers, expected);
        }
    }
}
