//! Handle: an open database folder, and the commit that it shows.
//!
//! Reading a few rows takes no lock: a view shows the state of one commit. A row that is missing belongs to a document that
//! was deleted since, or is damaged; the current view tells which. An answer that is made of many rows is read from the store as of
//! one commit ([`AsOf`]), in which nothing goes missing.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::engine::Engine;
use super::engine::failure::missing;
use super::open::StoreOptions;
use super::open::linked_store::LinkedStore;
use super::open::lock::{DocumentsLock, WriterLock};
use super::open::mark::{self, AtClose};
use super::open::place::Place;
use super::past::Past;
use super::read::filter_use::FilterUse;
use super::turns::{Lent, Turns, Unchanged};
use super::view::View;
use fpdb_host::error::{Error, Result};
use fpdb_host::pool::Pool;
use fpdb_host::stop::StopToken;
use fpdb_kernel::profile::Profile;

/// An open database folder. One writer and any number of readers can have it open at the same time.
pub struct Store {
    // Dropped first: the engine closes before the links and the lock go.
    pub(super) engine: Engine,
    pub(super) root: PathBuf,
    pub(super) profile: Profile,
    /// Tells this database from others; `None` where it cannot be told.
    pub(super) identity: Option<String>,
    pub(super) view: RwLock<Arc<View>>,
    pub(super) past: Past,
    pub(super) filter_use: Arc<FilterUse>,
    /// Writers only.
    pub(super) _at_close: Option<AtClose>,
    /// The links of a reader that cannot use all files of the store.
    pub(super) _links: Option<LinkedStore>,
    /// The lock of a writer.
    pub(super) lock: Option<WriterLock>,
    pub(super) turns: Turns,
    /// Set while the store is changed, and after a change that has failed: there may be rows in it that were never committed.
    pub(super) unfinished: AtomicBool,
    pub(super) options: StoreOptions,
    pub(super) place: Arc<Place>,
    pub(super) pool: Arc<Pool>,
}

impl Store {
    /// The settings pinned at creation.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The database's own folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes the lock on the files that the documents come from.
    ///
    /// # Errors
    /// [`Error::DocumentsInUse`](fpdb_host::error::Error::DocumentsInUse) while another process or thread holds it.
    pub fn lock_documents(&self) -> Result<DocumentsLock> {
        DocumentsLock::take(&self.root)
    }

    /// Bytes of memory that one piece of work may use, about.
    pub fn memory(&self) -> u64 {
        self.options.memory
    }

    /// The threads that work for it.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The last commit this store has seen.
    pub fn view(&self) -> Arc<View> {
        // A view is replaced whole, so a panic elsewhere cannot leave half of one.
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for its turn to change the store, which must have been opened for writing, and makes the change. Rows that an earlier
    /// change left when it failed are discarded first: its runs and documents get their numbers again.
    ///
    /// # Errors
    /// [`Error::Stopped`] once `stop` is stopped before its turn comes; [`Error::WaitsForItself`] where this thread works in another turn of
    /// this store; [`Error::FolderGone`]; the error of `change`.
    pub fn change_alone<T>(&self, stop: &StopToken, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let _alone = self.turns.change_alone(stop)?;
        // Else files would be made where the folder was.
        if self.place.is_gone() {
            return Err(Error::FolderGone { path: self.root.clone() });
        }
        if self.unfinished.swap(true, Ordering::Relaxed) {
            self.discard_unfinished()?;
        }
        let outcome = self.unless_gone(change());
        self.unfinished.store(outcome.is_err(), Ordering::Relaxed);
        outcome
    }

    /// Excludes changes; waits for one that is under way.
    ///
    /// # Errors
    /// [`Error::Stopped`] once `stop` is stopped before its turn comes; [`Error::WaitsForItself`] where this thread works in a change of this
    /// store.
    pub fn keep_unchanged(&self, stop: &StopToken) -> Result<Unchanged<'_>> {
        self.turns.keep_unchanged(stop)
    }

