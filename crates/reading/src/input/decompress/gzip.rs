//! Gzip: reads all members of a file one after the other. Zeros after them are skipped; tapes and disk blocks
//! leave such padding.
//!
//! In a compressed WARC or ARC each record is a member of its own. There the reader goes on after a damaged
//! member: it returns [`DamagedMember`], then the next member that begins a record. If the file is one member
//! only, the reader returns what comes before the damage.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use memchr::memmem;

use super::BUFFER;

/// Maximum decoded bytes of a record that are held until no damage is found in them. A smaller damaged member
/// gives nothing.
const HELD: u64 = 256 << 10;

/// Maximum compressed bytes of a member that are kept to search them for a member. A decoder may notice
/// damage only in the next member.
const KEPT: usize = 256 << 10;

/// Number of bytes that show whether a member begins a record.
const LOOK: usize = 1024;

/// Maximum number of places in a file that look like a member and begin no record. By chance there is one in
/// 16 MiB.
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
    /// The records that the members begin, if they do.
    records: Option<Records>,
    /// Decoded bytes of records, and the number of those that were returned.
    held: Vec<u8>,
    returned: usize,
    /// The error of the first member, until it is known whether another begins a record. After that, the error
    /// to return after the held bytes.
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

/// The records of a crawl. Each is a member of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Records {
    Warc,
    Arc,
}

impl Records {
    /// The records of a file that begins with these bytes.
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

/// The compressed bytes. Those of the current member are kept for a while.
struct Input<R> {
    input: R,
    /// The bytes from `at` to `filled` were read and are not decoded yet.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset of the buffer in the input.
    offset: u64,
    /// Offset of the current member in the input, and its place in the buffer, if it is kept there.
    member: u64,
    kept: Option<usize>,
    /// Offset up to which damaged members were decoded. No search begins before, so that each byte is decoded
    /// twice at most.
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
            // With twice the kept bytes, they are rarely moved.
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

    /// Notes that a member begins here, and whether to keep its bytes.
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

    /// Searches for the next member that begins a record.
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
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn inside(parts: &[&[u8]]) -> io::Result<String> {
        let mut text = String::new();
        let bytes = parts.concat();
        Gzip::new(Few(&bytes)).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Gives so few bytes at a time that every boundary falls between two reads.
    struct Few<'a>(&'a [u8]);

