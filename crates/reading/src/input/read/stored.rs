//! Stored: reads a stored document again from its original place.

use std::collections::{BTreeSet, HashMap};
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
    let mut found = members_of_file(path, field, &wanted, options, searched, stop)?;
    stop.check()?;
    found.remove(member).unwrap_or_else(|| {
        Err(Error::TextGone { name: format!("{source}{suffix}"), source_path: Some(source.to_owned()) })
    })
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
    let members = BTreeSet::from([member_of(&suffix, &options.fields), suffix]);
    let found = members_of_file(Path::new(file), field, &members, options, u64::MAX, stop);
    found.map_or_else(|error| Some(Err(error)), |found| found.into_values().next())
}

/// Reads those of `members` that are still in the container at `path`. A member that cannot be read has its
/// error in place of its bytes. If `field` is given, all members are records with their text in this field.
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
) -> Result<HashMap<String, Result<Candidate>>> {
    let Candidate { mut about, .. } = candidate_of(path)?;
    // Other formats than the detected one have no attachments.
    let mut options = options.clone().front_end(ReadAs::Auto);
    options.fields.text = field.map_or(RecordFields::default().text, str::to_owned);
    options.attachments = members.iter().any(|member| may_be_attached(&about.name, member));
    let Some(file) = about.file.clone() else { return Ok(HashMap::new()) };
    if file.bytes > searched {
        return Err(Error::Document(DocumentError::NotSearched { path: path.to_owned(), limit: searched }));
    }
    let reading = ReadContext { options: &options, members: None, stop, progress: &|_| {} };
    let Opened::Container(container) = open(&mut about, &file, reading)? else { return Ok(HashMap::new()) };
    let suffix_of = |member: &str| {
        let suffix = field.and_then(|field| member.strip_suffix(field)?.strip_suffix('?'));
        suffix.unwrap_or(member).len()
    };
    let suffixes: BTreeSet<&str> = members.iter().map(|member| &member[..suffix_of(member)]).collect();
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
    let mut there = |member: &String| match found.remove(member) {
        Some(found) => Some(whole(found)),
        None => {
            let suffix = failed.keys().find(|suffix| holds(suffix, &member[..suffix_of(member)]))?.clone();
            failed.remove(&suffix).map(Err)
        }
    };
    Ok(members.iter().filter_map(|member| Some((member.clone(), there(member)?))).collect())
}

/// Characters with which the suffix of a part begins. The suffix follows the container's name.
const PARTS: [char; 3] = ['!', ':', '#'];

/// True if `member` is the part of the container named `suffix`, or lies in it.
fn holds(suffix: &str, member: &str) -> bool {
    member.strip_prefix(suffix).is_some_and(|rest| rest.is_empty() || rest.starts_with(PARTS))
}

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
        assert!(holds(":1", ":1") && holds("!a.jsonl", "!a.jsonl:3") && holds("!a.tar", "!a.tar!b"));
        assert!(!holds(":1", ":17") && !holds("!a", "!ab") && !holds(":17", ":1"));
    }
}
