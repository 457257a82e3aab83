//! Packed: the symbols of a document in as few bytes each as all of them need. Pure.

use crate::normalize::{LETTERS, SymbolContent, unmix64};
use crate::profile::Unit;

/// The symbols of a document. Equal symbols have equal numbers in all documents.
#[derive(Clone, Debug)]
pub(super) struct PackedSymbols {
    numbered: bool,
    width: u8,
    pub(super) bytes: Vec<u8>,
}

/// The numbers of symbols by their codes.
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
    /// None yet, of documents of this unit. Characters and bytes have numbers of their own; other symbols get numbers by their values.
    pub(super) fn new(unit: Unit) -> Self {
        let numbered = matches!(unit, Unit::Char | Unit::Byte);
        Self { numbered, width: if numbered { 1 } else { 8 }, bytes: Vec::new() }
    }

    /// Bytes of a symbol: 1, 2, 4 or 8.
    pub(super) fn width(&self) -> u8 {
        self.width
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.width)
    }

    /// Adds symbols.
    pub(super) fn extend(&mut self, content: SymbolContent<'_>) {
        match content {
            SymbolContent::Codes(codes) => codes.iter().for_each(|&code| self.push(NUMBERS[usize::from(code)].into())),
            SymbolContent::Values(values) if self.numbered => {
                values.iter().for_each(|&value| self.push(unmix64(value)));
            }
            SymbolContent::Values(values) => self.bytes.extend_from_slice(bytemuck::cast_slice(values)),
        }
    }

    fn push(&mut self, number: u64) {
        while self.width < 8 && number >> (8 * self.width) != 0 {
            self.widen();
        }
        self.bytes.extend_from_slice(&number.to_le_bytes()[..usize::from(self.width)]);
    }

    fn widen(&mut self) {
        let mut numbers = Vec::with_capacity(self.len() + 1);
        unpack(&self.bytes, self.width, &mut numbers);
        self.width *= 2;
        self.bytes.clear();
        self.bytes.reserve(numbers.len() * usize::from(self.width));
        for number in numbers {
            self.bytes.extend_from_slice(&number.to_le_bytes()[..usize::from(self.width)]);
        }
    }
}

/// Replaces the content of `out` by the numbers of symbols of so many bytes each.
pub(super) fn unpack(bytes: &[u8], width: u8, out: &mut Vec<u64>) {
    out.clear();
    match width {
        1 => out.extend(bytes.iter().map(|&byte| u64::from(byte))),
        2 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from(u16::from_le_bytes(bytes)))),
        4 => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from(u32::from_le_bytes(bytes)))),
        _ => out.extend(bytes.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalize::{FrontEnd, Symbols};

    proptest! {
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