    impl Read for Few<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let few = buffer.len().min(3);
            self.0.read(&mut buffer[..few])
        }
    }

    /// The content of a file up to its end, or to an error after which reading ends. Also the offsets of the
    /// damaged members.
    fn all_inside(bytes: &[u8]) -> (String, Vec<u64>) {
        let (text, damaged, _) = inside_and_error(bytes);
        (text, damaged)
    }

    /// Like [`all_inside`], with the error after which reading ends.
    fn inside_and_error(bytes: impl Read) -> (String, Vec<u64>, Option<String>) {
        let (mut gzip, mut text, mut damaged) = (Gzip::new(bytes), Vec::new(), Vec::new());
        let mut last = None;
        while let Err(error) = gzip.read_to_end(&mut text) {
            let member = error.get_ref().and_then(|inner| inner.downcast_ref::<DamagedMember>());
            let Some(member) = member else {
                last = Some(error.to_string());
                break;
            };
            damaged.push(member.at);
        }
        (String::from_utf8(text).unwrap(), damaged, last)
    }

    fn records(range: std::ops::Range<u32>) -> Vec<String> {
        let text =
            |number: u32| (0..200).map(move |word| format!("{:x} ", (number * 1000 + word).wrapping_mul(0x9E37_79B1)));
        range.map(|number| format!("WARC/1.0\r\n{}", text(number).collect::<String>())).collect()
    }

    #[test]
    fn a_damaged_member_costs_no_other_record() {
        let texts = records(0..5);
        let members: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text)).collect();
        let (start, length) = (members[0].len() + members[1].len(), members[2].len());
        let without = [&texts[..2], &texts[3..]].concat().concat();
        for at in 0..length {
            for change in [1, 0xff] {
                let mut bytes = members.concat();
                bytes[start + at] ^= change;
                let (text, damaged) = all_inside(&bytes);
                // Time, system and flags in the header do not matter.
                if text == texts.concat() && at < 10 {
                    assert!(damaged.is_empty(), "{at}");
                } else {
                    assert!(text == without && damaged == [start as u64], "{at} {damaged:?} {}", text.len());
                }
            }
        }
        for cut in [1, length / 2, length - 1] {
            let bytes = [members[..2].concat(), members[2][..cut].to_vec(), members[3..].concat()].concat();
            assert_eq!(all_inside(&bytes), (without.clone(), vec![start as u64]), "{cut}");
            let bytes = [members[..2].concat(), members[2][..cut].to_vec()].concat();
            assert_eq!(all_inside(&bytes), (texts[..2].concat(), vec![start as u64]), "{cut}");
        }
        // Two damaged members, and a large one.
        let mut bytes = members.concat();
        bytes[start + length / 2] ^= 1;
        bytes[start + length + members[3].len() / 2] ^= 1;
        let damaged = vec![start as u64, (start + length) as u64];
        assert_eq!(all_inside(&bytes), ([&texts[..2], &texts[4..]].concat().concat(), damaged));
        let large = records(10..2000).concat();
        let packed = gzip(&large);
        let mut bytes = [&members[0][..], &packed, &members[1]].concat();
        bytes[members[0].len() + packed.len() - 100] ^= 1;
        let (text, damaged) = all_inside(&bytes);
        assert_eq!(damaged, [members[0].len() as u64]);
        assert!(text.starts_with(&(texts[0].clone() + &large[..large.len() / 2])) && text.ends_with(&texts[1]));
    }

    #[test]
    fn only_records_are_searched_for() {
        let [record, other] = [gzip(&records(0..1)[0]), gzip("no record")];
        let mut damaged = other.clone();
        damaged[other.len() - 5] ^= 1;
        assert_eq!(all_inside(&[&other[..], &damaged, &record].concat()).1, Vec::<u64>::new());
        let (text, at) = all_inside(&[&record[..], &damaged, &other, &record].concat());
        assert_eq!((text, at), (records(0..1).concat().repeat(2), vec![record.len() as u64]));
    }

    /// Members within members that are all damaged, and places that only look like members.
    #[test]
    fn a_hostile_file_is_searched_once() {
        let record = gzip(&records(0..1)[0]);
        let cut = &record[..40];
        let (text, damaged) = all_inside(&[&record[..], &cut.repeat(20_000)].concat());
        assert!(text == records(0..1)[0] && damaged.len() <= 20_000, "{}", damaged.len());
        let places = b"\x1f\x8b\x08\0".repeat(1 << 20);
        let (text, damaged, error) = inside_and_error(&[&record[..], &places, &record].concat()[..]);
        assert_eq!((text, damaged), (records(0..1).concat(), vec![record.len() as u64]));
        assert!(error.is_some_and(|error| error.ends_with("the rest was not read")));
    }

    /// A crawl that was compressed as a whole.
    #[test]
    fn what_comes_before_the_damage_of_the_only_member_is_returned() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        for count in [8, 2000] {
            let text = records(0..count).concat();
            let member = gzip(&text);
            let mut checksum = member.clone();
            checksum[member.len() - 6] ^= 1;
            let (read, damaged, error) = inside_and_error(&checksum[..]);
            assert!(read == text && damaged.is_empty() && error.is_some());
            let cut = &member[..member.len() - 200];
            let (read, damaged, error) = inside_and_error(cut);
            assert!(text.starts_with(&read) && read.len() + 2000 > text.len(), "{} of {}", read.len(), text.len());
            assert!(damaged.is_empty() && error.is_some());
            let (failed, damaged, error) = inside_and_error(cut.chain(Failing));
            assert_eq!((failed == read, damaged, error.as_deref()), (true, vec![], Some("the disk is gone")));
        }
        // Of a first record before others nothing is used.
        let members = [gzip(&records(0..1)[0]), gzip(&records(1..2)[0])];
        let bytes = [&members[0][..members[0].len() - 6], &members[1]].concat();
        assert_eq!(inside_and_error(&bytes[..]), (records(1..2).concat(), vec![0], None));
    }

    /// An interrupted read is repeated, and does not count as the end.
    #[test]
    fn an_interruption_between_members_loses_none() {
        struct Interrupted<'a>(Vec<&'a [u8]>);
        impl Read for Interrupted<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                match self.0.first().copied() {
                    None => Ok(0),
                    Some([]) => {
                        self.0.remove(0);
                        Err(io::ErrorKind::Interrupted.into())
                    }
                    Some(part) => {
                        let read = part.len().min(buffer.len());
                        buffer[..read].copy_from_slice(&part[..read]);
                        self.0[0] = &part[read..];
                        Ok(read)
                    }
                }
            }
        }
        let (one, two) = (gzip("one "), gzip("two"));
        let mut text = String::new();
        Gzip::new(Interrupted(vec![&one, &[0; 5], &two])).read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
    }

    #[test]
    fn members_follow_each_other_and_zeros_are_no_more_than_padding() {
        let (one, two) = (gzip("one "), gzip("two"));
        assert_eq!(inside(&[&one]).unwrap(), "one ");
        assert_eq!(inside(&[&one, &two]).unwrap(), "one two");
        assert_eq!(inside(&[&one, &two, &[0; 1000]]).unwrap(), "one two");
        assert_eq!(inside(&[&one, &[0; 10], &two]).unwrap(), "one two");
        assert!(inside(&[&one, b"garbage"]).is_err());
        assert!(inside(&[&one, &two[..5]]).is_err());
        assert!(inside(&[&one[..one.len() - 1]]).is_err());
        assert!(inside(&[]).is_err());
    }
}
