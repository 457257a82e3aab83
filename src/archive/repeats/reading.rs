//! Reading: reads all documents once, wherever their texts are.
//!
//! Stored texts, and files that are documents, are read in portions, each by one thread. Members of a
//! container are read in one pass over it, in the container's order, and divided among the threads. Very many
//! members need several passes: one for each half million members at 1 GiB of memory. A text counts only if
//! its digest is that of the document.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Mutex;

use rayon::prelude::*;

use super::anchor::{Anchor, WindowShape};
use super::scanner::{Scanned, Scanner};
use super::symbol_store::{DocumentOffsets, SymbolStore};
use crate::query::{TextLimit, TextSequence, TextUnavailable};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::input::{
    CLOSED, InputLimits, ReadOptions, Reader, WalkOptions, failed_part, for_each_held, may_be_attached, member_today,
    parts_of, without_field,
};
use fpdb_store::{DocumentRecord, Store};

/// Minimum and maximum bytes of documents that one thread reads in one portion.
const LEAST_PORTION: u64 = 1 << 20;
const MOST_PORTION: u64 = 64 << 20;

/// Maximum number of documents that one thread reads in one portion.
const MOST_DOCUMENTS: usize = 1 << 14;

/// Documents of more bytes are read one at a time.
const LARGE: u64 = 16 << 20;

/// Bytes of memory for each member that waits for a pass over its container.
const BYTES_PER_MEMBER: u64 = 128;

/// The reason given for a member that was not found.
const GONE: &str = "its container no longer holds it as it was";

/// The documents after reading.
pub(super) struct ReadDocuments<'a> {
    pub(super) symbol_store: SymbolStore,
    pub(super) anchors: Sorter<'a, Anchor>,
    /// The documents that could not be read, ascending by id, and why.
    pub(super) uncompared: Vec<(u32, &'static str)>,
}

/// Reads documents.
pub(super) struct Reading<'a, 't> {
    pub(super) store: &'a Store,
    pub(super) limits: &'a InputLimits,
    pub(super) cut: WindowShape,
    pub(super) temp: &'t TempSpace,
    pub(super) memory: u64,
    pub(super) task: &'a Task<'a>,
}

/// A container file, and the field of its records that holds the text.
type ContainerKey = (String, Option<String>);

/// Members to read again: by name, their id, digest and format.
type MembersByName = BTreeMap<String, (u32, Digest, Format)>;

/// A document's id, and the outcome: the document's offsets and anchors, or the reason why it could not be
/// read.
type ReadOutcome = (u32, std::result::Result<(DocumentOffsets, Vec<Anchor>), &'static str>);

impl<'t> Reading<'_, 't> {
    /// Reads all documents except boilerplate.
    pub(super) fn all(&self) -> Result<ReadDocuments<'t>> {
        let state = self.store.view().state().clone();
        let threads = rayon::current_num_threads().max(1);
        let most = (self.memory / 16 / threads as u64).clamp(LEAST_PORTION, MOST_PORTION);
        let portion = (state.bytes / (4 * threads as u64)).clamp(LEAST_PORTION, most);
        let mut run = ReadingRun {
            reading: self,
            portion,
            largest: self.memory / 8,
            members_at_once: usize::try_from(self.memory / 16 / BYTES_PER_MEMBER).unwrap_or(usize::MAX).max(1),
            one_large: Mutex::new(()),
            symbol_store: SymbolStore::new(self.temp, state.next_document)?,
            anchors: Sorter::new(self.temp, self.memory / 4),
            uncompared: Vec::new(),
            done: 0,
            documents: state.documents,
        };
        let (mut portions, mut documents, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (mut containers, mut waiting) = (BTreeMap::<ContainerKey, MembersByName>::new(), 0);
        self.store.for_each_document(|id, record| {
            if record.boilerplate {
                return Ok(true);
            }
            let size = record.bytes;
            if let Some((key, name)) = container_of(&record) {
                let format = Format::named(&record.format).unwrap_or_default();
                // If several members have the same name, only the last of these can be read again.
                let members = containers.entry(key).or_default();
                if let Some((before, ..)) = members.insert(name, (id, record.digest, format)) {
                    run.uncompared.push((before, GONE));
                }
                waiting += 1;
                if waiting == run.members_at_once {
                    waiting = 0;
                    run.containers(&mut containers)?;
                }
                return Ok(true);
            }
            if !documents.is_empty() && (bytes + size > portion || documents.len() >= MOST_DOCUMENTS) {
                portions.push(std::mem::take(&mut documents));
                bytes = 0;
                if portions.len() == threads {
                    run.portions(&std::mem::take(&mut portions))?;
                }
            }
            documents.push(id);
            bytes += size;
            Ok(true)
        })?;
        run.containers(&mut containers)?;
        portions.push(documents);
        run.portions(&portions)?;
        let ReadingRun { mut symbol_store, anchors, mut uncompared, .. } = run;
        symbol_store.hold(self.memory / 4)?;
        uncompared.sort_unstable();
        Ok(ReadDocuments { symbol_store, anchors, uncompared })
    }
}

