//! Text cache: the symbols of documents that are compared repeatedly. If all pairs of n documents are
//! compared, each document takes part in n - 1 comparisons. Making its symbols (reading, parsing a program)
//! takes longer than a comparison. The cache holds up to 256 MiB, so that a text is made once and not once
//! for each pair.
//!
//! Rejected: the crate `quick_cache`. It divides the bytes among shards, so a long text fits in none. It
//! would save one lock for each comparison, but a comparison takes far longer than the lock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::text::{Bytes, StoredTexts, WholeText};
use super::text_limit::TextLimit;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::InputLimits;
use fpdb_store::{DocumentRecord, Store};

/// Maximum bytes of cached texts. A text takes 16 to 20 bytes a symbol, and 16 a newline.
const CAPACITY: u64 = 256 << 20;

/// The most recently used texts of stored documents, by id. All threads share it.
#[derive(Default)]
pub(crate) struct TextCache {
    /// `None` if no document is compared twice.
    held: Option<Mutex<Held>>,
    /// Members of containers that were read ahead, or why they are not available.
    ahead: FxHashMap<u32, Bytes>,
    /// True once a comparison had to read one member of a container alone.
    in_containers: AtomicBool,
}

#[derive(Default)]
struct Held {
    texts: FxHashMap<u32, CachedText>,
    /// The documents by time of last use, the earliest first.
    by_use: BTreeMap<u64, u32>,
    uses: u64,
    bytes: u64,
}

struct CachedText {
    text: Arc<WholeText>,
    used: u64,
}

impl TextCache {
    /// A cache for this number of queries.
    pub(crate) fn of_queries(count: usize) -> Self {
        Self { held: (count > 1).then(Mutex::default), ..Self::default() }
    }

    /// Reads documents before they are compared, and drops the documents of the call before. Each container
    /// is read once for all its members. Each group holds documents that are compared together. Reads the
    /// first groups that fit in `most` bytes and returns their number, at least one. Members of a group
    /// larger than `most` are read during the comparison.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors from reading the store.
    pub(crate) fn read_ahead<I: IntoIterator<Item = u32>>(
        &mut self,
        store: &Store,
        groups: impl IntoIterator<Item = I>,
        most: u64,
        limits: &InputLimits,
        stop: &StopToken,
    ) -> Result<usize> {
        self.ahead.clear();
        let mut containers: BTreeMap<String, Vec<(u32, DocumentRecord)>> = BTreeMap::new();
        let (mut known, mut bytes, mut taken) = (FxHashSet::default(), 0_u64, 0);
        for group in groups {
            stop.check()?;
            let (mut members, mut all) = (Vec::new(), bytes);
            for id in group {
                if known.contains(&id) {
                    continue;
                }
                let record = match store.document(id) {
                    Ok(record) => record,
                    // The comparison reports the deleted document.
                    Err(Error::NoSuchNumber { .. }) => continue,
                    Err(error) => return Err(error),
                };
                if is_in_container(&record) && TextLimit::COMPARED.allows_document(&record) {
                    all = all.saturating_add(record.bytes);
                    members.push((id, record));
                }
            }
            if all > most && taken > 0 {
                break;
            }
            taken += 1;
            if all > most {
                continue;
            }
            bytes = all;
            for (id, record) in members {
                if known.insert(id) {
                    containers.entry(record.source.clone().unwrap_or_default()).or_default().push((id, record));
                }
            }
        }
        let read = |(_, members): (String, Vec<(u32, DocumentRecord)>)| {
            let mut texts = StoredTexts::new(store, limits.clone()).stopped_by(stop);
            for (_, record) in &members {
                texts.expect(record);
            }
            let mut bytes =
                |(id, record): &(u32, DocumentRecord)| Ok((*id, texts.bytes_of(*id, record, TextLimit::COMPARED)?));
            members.iter().map(&mut bytes).collect::<Result<Vec<_>>>()
        };
        let read: Vec<_> = containers.into_par_iter().map(read).collect::<Result<_>>()?;
        self.ahead.extend(read.into_iter().flatten());
        Ok(taken)
    }

    /// Notes that a comparison reads a document that was not read ahead.
    pub(super) fn note_read(&self, record: &DocumentRecord) {
        if is_in_container(record) {
            self.in_containers.store(true, Ordering::Relaxed);
        }
    }

    /// True once a comparison had to read one member of a container alone. From then on reading ahead pays.
    pub(crate) fn are_in_containers(&self) -> bool {
        self.in_containers.load(Ordering::Relaxed)
    }

