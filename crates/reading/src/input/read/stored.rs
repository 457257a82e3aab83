//! Stored: reads a stored document again from its original place.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::iter::once;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::thread::JoinHandle;

use crate::input::expand::member_name::{
    CLOSED, PARTS, StoredPlace, may_be_attached, member_of, member_today, parts_of,
};
use crate::input::find::candidate::{candidate_of, is_pipe};
use crate::input::{
    About, Candidate, Content, HELD_BYTES, Opened, Pieces, ReadAs, ReadContext, ReadOptions, RecordFields, WalkEvent,
    open, single_document, temporary,
};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_host::threads;

/// Maximum bytes of a container that is searched for a member while a user waits. The texts of members of
/// larger containers can be stored in the database.
pub const SEARCHED_BYTES: u64 = 64 << 20;

/// The document that was read from this place. A member is found by reading its container, which may have at
/// most `searched` bytes. The member is returned in memory, or in a temporary file if it is large. If the
/// member has grown, only its beginning is returned.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::Io`] if the file cannot be read; [`Error::TextGone`] if the file no longer
/// has this part; [`DocumentError::NotSearched`] if the container is too large.
pub fn stored_document(
    StoredPlace { source, name, member, bytes }: StoredPlace<'_>,
    options: &ReadOptions,
    searched: u64,
    stop: &StopToken,
) -> Result<Candidate> {
    let path = Path::new(source);
    // If a pipe has replaced the file, do not wait for it.
    if is_pipe(path) {
        return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
    }
    let Some(member) = member.filter(|&member| member != CLOSED) else {
        let options = ReadOptions { closed: member.is_some(), attachments: false, ..options.clone() };
        return single_document(path, &options, stop);
    };
    let (suffix, field) = parts_of(name, member);
    let today = member_today(source, member);
    let wanted = BTreeMap::from([(today.clone().into_owned(), bytes)]);
    let mut members = members_of_file(path, field, &wanted, options, searched, stop)?;
    stop.check()?;
    members.take(&today, &member_today(source, suffix)).unwrap_or_else(|| Err(text_gone(source, suffix)))
}

/// The error for a part that is no longer in the file `source`.
pub(crate) fn text_gone(source: &str, suffix: &str) -> Error {
    Error::TextGone { name: format!("{source}{suffix}"), source_path: Some(source.to_owned()) }
}

/// The document that a path names as a part of a container, such as `all.zip!ann/a.c`. `!/` means `!`. The
/// container may have any size. `None` if no beginning of the path is a file. If the file has no such part,
/// returns [`DocumentError::NoSuchPart`], or `None` if the path is that of a file in an existing folder.
pub(crate) fn named_part(path: &Path, options: &ReadOptions, stop: &StopToken) -> Option<Result<Candidate>> {
    let path = path.to_str()?;
    let (at, _) = path.match_indices(PARTS).find(|&(at, _)| Path::new(&path[..at]).is_file())?;
    let (file, suffix) = path.split_at(at);
    let suffix = suffix.replace("!/", "!");
    let field = Some(&*options.fields.text).filter(|&field| field != RecordFields::default().text);
    // The name of a record includes its field. The name of another part does not.
    let record = member_of(&suffix, &options.fields);
    let wanted = BTreeMap::from([(record.clone(), u64::MAX), (suffix.clone(), u64::MAX)]);
    match members_of_file(Path::new(file), field, &wanted, options, u64::MAX, stop) {
        Ok(mut members) => {
            // A stopped run has not looked at all parts, so the part may exist.
            if let Err(stopped) = stop.check() {
                return Some(Err(stopped));
            }
            let found = members.take(&record, &suffix).or_else(|| members.take(&suffix, &suffix));
            let is_folder = |above: &Path| above.as_os_str().len() > file.len() && above.is_dir();
            let is_in_folder = || Path::new(path).parent().is_some_and(is_folder);
            found.or_else(|| {
                let missing = DocumentError::NoSuchPart { path: file.into(), part: suffix.clone() };
                (!is_in_folder()).then_some(Err(Error::Document(missing)))
            })
        }
        Err(error) => Some(Err(error)),
    }
}

/// The members found in a container.
#[derive(Default)]
pub(crate) struct FoundMembers {
    pub(crate) found: HashMap<String, Result<Candidate>>,
    /// The errors of members, and of parts that hold members, by suffix.
    pub(crate) failed: HashMap<String, Error>,
}

impl FoundMembers {
    /// Adds a member once all of its bytes have arrived.
    fn add(&mut self, member: Option<(String, About, Gathering)>) {
        if let Some((member, about, gathering)) = member {
            // If several members have this name, the last one was stored.
            self.found.insert(member, gathering.finish().map(|content| Candidate { about, content }));
        }
    }

