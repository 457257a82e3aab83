//! Emlx: a mail in a file of Apple Mail. The first line is the number of bytes of the mail. After the mail
//! there is a property list of the program.

/// The mail in the bytes of a file. For an `.emlx` file, these are the bytes after the first line and before
/// the property list; for other files, all bytes. If the mail was cut off, it ends where the bytes end.
pub(super) fn mail_in(bytes: &[u8]) -> &[u8] {
    /// Maximum length of the first line. The number is followed by spaces.
    const FIRST_LINE: usize = 40;
    let head = &bytes[..bytes.len().min(FIRST_LINE)];
    let Some(end) = memchr::memchr(b'\n', head) else { return bytes };
    let number = str::from_utf8(&head[..end]).ok().and_then(|line| line.trim_ascii().parse::<usize>().ok());
    number.map_or(bytes, |number| &bytes[end + 1..][..number.min(bytes.len() - end - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_the_length() {
        for (file, mail) in [
            ("9\nTo: a\n\nb\n<?xml version=\"1.0\"?>\n<plist/>", "To: a\n\nb\n"),
            ("9        \r\nTo: a\n\nb\n<plist/>", "To: a\n\nb\n"),
            ("99\nTo: a\n\nb", "To: a\n\nb"),
            ("0\nTo: a", ""),
            ("9\n", ""),
            ("9", "9"),
            ("", ""),
            ("\nTo: a", "\nTo: a"),
            ("To: a\n\n9\nb", "To: a\n\n9\nb"),
            ("-9\nTo: a", "-9\nTo: a"),
            ("99999999999999999999999999\nTo: a", "99999999999999999999999999\nTo: a"),
        ] {
            assert_eq!(mail_in(file.as_bytes()), mail.as_bytes(), "{file}");
        }
    }
}