/// The container from which a document's text must be read, and the member. `None` if there is no
/// container, or the text is stored.
fn container_of(record: &DocumentRecord) -> Option<(ContainerKey, String)> {
    let member = record.member.as_deref().filter(|&member| member != CLOSED && !record.stored_text)?;
    let (_, field) = parts_of(&record.name, member);
    let source = record.source.clone()?;
    let member = member_today(&source, member).into_owned();
    Some(((source, field.map(str::to_owned)), member))
}

/// The state of a reading.
struct ReadingRun<'r, 't> {
    reading: &'r Reading<'r, 't>,
    portion: u64,
    /// Documents of more bytes are not read.
    largest: u64,
    members_at_once: usize,
    one_large: Mutex<()>,
    symbol_store: SymbolStore,
    anchors: Sorter<'t, Anchor>,
    uncompared: Vec<(u32, &'static str)>,
    done: u64,
    documents: u64,
}

const TOO_LARGE: &str = "it takes more than an eighth of the memory allowed";

impl ReadingRun<'_, '_> {
    fn scanner(&self) -> Scanner {
        Scanner::new(self.reading.store.profile(), self.reading.cut, self.reading.limits)
    }

    /// Reads portions, each on one thread.
    fn portions(&mut self, portions: &[Vec<u32>]) -> Result<()> {
        let read = |documents: &Vec<u32>| -> Result<Vec<ReadOutcome>> {
            let mut texts = TextSequence::new(self.reading.store, documents.clone(), self.reading.limits.clone());
            let mut scanner = self.scanner();
            let mut outcomes = Vec::with_capacity(documents.len());
            for &id in documents {
                self.reading.task.token().check()?;
                let is_large = self.reading.store.document(id)?.bytes > LARGE;
                let _alone = is_large.then(|| self.one_large.lock());
                outcomes.push((
                    id,
                    match texts.original(id, TextLimit::of_bytes(self.largest))? {
                        Ok((bytes, format)) => self.scan(&mut scanner, id, &bytes, format)?,
                        Err(why) => Err(why.document()),
                    },
                ));
            }
            Ok(outcomes)
        };
        let outcomes: Vec<Vec<ReadOutcome>> = portions.par_iter().map(read).collect::<Result<_>>()?;
        self.take(outcomes.into_iter().flatten())
    }

    /// Reads members of containers.
    fn containers(&mut self, containers: &mut BTreeMap<ContainerKey, MembersByName>) -> Result<()> {
        std::mem::take(containers).iter_mut().try_for_each(|(key, members)| self.container(key, members))
    }

