//! Repeats: finds the passages of each document that occur in an earlier document, or earlier in the same
//! one.
//!
//! [`Database::for_each_repeat`](crate::Database::for_each_repeat) lists them and changes nothing.
//! [`Database::apply`](crate::Database::apply) cuts them out of copies, or marks them.
//!
//! A *window* is a run of N symbols ([`RepeatOptions::min_length`]). A window is *repeated* if the same N
//! symbols begin at an earlier place: in a document of lower id, or earlier in the same document. The symbols
//! of all repeated windows are removable. A repeated window does not make its first occurrence removable. The
//! answer is exact to the symbol, and depends only on the documents and N. `docs/dedup-reference.md` has the
//! rule.

// Each window has an *anchor*: of its k-grams of K = N / 2 symbols, the last one with the smallest hash. That
// is winnowing with a window of N - K + 1 hashes (Schleimer et al. 2003, Definition 1). Equal windows have
// equal anchors at equal places, and some N / 4 windows have the same anchor. So each text is read once, its
// symbols go to a temporary file, and anchors are sorted by hash (`reading`, `scanner`, `symbol_store`).
// Windows whose anchors have the same hash are compared symbol by symbol (`matching`, which proves that no
// window is missed). Repeated windows are sorted by document and joined into spans (`spans`).
//
// Rejected: to use the stored postings, for three reasons. Robust selection can keep different copies of a
// hash in two occurrences of one run, so stored positions of two occurrences do not always coincide. A
// document that overlaps itself can have one fingerprint where a run has two places. Stored k-grams are
// short, so most of them repeat where no run repeats. Besides, an exact answer needs the texts anyway.

mod anchor;
mod matching;
mod options;
#[cfg(test)]
mod oracle;
mod origins;
mod packed;
mod reading;
mod report;
mod scanner;
mod spans;
mod symbol_store;
mod window_hash;

pub use options::RepeatOptions;
pub use report::{Repeat, RepeatOf, RepeatRow, RepeatSource, RepeatSummary, Uncompared};

use anchor::{Cover, WindowShape};
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::spill::{Sorted, TempSpace};
use fpdb_store::Store;
use matching::Matching;
use reading::{ReadDocuments, Reading};
use spans::RepeatWriter;
use symbol_store::SymbolStore;
use window_hash::WindowHash;

/// Minimum bytes of memory, in addition to the memory that each document takes.
const LEAST_MEMORY: u64 = 16 << 20;

/// A search for repeated passages.
pub(crate) struct RepeatSearch<'a> {
    store: &'a Store,
    options: &'a RepeatOptions,
    cut: WindowShape,
    window_hash: WindowHash,
    temp: TempSpace,
    /// Bytes of memory, in addition to the memory that each document takes.
    memory: u64,
}

/// The result of a search.
pub(crate) struct FoundRepeats<'a> {
    symbol_store: SymbolStore,
    covers: Sorted<'a, Cover>,
    uncompared: Vec<(u32, &'static str)>,
}

impl<'a> RepeatSearch<'a> {
    /// # Errors
    /// [`Error::PassageLength`] for a length out of range; [`Error::TooLittleMemory`].
    pub(crate) fn new(store: &'a Store, options: &'a RepeatOptions) -> Result<Self> {
        let cut = WindowShape::of(options.min_length, store.profile())?;
        let fixed = u64::from(store.view().state().next_document) * symbol_store::BYTES_PER_DOCUMENT;
        let needed = fixed + LEAST_MEMORY;
        if store.memory() < needed {
            return Err(Error::TooLittleMemory { needed, allowed: store.memory() });
        }
        let temp = TempSpace::beside(store.root(), options.temp_dir.as_deref())?;
        let window_hash = WindowHash::random(cut.window);
        Ok(Self { store, options, cut, window_hash, temp, memory: store.memory() - fixed })
    }

    /// Reads and compares all documents.
    ///
    /// # Errors
    /// [`Error::Stopped`]; errors from reading the store or writing temporary files.
    pub(crate) fn find(&self, task: &Task<'_>) -> Result<FoundRepeats<'_>> {
        let Self { store, options, cut, ref window_hash, ref temp, memory } = *self;
        let ReadDocuments { symbol_store, anchors, uncompared } =
            Reading { store, limits: &options.limits, cut, temp, memory, task }.all()?;
        let covers = Matching { symbol_store: &symbol_store, cut, window_hash, temp, memory, task }.all(anchors)?;
        Ok(FoundRepeats { covers: covers.sorted()?, symbol_store, uncompared })
    }

    /// Calls `visit` with each repeated span, and with each document that could not be compared, in order of
    /// id.
    ///
    /// # Errors
    /// [`Error::Stopped`]; the error of `visit`; errors from reading the store or temporary files.
    pub(crate) fn for_each(
        &self,
        found: FoundRepeats<'_>,
        task: &Task<'_>,
        visit: &mut dyn FnMut(RepeatRow) -> Result<()>,
    ) -> Result<RepeatSummary> {
        let FoundRepeats { symbol_store, covers, uncompared } = found;
        RepeatWriter::new(self.store, &symbol_store, self.cut.window, uncompared).for_each(covers, task, visit)
    }
}
