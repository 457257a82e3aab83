//! mbox: mails one after the other. A line `From ...` begins a mail if a header follows and the line has one
//! of three forms: it ends with a date; or it is `From` or `From -`, as in Thunderbird; or the first line of
//! the mailbox has neither of these forms, and the line has as many words as that first line. An empty line
//! must precede each of these lines, unless the line has a date. Other lines `From ...` are text.
//!
//! Many writers store lines `From ...` of the text with a `>` in front, which is removed.
//!
//! The empty line after a mail belongs to no mail, also at the end of the file. So the bytes of a mail do not
//! depend on its place in the mailbox.

use std::io::{self, Read};

use super::lines::{Line, LineReader};
use super::{Member, MemberContent, Members};
use crate::input::decompress::meter::Meter;
use crate::recognise::{FromLine, from_line, is_header};
use fpdb_host::bounded::without_byte_order_mark;
use fpdb_host::error::Result;

const FORMAT: &str = "mbox";

pub(super) fn read(input: &mut dyn Read, meter: &Meter<'_>, members: &mut dyn Members) -> Result<()> {
    let limit = meter.limits.record_bytes;
    let mut lines = LineReader::new(input);
    let mut mail = Mail {
        lines: &mut lines,
        limit,
        ready: Vec::new(),
        at: 0,
        empty_lines: Vec::new(),
        state: MboxState::Before,
        begins: 0,
        first: FromLine::Dated,
    };
    mail.find_first().map_err(|error| meter.error(FORMAT, error))?;
    let mut number = 0u64;
    while mail.begin() {
        number += 1;
        let start = mail.begins;
        let suffix = format!("#{number}");
        let content = MemberContent::Stream(&mut mail);
        members.member(Member { suffix, hint: "mail.eml".into(), modified: None, metadata: Vec::new(), content })?;
        // Skips the rest of the mail.
        io::copy(&mut mail, &mut io::sink()).map_err(|error| meter.error(FORMAT, error))?;
        let end = if mail.state == MboxState::Before { mail.begins } else { mail.lines.place() };
        members.extent(start..end);
    }
    Ok(())
}

/// The state of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MboxState {
    /// A line `From ` was read, but the next mail has not begun.
    Before,
    /// Within a mail.
    Within,
    /// There are no more mails.
    Ended,
}

/// Reads one mail after the other.
struct Mail<'a, R> {
    lines: &'a mut LineReader<R>,
    /// Maximum bytes in a line.
    limit: u64,
    ready: Vec<u8>,
    at: usize,
    /// An empty line already read. This line belongs to the mail only if further lines of the mail follow.
    empty_lines: Vec<u8>,
    state: MboxState,
    /// Offset of the last line `From `.
    begins: u64,
    /// The form of the first line `From `.
    first: FromLine,
}