    /// Reads members of a container in one pass.
    fn container(&mut self, (source, field): &ContainerKey, members: &mut MembersByName) -> Result<()> {
        let mut read = ReadOptions::default().limits(self.reading.limits.clone());
        if let Some(field) = field {
            read.fields.text.clone_from(field);
        }
        read.attachments = members.keys().any(|member| may_be_attached(source, member));
        let (portion, largest, token) = (self.portion, self.largest, self.reading.task.token());
        let mut reader = Reader::new(read.limits.clone());
        let (mut batch, mut bytes): (Vec<(u32, Format, Vec<u8>)>, u64) = (Vec::new(), 0);
        let (mut failed, mut found_all) = (None, false);
        // By member, or by part that holds members: the reason why it cannot be read.
        let mut unreadable: HashMap<String, &'static str> = HashMap::new();
        let walked = for_each_held(Path::new(source), &WalkOptions::default(), &read, token, &mut |found| {
            let candidate = match found {
                Ok(candidate) => candidate,
                Err((_, Error::Document(DocumentError::Binary { .. }))) => return Ok(()),
                Err((name, error)) => {
                    let suffix = name.strip_prefix(&**source).unwrap_or_default();
                    let concerned = |(member, _): (&String, _)| member.starts_with(suffix);
                    if members.range(suffix.to_owned()..).next().is_some_and(concerned) {
                        unreadable.insert(suffix.to_owned(), TextUnavailable::of(&error).document());
                    }
                    return Ok(());
                }
            };
            let Some(member) = &candidate.about.member else { return Ok(()) };
            let Some(&(id, digest, format)) = members.get(member) else { return Ok(()) };
            let mut text = Vec::new();
            let read = reader.read(&candidate, token, &|_| {}, &mut |piece| {
                // A text that is too large keeps one byte beyond the limit, as a sign of its size.
                let room = usize::try_from(largest).unwrap_or(usize::MAX).saturating_add(1) - text.len();
                text.extend_from_slice(&piece[..piece.len().min(room)]);
                Ok(())
            });
            match read {
                Ok(read) if read == digest => members.remove(member),
                Ok(_) => return Ok(()),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => {
                    let suffix = without_field(member, field.as_deref());
                    unreadable.insert(suffix.to_owned(), TextUnavailable::of(&error).document());
                    return Ok(());
                }
            };
            bytes += text.len() as u64;
            batch.push((id, format, text));
            if bytes >= portion || batch.len() >= MOST_DOCUMENTS {
                bytes = 0;
                self.batch(std::mem::take(&mut batch)).map_err(|error| {
                    failed = Some(error);
                    Error::Stopped
                })?;
            }
            // Once all wanted members are found, the rest of the container need not be read.
            found_all = members.is_empty();
            if found_all { Err(Error::Stopped) } else { Ok(()) }
        });
        match (failed, walked) {
            (Some(error), _) => return Err(error),
            (None, Err(Error::Stopped)) if !found_all => return Err(Error::Stopped),
            // The members that were not found are reported below.
            (None, _) => {}
        }
        self.batch(batch)?;
        self.take(members.iter().map(|(member, &(id, ..))| {
            let part = failed_part(&unreadable, without_field(member, field.as_deref()));
            (id, Err(part.map_or(GONE, |part| unreadable[part])))
        }))
    }

    /// Reads some members, on all threads.
    fn batch(&mut self, batch: Vec<(u32, Format, Vec<u8>)>) -> Result<()> {
        let read = |scanner: &mut Scanner, (id, format, bytes): (u32, Format, Vec<u8>)| {
            let is_large = bytes.len() as u64 > LARGE;
            let _alone = is_large.then(|| self.one_large.lock());
            match bytes.len() as u64 <= self.largest {
                true => Ok((id, self.scan(scanner, id, &bytes, format)?)),
                false => Ok((id, Err(TOO_LARGE))),
            }
        };
        let outcomes: Vec<ReadOutcome> =
            batch.into_par_iter().map_init(|| self.scanner(), read).collect::<Result<_>>()?;
        self.take(outcomes)
    }

    /// Stores the symbols and origins of a document. Returns the place of both and the anchors, or the reason
    /// for a failure.
    fn scan(
        &self,
        scanner: &mut Scanner,
        id: u32,
        bytes: &[u8],
        format: Format,
    ) -> Result<std::result::Result<(DocumentOffsets, Vec<Anchor>), &'static str>> {
        let mut scanned: Scanned = match scanner.scan(bytes, format) {
            Ok(scanned) => scanned,
            Err(_) => return Ok(Err("its text can no longer be extracted")),
        };
        let Some(place) = self.symbol_store.write(&scanned)? else { return Ok(Err("it has too many symbols")) };
        scanned.anchors.iter_mut().for_each(|anchor| anchor.document = id);
        Ok(Ok((place, scanned.anchors)))
    }

    /// Records the outcomes of documents. This can start a sort on all threads, so parallel code must not
    /// call it.
    fn take(&mut self, outcomes: impl IntoIterator<Item = ReadOutcome>) -> Result<()> {
        for (id, outcome) in outcomes {
            self.done += 1;
            match outcome {
                Ok((place, anchors)) => {
                    self.symbol_store.put(id, place);
                    anchors.into_iter().try_for_each(|anchor| self.anchors.push(anchor))?;
                }
                Err(why) => self.uncompared.push((id, why)),
            }
        }
        self.reading.task.step("documents read", self.done, self.documents)
    }
}
