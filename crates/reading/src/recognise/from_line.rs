//! From line: the line that begins a mail in an mbox. Prose has lines that begin with "From" too, and many
//! programs that write mailboxes do not mark these. So the rest of the line counts, and a header must follow.

/// The form of a line that begins with `From `.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromLine {
    /// A sender and a date: `From me@example.org Sat Jan  3 01:05:34 1996`. Prose hardly ever has such a
    /// line.
    Dated,
    /// `From` alone or `From -`, as in Thunderbird.
    Bare,
    /// Another form, or prose, with this number of words.
    Other(usize),
}

/// Maximum bytes in a line that begins a mail. A longer line is text, and may be far larger than memory.
const LONGEST: usize = 1024;

/// The form of a line; `None` if it does not begin with `From `, or is too long to begin a mail.
pub(crate) fn from_line(line: &[u8]) -> Option<FromLine> {
    let line = line.strip_prefix(b"From ").filter(|_| line.len() <= LONGEST)?;
    let end = memchr::memmem::find(line, b" remote from ").unwrap_or(line.len());
    let words: Vec<&[u8]> = line[..end].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let weekday = words.iter().rposition(|word| is_name(without_comma(word), "SunMonTueWedThuFriSat"));
    Some(match (&words[..], weekday) {
        ([] | [b"-"], _) => FromLine::Bare,
        (_, Some(at)) if at > 0 && is_date(&words[at + 1..]) => FromLine::Dated,
        _ => FromLine::Other(words.len()),
    })
}

/// True if a line is a header of a mail, or a line `>From` that an earlier mailbox left before the header.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let name = line.iter().position(|&byte| byte == b':').map(|colon| &line[..colon]);
    line.starts_with(b">From ") || name.is_some_and(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic))
}

/// True for the words after a weekday, in any order: a month, a day, a time and a year, each once, and zones
/// such as `+0100`, `PST` or `(CET)`.
fn is_date(words: &[&[u8]]) -> bool {
    let mut counts = [0; 5];
    for word in words {
        let word = without_comma(word);
        let has_digits = word.iter().all(u8::is_ascii_digit);
        let kind = match word.len() {
            _ if is_name(word, "JanFebMarAprMayJunJulAugSepOctNovDec") => 0,
            1..=2 if has_digits => 1,
            4 if has_digits => 2,
            _ if is_clock(word) => 3,
            _ if is_zone(word) => 4,
            _ => return false,
        };
        counts[kind] += 1;
    }
    counts[..4] == [1; 4] && counts[4] <= 2
}

fn without_comma(word: &[u8]) -> &[u8] {
    word.strip_suffix(b",").unwrap_or(word)
}

/// True if a word is one of the names of three letters in `names`.
fn is_name(word: &[u8], names: &str) -> bool {
    word.len() == 3 && names.as_bytes().chunks(3).any(|name| name == word)
}

/// True for a time of day: `1:05`, `01:05` or `01:05:34`.
fn is_clock(word: &[u8]) -> bool {
    let parts: Vec<&[u8]> = word.split(|&byte| byte == b':').collect();
    (2..=3).contains(&parts.len())
        && parts.iter().all(|part| (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
}

fn is_zone(word: &[u8]) -> bool {
    let inside = word.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")")).unwrap_or(word);
    match inside {
        [b'+' | b'-', digits @ ..] => digits.len() == 4 && digits.iter().all(u8::is_ascii_digit),
        letters => (1..=5).contains(&letters.len()) && letters.iter().all(u8::is_ascii_uppercase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mailboxes_are_told_from_prose() {
        for (line, form) in [
            ("From me@example.org Sat Jan  3 01:05:34 1996\n", FromLine::Dated),
            ("From me@example.org  Sat Jan  3 01:05 1996\r\n", FromLine::Dated),
            ("From jwz Fri, Jul 01 09:13:09 1994 (+0700)\n", FromLine::Dated),
            ("From jwz Fri Jul  1 09:13:09 PST 1994\n", FromLine::Dated),
            ("From jwz Fri Jul  1 09:13:09 MET DST 1994 remote from mcvax\n", FromLine::Dated),
            ("From a@b Fri, 1 Jul 1994 9:13:09 +0200 (CEST)\n", FromLine::Dated),
            ("From 1234@xxx Mon Jan 01 00:00:00 +0000 2021\n", FromLine::Dated),
            ("From - Mon Jan 01 00:00:00 2021\n", FromLine::Dated),
            ("From MAILER-DAEMON Fri Jul  8 12:08:34 2011\n", FromLine::Dated),
            ("From ???@??? Mon Apr 17 14:00:51 2000\n", FromLine::Dated),
            ("From bob at example.org  Sat Jan  3 01:05:34 1996\n", FromLine::Dated),
            ("From Sun Li <sun@example.org>  Wed Jan  2 16:34:35 2019", FromLine::Dated),
            ("From \r\n", FromLine::Bare),
            ("From -\n", FromLine::Bare),
            ("From me\n", FromLine::Other(1)),
            ("From the harbour we hear\n", FromLine::Other(4)),
            ("From Wed Mar 3 10:00 2021\n", FromLine::Other(5)),
            ("From Lisa, on Wed Mar 3 10:00 2021 we heard\n", FromLine::Other(9)),
            ("From 10:30 on 3 March 2021 we met\n", FromLine::Other(7)),
            ("From a Sat Jan 3 1996\n", FromLine::Other(5)),
        ] {
            assert_eq!(from_line(line.as_bytes()), Some(form), "{line}");
        }
        assert_eq!(from_line(b"From: me Sat Jan  3 01:05:34 1996\n"), None);
        assert_eq!(from_line(b"From\n"), None);
        for (bytes, is_one) in [(LONGEST, true), (LONGEST + 1, false), (60 * LONGEST, false)] {
            let line = format!("From {:x<1$} Sat Jan  3 01:05:34 1996\n", "me", bytes - 31);
            assert_eq!((line.len(), from_line(line.as_bytes()).is_some()), (bytes, is_one));
        }
    }

    #[test]
    fn headers_are_told_from_prose() {
        for (line, expected) in [
            ("Subject: x\n", true),
            ("X-Mozilla-Status:\r\n", true),
            (">From me\n", true),
            ("Dear Sir, as follows: x\n", false),
            (": x\n", false),
            ("\n", false),
            ("", false),
        ] {
            assert_eq!(is_header(line.as_bytes()), expected, "{line}");
        }
    }
}
