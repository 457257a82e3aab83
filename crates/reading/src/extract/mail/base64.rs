//! Base64: repairs base64 in mails that a strict decoder refuses. There are three causes: a mailing list adds
//! its footer below the base64, a byte is damaged on the way, or each line begins with `> `.
//!
//! Encoders write lines of one length, and only the last line is shorter. So the base64 ends before a line
//! that is not base64, and before a short line that follows another short line. A damaged line is filled up,
//! so that the lines below it decode as before.

/// The repaired base64 of a text, without any other text. `None` if the text is hardly base64: some mails
/// declare base64 and are plain text.
pub(super) fn repaired(text: &[u8]) -> Option<Vec<u8>> {
    // Minimum characters of a text that does not end with padding.
    const LEAST: usize = 16;
    let mut repaired = Vec::with_capacity(text.len());
    let (mut width, mut data, mut has_ended) = (None, 0, false);
    for line in text.split(|&byte| byte == b'\n').map(unquoted) {
        let good: Vec<u8> = line.iter().copied().filter(|&byte| is_of_alphabet(byte)).collect();
        if line.is_empty() || width.is_none() && !is_base64(line, good.len()) {
            continue;
        }
        let width = *width.get_or_insert(line.len());
        let is_full = line.len() + 4 >= width;
        if !is_base64(line, good.len()) || has_ended && !is_full {
            break;
        }
        data += good.len();
        has_ended = !is_full || line.ends_with(b"=");
        let is_apart = width.is_multiple_of(4) || good.len().is_multiple_of(4);
        push(&mut repaired, line, good, is_apart);
    }
    let is_padded = repaired.trim_ascii_end().ends_with(b"=");
    let all = text.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != 0).count();
    (data >= 4 && (is_padded || data >= LEAST) && data * 2 >= all).then_some(repaired)
}

/// The line without the `>` of quotations and without white space around it.
fn unquoted(line: &[u8]) -> &[u8] {
    let mut line = line.trim_ascii();
    while let Some(rest) = line.strip_prefix(b">") {
        line = rest.trim_ascii_start();
    }
    line
}

fn is_of_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// True for a line of base64 with at most one damaged byte, or one in 16 of a longer line. Zeros do not count
/// as damage, since a damaged block of a disk has many.
fn is_base64(line: &[u8], good: usize) -> bool {
    let strays = line.iter().filter(|&&byte| !is_of_alphabet(byte) && byte != b'=' && byte != 0).count();
    good > 0 && (strays < 2 || strays * 16 <= line.len())
}

/// Adds a line. `good` are its characters of the alphabet. If each line decodes by itself (`is_apart`), the
/// line is shortened or filled up to a multiple of four characters.
fn push(repaired: &mut Vec<u8>, line: &[u8], mut good: Vec<u8>, is_apart: bool) {
    let padding = line.iter().rev().take_while(|&&byte| byte == b'=').count();
    if is_apart && !(good.len() + padding).is_multiple_of(4) {
        if line.len().is_multiple_of(4) {
            // The damaged bytes replaced characters, so an `A` for each keeps the length of the line.
            let characters = &line[..line.len() - padding];
            good = characters.iter().map(|&byte| if is_of_alphabet(byte) { byte } else { b'A' }).collect();
        } else {
            good.truncate(good.len() - usize::from(good.len() % 4 == 1));
        }
    }
    repaired.extend_from_slice(&good);
    if is_apart {
        repaired.resize(repaired.len() + (4 - good.len() % 4) % 4, b'=');
    } else if padding > 0 {
        repaired.extend_from_slice(&line[line.len() - padding..]);
    }
    repaired.push(b'\n');
}

#[cfg(test)]
mod tests {
    use mail_parser::decoders::base64::base64_decode;

    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
        let encoded = bytes.chunks(3).flat_map(|chunk| {
            let bits = chunk.iter().chain(&[0, 0]).take(3).fold(0, |bits, &byte| bits << 8 | usize::from(byte));
            let letter = |at: usize| if at > chunk.len() { '=' } else { letters[bits >> (18 - 6 * at) & 63] };
            [0, 1, 2, 3].map(letter)
        });
        encoded.collect()
    }

    fn lines(text: &str, width: usize) -> Vec<String> {
        let encoded = encoded(text.as_bytes());
        encoded.as_bytes().chunks(width).map(|line| String::from_utf8(line.to_vec()).unwrap()).collect()
    }

    fn decoded(text: &[u8]) -> Option<String> {
        Some(String::from_utf8_lossy(&base64_decode(&repaired(text)?).unwrap()).into_owned())
    }

    #[test]
    fn base64_with_stray_text_is_decoded_whole() {
        for length in 60..130 {
            let text: String = ('a'..='z').cycle().take(length).collect();
            for width in [60, 64, 76, 78, 1000] {
                let lines = lines(&text, width);
                for (end, footer) in [
                    ("\n", "\n____\nlist mailing list\nlist@example.org\n"),
                    ("\r\n", "____________________________\r\nlist@example.org mailing list\r\n"),
                    ("\n", "\n\n-- \nRegards,\nZoe\n"),
                ] {
                    let whole = lines.join(end) + end + footer;
                    assert_eq!(decoded(whole.as_bytes()).as_ref(), Some(&text), "{whole}");
                }
                let quoted: String = lines.iter().map(|line| format!("> {line}\n")).collect();
                assert_eq!(decoded(quoted.as_bytes()).as_ref(), Some(&text), "{quoted}");
                let mut inserted = lines.join("\n").into_bytes();
                inserted.insert(9, b'!');
                assert_eq!(decoded(&inserted).as_ref(), Some(&text), "{text}");
            }
        }
    }

    #[test]
    fn a_damaged_byte_costs_a_few_letters() {
        let text = "a text of several lines, each of them with some more words. ".repeat(9);
        for damage in [b'\0', b'!', 0x80] {
            for at in [3, 80, 200] {
                let mut damaged = lines(&text, 76).join("\n").into_bytes();
                damaged[at] = damage;
                let read = decoded(&damaged).unwrap();
                let differing = read.chars().zip(text.chars()).filter(|(one, other)| one != other).count();
                assert!(read.chars().count() == text.len() && differing <= 2, "{damage} at {at}: {read}");
            }
        }
    }

    #[test]
    fn prose_is_no_base64() {
        for prose in [
            "Hello,\nthis is plain text.\n",
            "Thanks!",
            "OK",
            "",
            "a line of words that says it is base64 and is not\nand another of this kind\n",
        ] {
            assert_eq!(repaired(prose.as_bytes()), None, "{prose}");
        }
    }
}
