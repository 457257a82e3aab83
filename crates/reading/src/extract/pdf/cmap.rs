//! CMap: checks the programs in the fonts of a PDF before a library reads them. A program is a CMap, which
//! maps codes to characters, or the encoding of a Type 1 font. The library recurses for every bracket, and
//! too many brackets overflow the stack, which ends the whole process. The library also lists all codes of a
//! range, however large. The check is pure and does not recurse.

/// Maximum nesting of brackets. A level takes a few kilobytes of the stack.
const DEPTH: usize = 64;

/// Maximum number of codes in all ranges of one CMap: twice the number of two-byte codes.
const CODES: u64 = 1 << 17;

/// Returns an error with the reason if a program is harmful to read.
pub(crate) fn check(program: &[u8]) -> Result<(), &'static str> {
    let mut tokens = CmapTokens { program, at: 0 };
    let (mut depth, mut codes) = (0_usize, 0);
    // The number of values since a list of ranges began, and the lower end of the last range.
    let (mut ranges, mut lower) = (None::<u64>, None);
    while let Some(token) = tokens.next()? {
        match token {
            CmapToken::Open => depth += 1,
            CmapToken::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return Err("its fonts have too many brackets within each other");
        }
        if depth > 0 {
            continue;
        }
        let Some(place) = &mut ranges else {
            ranges = (token == CmapToken::Begin).then_some(0);
            continue;
        };
        match (token, *place % 3) {
            (CmapToken::Code(code), 0) => lower = Some(code),
            (CmapToken::Code(upper), 1) => codes += lower.map_or(0, |lower| u64::from(upper.saturating_sub(lower)) + 1),
            (CmapToken::Other | CmapToken::Code(_) | CmapToken::Close, 2) => {}
            (token, _) => {
                ranges = (token == CmapToken::Begin).then_some(0);
                continue;
            }
        }
        *place += 1;
        if codes > CODES {
            return Err("its fonts have ranges of too many codes");
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CmapToken {
    Open,
    Close,
    /// A string, as a number made of its bytes.
    Code(u32),
    /// The start of a list of ranges. Each has two codes and their target.
    Begin,
    Other,
}

struct CmapTokens<'a> {
    program: &'a [u8],
    at: usize,
}

impl CmapTokens<'_> {
    /// The next token. `None` at the end, or if the library's parser would stop here.
    fn next(&mut self) -> Result<Option<CmapToken>, &'static str> {
        loop {
            let rest = &self.program[self.at..];
            let length = |is_inside: fn(&u8) -> bool| rest.iter().take_while(|byte| is_inside(byte)).count();
            let (token, length) = match rest {
                [] => return Ok(None),
                [b' ' | b'\t' | b'\n' | b'\r' | b'\x0C' | 0, ..] => {
                    self.at += 1;
                    continue;
                }
                [b'%', ..] => {
                    self.at += length(|byte| !b"\r\n".contains(byte));
                    continue;
                }
                [b'<', b'<', ..] => (CmapToken::Open, 2),
                [b'>', b'>', ..] => (CmapToken::Close, 2),
                [b'[' | b'{', ..] => (CmapToken::Open, 1),
                [b']' | b'}', ..] => (CmapToken::Close, 1),
                [b'<', ..] => return Ok(self.hexadecimal()),
                [b'(', ..] => return self.literal(),
                [b'/', ..] => (CmapToken::Other, 1 + length_of_name(&rest[1..])),
                [byte, ..] if byte.is_ascii_graphic() => {
                    let length = length_of_name(rest).max(1);
                    (if &rest[..length] == b"beginbfrange" { CmapToken::Begin } else { CmapToken::Other }, length)
                }
                _ => return Ok(None),
            };
            self.at += length;
            return Ok(Some(token));
        }
    }

    /// Reads a string such as `<0041>`.
    fn hexadecimal(&mut self) -> Option<CmapToken> {
        let digits = &self.program[self.at + 1..];
        let end = digits.iter().position(|&byte| byte == b'>')?;
        self.at += end + 2;
        let digit = |&byte: &u8| char::from(byte).to_digit(16);
        Some(CmapToken::Code(digits[..end].iter().filter_map(digit).fold(0, |code, digit| code << 4 | digit)))
    }

    /// Reads a string such as `(A)`. It may contain strings; the library's parser recurses for each.
    fn literal(&mut self) -> Result<Option<CmapToken>, &'static str> {
        let (mut depth, mut code) = (0_usize, 0_u32);
        let mut bytes = self.program[self.at..].iter();
        while let Some(&byte) = bytes.next() {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                // An escape may give any byte, so assume the greatest code.
                b'\\' => {
                    self.at += usize::from(bytes.next().is_some());
                    code = u32::MAX;
                }
                byte => code = code << 8 | u32::from(byte),
            }
            if depth > DEPTH {
                return Err("its fonts have too many brackets within each other");
            }
            if depth == 0 {
                return Ok(Some(CmapToken::Code(code)));
            }
        }
        Ok(None)
    }
}

fn length_of_name(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_graphic() && !b"()<>[]{}/%".contains(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_as_they_are_pass() {
        for program in [
            "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfrange <0000> <005E> <0020>\n\
             <005F> <0061> [<00660066> <00660069> <00660066006C>] endbfrange 1 beginbfchar <3A51> <D840DC3E> endbfchar",
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS (2)) >> def % ((((\n",
            "1 beginbfrange <0000> <ffff> <0000> endbfrange 1 beginbfchar <00000000> <ffffffff> endbfchar",
            "/Encoding 256 array 0 1 255 {1 index exch /.notdef put} for eexec \x01[[[[",
            "",
        ] {
            assert_eq!(check(program.as_bytes()), Ok(()), "{program}");
        }
    }

    #[test]
    fn harmful_ones_do_not() {
        for bracket in ["[", "<<", "{", "(", "[ (]) ", "<< /A ", "[ <5d> "] {
            assert!(check(bracket.repeat(DEPTH).as_bytes()).is_ok(), "{bracket}");
            assert!(check(format!("% (\n{}", bracket.repeat(DEPTH + 1)).as_bytes()).is_err(), "{bracket}");
        }
        for range in ["<00000000> <ffffffff> <0000>", "<00> <fffff0> <0000>", "(a) (\\377\\377\\377) <0000>"] {
            assert!(check(format!("1 beginbfrange {range}").as_bytes()).is_err(), "{range}");
            let second = format!("2 beginbfrange <00> <01> [<0041> <0042>] {range} endbfrange");
            assert!(check(second.as_bytes()).is_err(), "{range}");
        }
        assert!(check("1 beginbfrange <0000> <ffff> <0000> endbfrange ".repeat(3).as_bytes()).is_err());
    }
}