    /// The bytes of a document that was read ahead, or why they are not available.
    pub(super) fn ahead(&self, id: u32) -> Option<&Bytes> {
        self.ahead.get(&id)
    }

    /// The text of a document, if it is in the cache.
    pub(super) fn get(&self, id: u32) -> Option<Arc<WholeText>> {
        self.lock(|held| {
            let entry = held.texts.get_mut(&id)?;
            held.uses += 1;
            held.by_use.remove(&entry.used);
            entry.used = held.uses;
            held.by_use.insert(entry.used, id);
            Some(Arc::clone(&entry.text))
        })?
    }

    /// Adds a text and returns it. Drops the least recently used texts. A text larger than the cache is not
    /// added.
    pub(super) fn put(&self, id: u32, mut text: WholeText) -> Arc<WholeText> {
        if self.held.is_some() {
            text.shrink();
        }
        let text = Arc::new(text);
        self.lock(|held| held.put(id, &text, CAPACITY));
        text
    }

    fn lock<T>(&self, act: impl FnOnce(&mut Held) -> T) -> Option<T> {
        // A thread that panicked can leave a text uncounted, but never a wrong text.
        self.held.as_ref().map(|held| act(&mut held.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// True if a document is a member of a container, and its text is not stored.
fn is_in_container(record: &DocumentRecord) -> bool {
    record.source.is_some() && record.member.is_some() && !record.stored_text
}

impl Held {
    fn put(&mut self, id: u32, text: &Arc<WholeText>, capacity: u64) {
        let bytes = text.memory();
        if bytes > capacity {
            return;
        }
        self.uses += 1;
        let entry = CachedText { text: Arc::clone(text), used: self.uses };
        // Two threads may have read the same text at once.
        if let Some(before) = self.texts.insert(id, entry) {
            self.forget(&before);
        }
        self.by_use.insert(self.uses, id);
        self.bytes += bytes;
        while self.bytes > capacity
            && let Some((_, earliest)) = self.by_use.pop_first()
            && let Some(entry) = self.texts.remove(&earliest)
        {
            self.forget(&entry);
        }
    }

    fn forget(&mut self, entry: &CachedText) {
        self.by_use.remove(&entry.used);
        self.bytes -= entry.text.memory();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::text::Symboliser;
    use fpdb_kernel::document::Format;
    use fpdb_kernel::profile::Profile;

    fn whole(text: &str) -> WholeText {
        let mut symboliser = Symboliser::new(&Profile::named("prose").unwrap());
        let mut text = symboliser.read(text.as_bytes(), Format::Text).unwrap();
        text.shrink();
        text
    }

    fn text(symbols: usize) -> Arc<WholeText> {
        Arc::new(whole(&"a".repeat(symbols)))
    }

    #[test]
    fn all_memory_of_a_text_is_counted() {
        let (letters, lines) = (whole(&"a".repeat(10_000)).memory(), whole(&"\n".repeat(10_000)).memory());
        assert!((160_000..=180_000).contains(&letters), "{letters}");
        assert!((160_000..=180_000).contains(&lines), "{lines}");
    }

    #[test]
    fn those_that_were_used_last_are_held() {
        let one = text(1000);
        let capacity = 3 * one.memory();
        let mut held = Held::default();
        for id in 0..3 {
            held.put(id, &one, capacity);
        }
        // A text that is added twice counts once, and is the most recent.
        held.put(0, &one, capacity);
        held.put(3, &one, capacity);
        let ids = |held: &Held| held.by_use.values().copied().collect::<Vec<u32>>();
        assert_eq!((ids(&held), held.bytes), (vec![2, 0, 3], capacity));
        held.put(4, &text(10_000), capacity);
        assert_eq!(ids(&held), [2, 0, 3], "too large");
        held.put(5, &text(2000), capacity);
        assert_eq!(ids(&held), [3, 5]);
        assert_eq!(held.texts.len(), 2);
    }

    #[test]
    fn what_is_held_is_given() {
        let cache = TextCache::of_queries(2);
        assert!(cache.get(7).is_none());
        cache.put(7, whole(&"a".repeat(10)));
        cache.put(8, whole(&"a".repeat(20)));
        assert_eq!(cache.get(7).unwrap().values().len(), 10);
        assert_eq!(cache.lock(|held| held.by_use.values().copied().collect::<Vec<u32>>()), Some(vec![8, 7]));
        let none = TextCache::of_queries(1);
        assert_eq!(none.put(7, whole("text")).values().len(), 4);
        assert!(none.get(7).is_none());
    }
}
