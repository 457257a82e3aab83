//! Stored: reads a stored document again from its original place.

use std::collections::{BTreeSet, HashMap};
use std::iter::once;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::thread::JoinHandle;

use crate::input::expand::member_name::{CLOSED, StoredPlace, may_be_attached, member_of, parts_of};
use crate::input::find::candidate::{candidate_of, is_pipe};
use crate::input::{
    Candidate, Content, Opened, ReadAs, ReadContext, ReadOptions, RecordFields, WalkEvent, next_piece, open,
    single_document,
};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_host::threads;

/// Larger containers are not searched for a member while a user waits. Texts of their members can be stored
/// in the database.
pub const SEARCHED_BYTES: u64 = 64 << 20;

/// The document that was read from this place. A member is found by reading its container, which may have at
/// most `searched` bytes. Members are returned whole, in memory.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::Io`] if the file cannot be read; [`Error::TextGone`] if the file no longer
/// has this part; [`DocumentError::NotSearched`] if the container is too large.
pub fn stored_document(
    StoredPlace { source, name, member }: StoredPlace<'_>,
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
    let wanted = BTreeSet::from([member.to_owned()]);
    let (suffix, field) = parts_of(name, member);
    let mut members = members_of_file(path, field, &wanted, options, searched, stop)?;
    stop.check()?;
    members.take(member, suffix).unwrap_or_else(|| Err(text_gone(source, suffix)))
}

/// The error for a part that is no longer in the file `source`.
pub(crate) fn text_gone(source: &str, suffix: &str) -> Error {
    Error::TextGone { name: format!("{source}{suffix}"), source_path: Some(source.to_owned()) }
}

/// The document that a path names as a part of a container, such as `all.zip!ann/a.c`. `!/` means `!`. The
/// container may have any size. `None` if there is no such part.
pub(crate) fn named_part(path: &Path, options: &ReadOptions, stop: &StopToken) -> Option<Result<Candidate>> {
    let path = path.to_str()?;
    let (at, _) = path.match_indices(PARTS).find(|&(at, _)| Path::new(&path[..at]).is_file())?;
    let (file, suffix) = path.split_at(at);
    let suffix = suffix.replace("!/", "!");
    let field = Some(&*options.fields.text).filter(|&field| field != RecordFields::default().text);
    // A record is named with its field, another part is not.
    let record = member_of(&suffix, &options.fields);
    let wanted = BTreeSet::from([record.clone(), suffix.clone()]);
    match members_of_file(Path::new(file), field, &wanted, options, u64::MAX, stop) {
        Ok(mut members) => members.take(&record, &suffix).or_else(|| members.take(&suffix, &suffix)),
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
    /// The member, or the error that replaces it. `None` if the container does not have it.
    fn take(&mut self, member: &str, suffix: &str) -> Option<Result<Candidate>> {
        let failed = || Some(Err(self.failed.remove(failed_part(&self.failed, suffix)?)?));
        self.found.remove(member).or_else(failed)
    }
}

/// The innermost part in `failed` that is the part named `suffix`, or holds it.
pub(crate) fn failed_part<'a, T>(failed: &HashMap<String, T>, suffix: &'a str) -> Option<&'a str> {
    let ends = once(suffix.len()).chain(suffix.rmatch_indices(PARTS).map(|(at, _)| at));
    ends.map(|end| &suffix[..end]).find(|&part| failed.contains_key(part))
}

/// The suffix of a member whose text is in this field of a record.
pub(crate) fn without_field<'a>(member: &'a str, field: Option<&str>) -> &'a str {
    field.and_then(|field| member.strip_suffix(field)?.strip_suffix('?')).unwrap_or(member)
}