    /// Says that this thread works for the one that changes the store: it calls code of the host's, which must not wait for the change.
    pub fn lend_turn(&self) -> Lent {
        self.turns.lend()
    }

    /// The store as of its last commit, whatever is committed afterwards: each answer that takes more than one look.
    pub fn as_of_last_commit(&self) -> AsOf<'_> {
        // Only a writer's own store changes while it is open.
        if self.lock.is_none() {
            return AsOf { kept: None, store: self };
        }
        let (view, engine) = self.of_one_commit(|_| self.engine.as_it_is());
        let kept = Self {
            engine,
            root: self.root.clone(),
            profile: self.profile,
            identity: self.identity.clone(),
            view: RwLock::new(view),
            past: Past::default(),
            filter_use: Arc::clone(&self.filter_use),
            _at_close: None,
            _links: None,
            lock: None,
            turns: Turns::default(),
            unfinished: AtomicBool::new(false),
            options: self.options,
            place: Arc::clone(&self.place),
            pool: Arc::clone(&self.pool),
        };
        AsOf { kept: Some(Box::new(kept)), store: self }
    }

    /// Makes something of the rows of the last commit with `made`, such as a cursor, and returns it with the view of that commit.
    /// A cursor that exists keeps its rows readable. Another commit waits meanwhile: `made` must not ask for the view.
    pub(super) fn of_one_commit<T>(&self, made: impl FnOnce(&View) -> T) -> (Arc<View>, T) {
        // A commit is written and shown under this lock.
        let shown = self.view.read().unwrap_or_else(PoisonError::into_inner);
        let made = made(&shown);
        (Arc::clone(&shown), made)
    }

    /// Removes the runs that were folded into others and that no reader needs any more.
    pub(super) fn remove_folded(&self) -> Result<()> {
        self.past.take_unneeded().into_iter().try_for_each(|run| self.remove_run(run))
    }

    /// The error for a missing row of a document: damage, unless the document has been deleted.
    pub(super) fn missing_row(&self, document: u32, damage: impl FnOnce() -> Error) -> Error {
        match self.view().is_live(document) {
            true => damage(),
            false => Error::NoSuchNumber { number: document },
        }
    }

    /// An outcome, whose error says so where the database's folder is gone: files that are missing are no damage then.
    pub fn unless_gone<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match error {
            Error::NoDatabase { .. }
            | Error::Io { .. }
            | Error::Store { .. }
            | Error::CannotOpen { .. }
            | Error::Damaged { .. }
                if self.place.is_gone() =>
            {
                Error::FolderGone { path: self.root.clone() }
            }
            error => error,
        })
    }

    /// A store of its own for reading, as of the last commit, if there is another commit than this store shows.
    ///
    /// # Errors
    /// As [`Self::open_reader`].
    pub fn newer(&self) -> Result<Option<Self>> {
        // A writer shows each commit that it makes, and nobody else makes any.
        if self.lock.is_some() {
            return Ok(None);
        }
        let shown = self.view().state.commits;
        // Made after each commit; 0 vouches for none.
        let marked = mark::read(&self.root)?.commits;
        let is_gone = self.place.is_gone();
        if (1..=shown).contains(&marked) && !is_gone {
            return Ok(None);
        }
        let newer = Self::open_reader(&self.root, &self.options)?;
        Ok((is_gone || newer.view().state.commits != shown).then_some(newer))
    }

    /// Identifies this database: no other has the same identifier, but for copies of it.
    pub fn identity(&self) -> Result<String> {
        self.identity.clone().ok_or_else(|| missing("the identity of the store"))
    }
}

/// A store as of one commit, to be read.
pub struct AsOf<'a> {
    /// The store with a snapshot of that commit; `None` where the store itself does not change.
    kept: Option<Box<Store>>,
    store: &'a Store,
}

impl Deref for AsOf<'_> {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.kept.as_deref().unwrap_or(self.store)
    }
}

impl Drop for AsOf<'_> {
    fn drop(&mut self) {
        if self.kept.take().is_some() {
            // If this fails, the store is not written any more, and its next writer removes them.
            let _ = self.store.remove_folded();
        }
    }
}
