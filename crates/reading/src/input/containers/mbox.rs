//! mbox: mails one after the other. A line `From ...` begins a mail, at the start of the file or after an
//! empty line. Similar lines within a mail are stored with a `>` in front, which is removed.
//!
//! The empty line after a mail belongs to no mail, also at the end of the file. So the bytes of a mail do not
//! depend on its place in the mailbox.

use std::io::{self, Read};

use super::lines::{Line, LineReader};
use super::{Member, MemberContent, Members};
use crate::input::decompress::meter::Meter;
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
    /// An empty line already read. It belongs to the mail if more lines of the mail follow.
    empty_lines: Vec<u8>,
    state: MboxState,
    /// Offset of the last line `From `.
    begins: u64,
}

impl<R: Read> Mail<'_, R> {
    fn find_first(&mut self) -> io::Result<()> {
        loop {
            self.begins = self.lines.place();
            match self.lines.next(self.limit)? {
                None => self.state = MboxState::Ended,
                Some(Line::Whole(line)) if line.trim_ascii().is_empty() => continue,
                Some(Line::Whole(line)) if line.starts_with(b"From ") => {}
                Some(_) => return Err(io::Error::other("it does not begin with a line From")),
            }
            return Ok(());
        }
    }

    /// Begins the next mail. Returns false if there is none.
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
                Some(Line::Whole(line)) if after_empty && line.starts_with(b"From ") => {
                    self.empty_lines.clear();
                    self.state = MboxState::Before;
                    self.begins = place;
                }
                Some(Line::Whole(line)) => {
                    self.ready.append(&mut self.empty_lines);
                    let quotes = line.iter().take_while(|&&byte| byte == b'>').count();
                    let quoted = quotes > 0 && line[quotes..].starts_with(b"From ");
                    self.ready.extend(&line[usize::from(quoted)..]);
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
        assert_eq!(
            mails(
                "From a x\nTo: b\n\nFrom\nFrom here on\n\n\nand on\n\nFrom c y\nTo: d\n\n>From me\n>>From you\n> From\n"
            ),
            ["#1 To: b\n\nFrom\nFrom here on\n\n\nand on\n", "#2 To: d\n\nFrom me\n>From you\n> From\n"]
        );
        assert_eq!(mails("\n\nFrom a\n"), ["#1 "]);
        assert_eq!(mails("From a\n\n\n"), ["#1 \n"]);
        assert!(mails("").is_empty());
        assert_eq!(mails("To: x\n"), ["the mbox data cannot be decoded: it does not begin with a line From"]);
    }
}