impl<R: Read> Mail<'_, R> {
    fn find_first(&mut self) -> io::Result<()> {
        loop {
            self.begins = self.lines.place();
            match self.lines.next(self.limit)? {
                None => self.state = MboxState::Ended,
                Some(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
                Some(line) => {
                    let form =
                        if let Line::Whole(line) = line { from_line(without_byte_order_mark(line)) } else { None };
                    self.first = form.ok_or_else(|| io::Error::other("it does not begin with a line From"))?;
                }
            }
            return Ok(());
        }
    }

    /// True if a line of this form begins a mail.
    fn separates(&mut self, form: FromLine, after_empty: bool) -> io::Result<bool> {
        let may = match form {
            FromLine::Dated => true,
            FromLine::Bare => after_empty,
            FromLine::Other(_) => after_empty && form == self.first,
        };
        Ok(may && is_header(self.lines.ahead()?))
    }

    /// Begins the next mail. Returns false if no mail follows.
    fn begin(&mut self) -> bool {
        let comes = self.state == MboxState::Before;
        if comes {
            self.state = MboxState::Within;
        }
        comes
    }

    /// Reads the next lines of the mail.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() && self.state == MboxState::Within {
            let after_empty = !self.empty_lines.is_empty();
            let place = self.lines.place();
            match self.lines.next(self.limit)? {
                None => {
                    self.empty_lines.clear();
                    self.state = MboxState::Ended;
                }
                Some(Line::TooLong) => {
                    return Err(io::Error::other(format!("a line has more than {} bytes", self.limit)));
                }
                Some(Line::Whole(line)) if line == b"\n" || line == b"\r\n" => {
                    self.ready.append(&mut self.empty_lines);
                    self.empty_lines.extend(line);
                }
                Some(Line::Whole(line)) => {
                    let form = from_line(line);
                    let quotes = line.iter().take_while(|&&byte| byte == b'>').count();
                    let quoted = quotes > 0 && line[quotes..].starts_with(b"From ");
                    self.ready.append(&mut self.empty_lines);
                    self.ready.extend(&line[usize::from(quoted)..]);
                    if let Some(form) = form
                        && self.separates(form, after_empty)?
                    {
                        self.ready.clear();
                        self.state = MboxState::Before;
                        self.begins = place;
                    }
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Mail<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.fill()?;
        }
        let read = buffer.len().min(self.ready.len() - self.at);
        buffer[..read].copy_from_slice(&self.ready[self.at..self.at + read]);
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::InputLimits;
    use fpdb_host::error::Error;
    use fpdb_host::skip_reason::SkipReason;

    #[derive(Default)]
    struct Mails(Vec<String>);

    impl Members for Mails {
        fn member(&mut self, member: Member<'_>) -> Result<()> {
            let MemberContent::Stream(bytes) = member.content else { return Ok(()) };
            let mut mail = String::new();
            bytes.read_to_string(&mut mail).map_err(Error::io("read", "mail"))?;
            self.0.push(format!("{} {mail}", member.suffix));
            Ok(())
        }
        fn failed(&mut self, _: String, error: Error) -> Result<()> {
            Err(error)
        }
        fn skipped(&mut self, _: String, _: SkipReason) -> Result<()> {
            Ok(())
        }
    }

    fn mails(text: &str) -> Vec<String> {
        let mut mails = Mails::default();
        let stop = fpdb_host::stop::StopToken::new();
        let meter = Meter::new(InputLimits::default(), None, &stop, &|_| {});
        if let Err(error) = read(&mut text.as_bytes(), &meter, &mut mails) {
            mails.0.push(error.chain());
        }
        mails.0
    }

    #[test]
    fn a_mail_is_the_same_wherever_it_stands() {
        for (end, one, two) in [("\n", "To: a\n\nx\n", "To: b\n\ny"), ("\r\n", "To: a\r\n\r\nx\r\n", "To: b\r\n")] {
            let [first, second] = [one, two].map(|mail| format!("From f{end}{mail}{end}"));
            let of = |mailbox: String| -> Vec<String> {
                let mut mails: Vec<_> = mails(&mailbox).iter().map(|mail| mail[3..].to_owned()).collect();
                mails.sort();
                mails
            };
            let second = if two.ends_with('\n') { second } else { format!("From f{end}{two}{end}{end}") };
            assert_eq!(of(format!("{first}{second}")), of(format!("{second}{first}")));
        }
    }

    #[test]
    fn mails_are_told_apart() {
        let date = "Sat Jan  3 01:05:34 1996";
        for (first, second) in [
            (format!("From a@x {date}"), format!("From c@y {date} +0100")),
            (format!("From - {date}"), "From ".to_owned()),
            ("From -".to_owned(), "From -".to_owned()),
            ("From ".to_owned(), format!("From - {date}")),
            ("From a@x".to_owned(), "From c@y".to_owned()),
            ("From a@x sam. 3 janv. 1996".to_owned(), "From c@y dim. 4 janv. 1996".to_owned()),
        ] {
            for prose in [
                "From the harbour we hear\n",
                "From the harbour we hear\n\nFrom now on: x\n",
                "From me to you\nSubject: fwd\n",
                "x\nFrom \nSubject: fwd\n",
                "From c@y Sat Jan  3 01:05:34 1996\nfor all of you: x\n",
                "From\nTo: x\n",
            ] {
                let text = format!("To: b\n\n{prose}\n\nand on\n\n{prose}");
                let mailbox = format!("{first}\n{text}\n{second}\nTo: d\n\n>From me\n>>From you\n> From\n");
                let expected = [format!("#1 {text}"), "#2 To: d\n\nFrom me\n>From you\n> From\n".to_owned()];
                assert_eq!(mails(&mailbox), expected, "{mailbox}");
            }
        }
        let without_empty_line = format!("From a {date}\nTo: b\n\nx\nFrom c {date}\nTo: d\n\ny\n");
        assert_eq!(mails(&without_empty_line), ["#1 To: b\n\nx\n", "#2 To: d\n\ny\n"]);
        assert_eq!(mails("\n\nFrom a\n"), ["#1 "]);
        assert_eq!(mails("\u{feff}From a\nTo: b\n"), ["#1 To: b\n"]);
        assert_eq!(mails("From a\n\n\n"), ["#1 \n"]);
        assert_eq!(mails("From me\nTo: b\n\nFrom you"), ["#1 To: b\n\nFrom you"]);
        assert!(mails("").is_empty());
        assert_eq!(mails("To: x\n"), ["the mbox data cannot be decoded: it does not begin with a line From"]);
    }
}
