//! Gzip: reads all members of a file one after the other. Zeros after the members are skipped: tapes and disk
//! blocks leave such padding.
//!
//! In a compressed WARC or ARC each record is a member of its own. In such a file the reader goes on after a
//! damaged member: it returns [`DamagedMember`], then the next member that begins a record. If the file is a
//! single member, the reader returns the content before the damage.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use memchr::memmem;

use super::BUFFER;

/// Records are decoded in parts of this many bytes. A part with damage is dropped, so nothing is returned of
/// a smaller damaged member.
const HELD: u64 = 256 << 10;

/// Maximum compressed bytes of the current member that are kept. A decoder may notice the damage of a member
/// only within the next member. So after damage these bytes are searched for the next member.
const KEPT: usize = 256 << 10;

/// Number of bytes that show whether a member begins a record.
const LOOK: usize = 1024;

/// Maximum number of places in a file that look like a member and begin no record. In random bytes, such a
/// place occurs once in 16 MiB.
const FALSE_PLACES: u32 = 10_000;

/// A member that is a record of a crawl is damaged. Reading goes on at the next member.
#[derive(Debug)]
pub(crate) struct DamagedMember {
    source: io::Error,
    /// Offset of the member in the compressed data.
    at: u64,
}

impl Display for DamagedMember {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, in the member at byte {}", self.source, self.at)
    }
}

impl Error for DamagedMember {}

fn of_member(source: io::Error, at: u64) -> io::Error {
    io::Error::new(source.kind(), DamagedMember { source, at })
}

/// True if reading goes on after this error.
pub(crate) fn is_of_member(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<DamagedMember>())
}

/// Reads the content of all members.
pub(crate) struct Gzip<R> {
    state: State<R>,
    /// The kind of records in the members; `None` if the members are not records.
    records: Option<Records>,
    /// Decoded bytes of records, and the number of those that were returned.
    held: Vec<u8>,
    returned: usize,
    /// The error of the first member. It is kept while the reader searches for another member that begins a
    /// record. If there is none, the error is returned after the held bytes.
    first: Option<io::Error>,
}

enum State<R> {
    /// Before the first member.
    Start(Input<R>),
    Member(Box<GzDecoder<Input<R>>>),
    /// Within or after a damaged member.
    Damaged(Input<R>),
    End,
}

impl<R: Read> Gzip<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { state: State::Start(Input::new(input)), records: None, held: Vec::new(), returned: 0, first: None }
    }

    /// Takes the input, before the state is replaced.
    fn take_input(&mut self) -> Option<Input<R>> {
        match std::mem::replace(&mut self.state, State::End) {
            State::Start(input) | State::Damaged(input) => Some(input),
            State::Member(member) => Some(member.into_inner()),
            State::End => None,
        }
    }

    /// Begins to read a member at the current place.
    fn begin(&mut self) {
        if let Some(mut input) = self.take_input() {
            input.begin_member(self.records.is_some());
            self.state = State::Member(Box::new(GzDecoder::new(input)));
        }
    }

    /// Handles the error of a member that cannot be decoded.
    fn damaged(&mut self, source: io::Error) -> io::Result<()> {
        let State::Member(member) = &self.state else { return Err(source) };
        let (at, has_failed) = (member.get_ref().member, member.get_ref().has_failed);
        let is_first = self.records.is_some() && at == 0;
        if self.records.is_none() || (has_failed && !is_first) {
            self.held.clear();
            return Err(source);
        }
        let Some(mut input) = self.take_input() else { return Err(source) };
        if is_first {
            self.first = Some(source);
            if !has_failed {
                self.returned = self.held.len();
                input.go_back();
                self.state = State::Damaged(input);
            }
            return Ok(());
        }
        self.held.clear();
        input.go_back();
        self.state = State::Damaged(input);
        Err(of_member(source, at))
    }

    /// Goes on after a damaged member.
    fn search(&mut self) -> io::Result<()> {
        let State::Damaged(input) = &mut self.state else { return Ok(()) };
        let found = input.find(self.records);
        match (found, self.first.take()) {
            (Err(error), first) if error.kind() == io::ErrorKind::Interrupted => {
                self.first = first;
                return Err(error);
            }
            (Ok(true), first) => {
                self.held.clear();
                self.returned = 0;
                self.begin();
                return first.map_or(Ok(()), |first| Err(of_member(first, 0)));
            }
            // The file is one member.
            (Ok(false), Some(first)) => (self.first, self.returned) = (Some(first), 0),
            (Err(error), Some(_)) => (self.first, self.returned) = (Some(error), 0),
            (Err(error), None) => self.first = Some(error),
            (Ok(false), None) => {}
        }
        self.state = State::End;
        Ok(())
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let held = &self.held[self.returned..];
            if !held.is_empty() || buffer.is_empty() {
                let read = held.len().min(buffer.len());
                buffer[..read].copy_from_slice(&held[..read]);
                self.returned += read;
                return Ok(read);
            }
            let decoded = match &mut self.state {
                State::End => return self.first.take().map_or(Ok(0), Err),
                State::Start(input) => {
                    input.look()?;
                    self.records = Records::of(input.ahead());
                    self.begin();
                    continue;
                }
                State::Damaged(_) => {
                    self.search()?;
                    continue;
                }
                State::Member(member) if self.records.is_some() => {
                    self.held.clear();
                    self.returned = 0;
                    member.by_ref().take(HELD).read_to_end(&mut self.held)
                }
                State::Member(member) => member.read(buffer),
            };
            match decoded {
                Ok(0) => self.next_member()?,
                Ok(read) if self.records.is_none() => return Ok(read),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
                Err(error) => self.damaged(error)?,
            }
        }
    }
}