    /// The member, or the error that replaces it. `None` if the container does not have it.
    fn take(&mut self, member: &str, suffix: &str) -> Option<Result<Candidate>> {
        let failed = || Some(Err(self.failed.remove(failed_part(&self.failed, suffix)?)?));
        self.found.remove(member).or_else(failed)
    }
}

/// The suffix of the innermost part in `failed` that is the part `suffix` or holds it.
pub fn failed_part<'a, T>(failed: &HashMap<String, T>, suffix: &'a str) -> Option<&'a str> {
    let ends = once(suffix.len()).chain(suffix.rmatch_indices(PARTS).map(|(at, _)| at));
    ends.map(|end| &suffix[..end]).find(|&part| failed.contains_key(part))
}

/// The suffix of a member whose text is in this field of a record.
pub fn without_field<'a>(member: &'a str, field: Option<&str>) -> &'a str {
    field.and_then(|field| member.strip_suffix(field)?.strip_suffix('?')).unwrap_or(member)
}

/// Reads the `members` that are still in the container at `path`. The values of `members` are numbers of
/// bytes. If `field` is given, all members are records with their text in this field.
///
/// # Errors
/// Like [`stored_document`].
pub(crate) fn members_of_file(
    path: &Path,
    field: Option<&str>,
    members: &BTreeMap<String, u64>,
    options: &ReadOptions,
    searched: u64,
    stop: &StopToken,
) -> Result<FoundMembers> {
    let Candidate { mut about, .. } = candidate_of(path)?;
    // Attachments are read only if the format is detected, not if the caller chose it.
    let mut options = options.clone().front_end(ReadAs::Auto);
    options.fields.text = field.map_or(RecordFields::default().text, str::to_owned);
    options.attachments = members.keys().any(|member| may_be_attached(&about.name, member));
    let Some(file) = about.file.clone() else { return Ok(FoundMembers::default()) };
    if file.bytes > searched {
        return Err(Error::Document(DocumentError::NotSearched { path: path.to_owned(), limit: searched }));
    }
    let reading = ReadContext { options: &options, members: None, stop, progress: &|_| {} };
    let Opened::Container(container) = open(&mut about, &file, reading)? else { return Ok(FoundMembers::default()) };
    let suffixes: BTreeSet<&str> = members.keys().map(|member| without_field(member, field)).collect();
    let concerns = |suffix: &str| {
        let begins = |start: &str| {
            suffixes
                .range::<str, _>((Bound::Included(start), Bound::Unbounded))
                .next()
                .is_some_and(|member| member.starts_with(start))
        };
        suffixes.contains(suffix) || PARTS.iter().any(|part| begins(&format!("{suffix}{part}")))
    };
    // Several members can have the same name. The last of them was stored, so all members are read. No two
    // records have the same number, so if only records are wanted, the reading ends at the last wanted
    // record.
    let is_number = |suffix: &&str| suffix.strip_prefix(':').is_some_and(|number| number.parse::<u64>().is_ok());
    let end_early = suffixes.iter().all(is_number);
    let (mut found, mut arriving) = (FoundMembers::default(), None);
    container.expand(&about, &file, reading, &mut |step| {
        found.add(arriving.take());
        if end_early && found.found.len() == members.len() {
            return ControlFlow::Break(());
        }
        match step {
            WalkEvent::Document(Candidate { about, content }) => {
                if let Some((member, &bytes)) = about.member.as_ref().and_then(|member| members.get_key_value(member)) {
                    arriving = Some((member.clone(), about, Gathering::of(content, bytes)));
                }
            }
            WalkEvent::Failed { name, error } => {
                let suffix = name.strip_prefix(&about.name);
                if let Some(suffix) = suffix.filter(|suffix| concerns(suffix)) {
                    found.failed.insert(suffix.to_owned(), error);
                }
            }
            WalkEvent::Skipped { .. } | WalkEvent::Archive(_) | WalkEvent::LeftOut(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    found.add(arriving);
    Ok(found)
}

/// The bytes of a member, while they arrive.
pub(crate) enum Gathering {
    Done(Result<Content>),
    /// Another thread collects the bytes, because the thread that waits for them also sends them.
    Pieces(JoinHandle<Result<Content>>),
}

impl Gathering {
    /// Collects the bytes. Stops soon after `expected` bytes, because a document with more bytes has changed.
    pub(crate) fn of(content: Content, expected: u64) -> Self {
        match content {
            Content::Whole(bytes) => Self::Done(Ok(cut(bytes, expected))),
            Content::Pieces(pieces) => threads::start("gather", move || gather(&pieces, expected))
                .map_or_else(|error| Self::Done(Err(Error::threads(1)(error))), Self::Pieces),
            content => Self::Done(Ok(content)),
        }
    }

    pub(crate) fn finish(self) -> Result<Content> {
        match self {
            Self::Done(content) => content,
            Self::Pieces(gathered) => gathered.join().unwrap_or_else(|_| {
                Err(Error::Document(DocumentError::ReaderFailed {
                    detail: "the thread that gathered it panicked".into(),
                }))
            }),
        }
    }
}

/// Collects pieces: in a temporary file if they are too many for memory.
fn gather(pieces: &Pieces, expected: u64) -> Result<Content> {
    let (mut bytes, mut file, mut total) = (Vec::new(), None, 0);
    while total <= expected
        && let Some(piece) = pieces.receive()?
    {
        total += piece.len() as u64;
        bytes.extend(piece);
        if total > HELD_BYTES && file.is_none() {
            file = Some(temporary::create()?);
        }
        if let Some(file) = &mut file {
            file.write_all(&bytes).map_err(temporary::failed("write a file in"))?;
            bytes.clear();
        }
    }
    Ok(file.map_or_else(|| cut(bytes, expected), Content::Temporary))
}

/// At most one byte more than `expected`, which is enough to see a change.
fn cut(mut bytes: Vec<u8>, expected: u64) -> Content {
    bytes.truncate(usize::try_from(expected).unwrap_or(usize::MAX).saturating_add(1));
    bytes.shrink_to_fit();
    Content::Whole(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{InputLimits, Reader};

    #[test]
    fn what_fails_is_a_member_or_holds_it() {
        let failed = [":1", "!a.jsonl", "!a.tar", "!a.tar!b.zip"].map(|part| (part.to_owned(), ()));
        let failed = HashMap::from(failed);
        for (suffix, part) in [
            (":1", Some(":1")),
            ("!a.jsonl:3", Some("!a.jsonl")),
            ("!a.tar!b", Some("!a.tar")),
            ("!a.tar!b.zip!c:3", Some("!a.tar!b.zip")),
            (":17", None),
            ("!a", None),
            ("!a.tar2!b", None),
        ] {
            assert_eq!(failed_part(&failed, suffix), part, "{suffix}");
        }
        let whole = HashMap::from([(String::new(), ())]);
        assert_eq!(failed_part(&whole, "!a!b"), Some(""));
    }

    /// A stopped search does not report that a part is missing.
    #[test]
    fn a_stop_comes_before_a_part_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("two.jsonl"), "{\"text\":\"a\"}\n{\"text\":\"b\"}\n").unwrap();
        let part = folder.path().join("two.jsonl:3");
        let error_after = |stop: &StopToken| single_document(&part, &ReadOptions::default(), stop).unwrap_err();
        let stop = StopToken::after(1000);
        assert!(matches!(error_after(&stop), Error::Document(DocumentError::NoSuchPart { .. })));
        for looks in 0..1000 - stop.looks_left() {
            assert!(matches!(error_after(&StopToken::after(looks)), Error::Stopped), "{looks}");
        }
    }

    /// The collected content of a member with this many pieces of 1 MiB, and the number of pieces that were
    /// received.
    fn gathered(pieces: usize, expected: u64) -> (Content, usize) {
        let (sender, receiver) = Pieces::queue(pieces + 1);
        (0..pieces).for_each(|_| assert!(sender.send(vec![b'x'; 1 << 20])));
        assert!(sender.send(Vec::new()));
        drop(sender);
        let content = gather(&receiver, expected).unwrap();
        let left = std::iter::from_fn(|| receiver.receive().ok()).count();
        (content, pieces + 1 - left)
    }

    #[test]
    fn a_member_that_has_grown_is_held_to_the_first_byte_too_many() {
        let (content, received) = gathered(9, 2 << 20);
        assert!(matches!(content, Content::Whole(bytes) if bytes.len() == (2 << 20) + 1));
        assert_eq!(received, 3);
        let Gathering::Done(Ok(Content::Whole(bytes))) = Gathering::of(Content::Whole(vec![0; 1000]), 10) else {
            panic!("it has arrived")
        };
        assert!(bytes.len() == 11 && bytes.capacity() < 1000);
    }

    #[test]
    fn a_member_too_large_for_memory_is_held_in_a_temporary_file() {
        let pieces = (HELD_BYTES >> 20) as usize;
        assert!(matches!(gathered(pieces, u64::MAX).0, Content::Whole(bytes) if bytes.len() as u64 == HELD_BYTES));
        let (content, _) = gathered(pieces + 1, u64::MAX);
        assert!(matches!(&content, Content::Temporary(_)));
        let candidate = Candidate { content, ..Candidate::standard_input("a") };
        // The content can be read again.
        for _ in 0..2 {
            let mut bytes = 0;
            let mut take = |piece: &[u8]| {
                bytes += piece.len() as u64;
                Ok(())
            };
            let mut reader = Reader::new(InputLimits::default());
            reader.read(&candidate, &StopToken::new(), &|_| {}, &mut take).unwrap();
            assert_eq!(bytes, HELD_BYTES + (1 << 20));
        }
    }
}