/// Reads those of `members` that are still in the container at `path`. If `field` is given, all members are
/// records with their text in this field.
///
/// # Errors
/// Like [`stored_document`].
pub(crate) fn members_of_file(
    path: &Path,
    field: Option<&str>,
    members: &BTreeSet<String>,
    options: &ReadOptions,
    searched: u64,
    stop: &StopToken,
) -> Result<FoundMembers> {
    let Candidate { mut about, .. } = candidate_of(path)?;
    // Other formats than the detected one have no attachments.
    let mut options = options.clone().front_end(ReadAs::Auto);
    options.fields.text = field.map_or(RecordFields::default().text, str::to_owned);
    options.attachments = members.iter().any(|member| may_be_attached(&about.name, member));
    let Some(file) = about.file.clone() else { return Ok(FoundMembers::default()) };
    if file.bytes > searched {
        return Err(Error::Document(DocumentError::NotSearched { path: path.to_owned(), limit: searched }));
    }
    let reading = ReadContext { options: &options, members: None, stop, progress: &|_| {} };
    let Opened::Container(container) = open(&mut about, &file, reading)? else { return Ok(FoundMembers::default()) };
    let suffixes: BTreeSet<&str> = members.iter().map(|member| without_field(member, field)).collect();
    let concerns = |suffix: &str| {
        let begins = |start: &str| {
            suffixes
                .range::<str, _>((Bound::Included(start), Bound::Unbounded))
                .next()
                .is_some_and(|member| member.starts_with(start))
        };
        suffixes.contains(suffix) || PARTS.iter().any(|part| begins(&format!("{suffix}{part}")))
    };
    let (mut found, mut failed) = (HashMap::new(), HashMap::<String, Error>::new());
    container.expand(&about, &file, reading, &mut |step| {
        match step {
            WalkEvent::Document(Candidate { about, content }) => {
                if let Some(member) = about.member.as_ref().filter(|&member| members.contains(member)) {
                    // If several members have this name, the last one was stored.
                    found.insert(member.clone(), (about, Gathering::of(content)));
                }
            }
            WalkEvent::Failed { name, error } => {
                let suffix = name.strip_prefix(&about.name);
                if let Some(suffix) = suffix.filter(|suffix| concerns(suffix)) {
                    failed.insert(suffix.to_owned(), error);
                }
            }
            WalkEvent::Skipped { .. } | WalkEvent::Archive(_) | WalkEvent::LeftOut(_) => {}
        }
        ControlFlow::Continue(())
    })?;
    let whole = |(about, content): (_, Gathering)| Ok(Candidate { about, content: Content::Whole(content.whole()?) });
    let found = found.into_iter().map(|(member, found)| (member, whole(found))).collect();
    Ok(FoundMembers { found, failed })
}

/// Characters with which the suffix of a part begins. The suffix follows the container's name.
const PARTS: [char; 3] = ['!', ':', '#'];

/// The bytes of a member, while they arrive.
pub(crate) enum Gathering {
    Whole(Vec<u8>),
    /// The thread that waits for the bytes also sends them, so another thread collects them.
    Pieces(JoinHandle<Result<Vec<u8>>>),
    Failed(Error),
}

impl Gathering {
    pub(crate) fn of(content: Content) -> Self {
        match content {
            Content::Whole(bytes) => Self::Whole(bytes),
            Content::Pieces(pieces) => {
                let gather = move || {
                    let mut bytes = Vec::new();
                    while let Some(piece) = next_piece(&pieces)? {
                        bytes.extend(piece);
                    }
                    Ok(bytes)
                };
                threads::start("gather", gather)
                    .map_or_else(|error| Self::Failed(Error::threads(1)(error)), Self::Pieces)
            }
            Content::File | Content::Compressed(_) | Content::Pipe(_) => Self::Whole(Vec::new()),
        }
    }

    pub(crate) fn whole(self) -> Result<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Ok(bytes),
            Self::Failed(error) => Err(error),
            Self::Pieces(gathered) => gathered.join().unwrap_or_else(|_| {
                Err(Error::Document(DocumentError::ReaderFailed {
                    detail: "the thread that gathered it panicked".into(),
                }))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