impl<R: Read> Gzip<R> {
    /// Goes on after a member whose checksum is correct. Another member or padding follows.
    fn next_member(&mut self) -> io::Result<()> {
        let State::Member(member) = &mut self.state else { return Ok(()) };
        if follows(member.get_mut())? {
            self.begin();
        } else {
            self.state = State::End;
        }
        Ok(())
    }
}

/// The kind of records of a crawl. Each record is a member of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Records {
    Warc,
    Arc,
}

impl Records {
    /// The kind of records of a file that begins with these bytes.
    fn of(file: &[u8]) -> Option<Self> {
        let begins = content(file);
        let of_arc = || begins.starts_with(b"filedesc:").then_some(Self::Arc);
        if begins.starts_with(b"WARC/") { Some(Self::Warc) } else { of_arc() }
    }

    /// True if a member that begins with these bytes begins a record. A record of an ARC begins with an
    /// address.
    fn begins(self, member: &[u8]) -> bool {
        let begins = content(member);
        let scheme = begins.split(|&byte| byte == b':').next().unwrap_or_default();
        match self {
            Self::Warc => begins.starts_with(b"WARC/"),
            Self::Arc => (3..begins.len()).contains(&scheme.len()) && scheme.iter().all(u8::is_ascii_lowercase),
        }
    }
}

/// The first bytes of the content of a member.
fn content(member: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    // A damaged member has no more content.
    let _ = GzDecoder::new(&member[..member.len().min(LOOK)]).take(16).read_to_end(&mut content);
    content
}

/// The compressed bytes. The buffer keeps the bytes of the current member, up to [`KEPT`] bytes.
struct Input<R> {
    input: R,
    /// The bytes from `at` to `filled` were read and are not decoded yet.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset of the buffer in the input.
    offset: u64,
    /// Offset of the current member in the input, and its place in the buffer if it is kept there.
    member: u64,
    kept: Option<usize>,
    /// Offset up to which damaged members were decoded. No later search goes back before it, so each byte is
    /// decoded twice at most.
    searched: u64,
    false_places: u32,
    /// True if the input itself could not be read.
    has_failed: bool,
}

impl<R: Read> Input<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            offset: 0,
            member: 0,
            kept: None,
            searched: 0,
            false_places: 0,
            has_failed: false,
        }
    }

    fn position(&self) -> u64 {
        self.offset + self.at as u64
    }

    /// The bytes that were read and are not decoded yet.
    fn ahead(&self) -> &[u8] {
        &self.buffer[self.at..self.filled]
    }

    /// Reads more bytes. Returns false at the end of the input.
    fn read_more(&mut self) -> io::Result<bool> {
        if self.buffer.len() < self.filled + BUFFER {
            self.kept = self.kept.filter(|kept| self.filled - kept <= KEPT);
            let start = self.kept.unwrap_or(self.at);
            self.buffer.copy_within(start..self.filled, 0);
            (self.at, self.filled, self.offset) = (self.at - start, self.filled - start, self.offset + start as u64);
            self.kept = self.kept.map(|_| 0);
            // With room for twice the kept bytes, bytes are rarely moved.
            self.buffer.resize(self.buffer.len().max(2 * self.filled).max(self.filled + BUFFER), 0);
        }
        let read = self.input.read(&mut self.buffer[self.filled..self.filled + BUFFER]);
        self.has_failed |= read.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        let read = read?;
        self.filled += read;
        Ok(read > 0)
    }

    /// Reads until [`LOOK`] bytes or all bytes are ahead.
    fn look(&mut self) -> io::Result<()> {
        while self.ahead().len() < LOOK && self.read_more()? {}
        Ok(())
    }

    /// Notes that a member begins here. Its bytes are kept if `keep` is true.
    fn begin_member(&mut self, keep: bool) {
        (self.member, self.kept) = (self.position(), keep.then_some(self.at));
    }

    /// Goes back into the current member, which is damaged, if its bytes are kept.
    fn go_back(&mut self) {
        let position = self.position();
        if let Some(kept) = self.kept.take().filter(|_| self.member >= self.searched) {
            self.at = self.filled.min(kept + 1);
        }
        self.searched = self.searched.max(position);
    }

    /// Searches for the next member that begins a record. Returns false if there is none.
    fn find(&mut self, records: Option<Records>) -> io::Result<bool> {
        const MAGIC: &[u8] = b"\x1f\x8b\x08";
        while self.false_places < FALSE_PLACES {
            match memmem::find(self.ahead(), MAGIC) {
                Some(place) => {
                    self.at += place;
                    self.look()?;
                    if records.is_some_and(|records| records.begins(self.ahead())) {
                        return Ok(true);
                    }
                    self.false_places += 1;
                    self.at += 1;
                }
                None => {
                    self.at = self.at.max(self.filled.saturating_sub(MAGIC.len() - 1));
                    if !self.read_more()? {
                        return Ok(false);
                    }
                }
            }
        }
        Err(io::Error::other("too many places look like records and are none, and the rest was not read"))
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ahead = self.fill_buf()?;
        let read = ahead.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.filled {
            self.read_more()?;
        }
        Ok(self.ahead())
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

/// Skips zeros. Returns false if nothing follows them.
fn follows(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let (is_end, is_over) = (bytes.is_empty(), zeros == bytes.len());
        input.consume(zeros);
        if is_end || !is_over {
            return Ok(!is_end);
        }
    }
}

#[cfg(test)]
mod tests;
