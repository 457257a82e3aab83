//! Handle: an open database folder, and the commit that it shows.
//!
//! Reading a few rows takes no lock: a view shows the state of one commit. If a row is missing, either its
//! document was deleted since that commit, or the row is damaged. The current view shows whether the document
//! was deleted. An answer made of many rows reads the store as of one commit ([`AsOf`]), in which nothing
//! goes missing.
//!
//! [`AsOf`] takes a snapshot of the engine and the view of the same commit. While it does so, it holds the
//! lock under which commits are written and shown. So a query never has to restart, however many commits
//! come.
//!
//! A snapshot does not protect the tables of a folded run, which are removed whole; [`past`](super::past)
//! keeps these tables. When the engine takes new tables over, it does not number their rows above existing
//! snapshots. So these snapshots show the rows. This is safe, because no older view lists the runs of new
//! tables.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::care::damaged_stores;
use super::care::findings::DamagedStore;
use super::engine::Engine;
use super::engine::failure::missing;
use super::open::StoreOptions;
use super::open::commit_mark::{self, AtClose, CommitMark};
use super::open::linked_store::LinkedStore;
use super::open::lock::{DocumentsLock, WriterLock};
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
    // This field is dropped first: the engine must close before the links and the lock are removed.
    pub(super) engine: Engine,
    pub(super) root: PathBuf,
    pub(super) profile: Profile,
    /// Distinguishes this database from all other databases. `None` if the store has no readable identity.
    pub(super) identity: Option<String>,
    pub(super) view: RwLock<Arc<View>>,
    pub(super) past: Past,
    pub(super) filter_use: Arc<FilterUse>,
    /// Set for writers only.
    pub(super) _at_close: Option<AtClose>,
    /// The links that this reader has opened in place of the store. `None` if it has opened the store itself.
    pub(super) _links: Option<LinkedStore>,
    /// The lock of a writer. `None` for readers.
    pub(super) lock: Option<WriterLock>,
    pub(super) turns: Turns,
    /// True during a change, and after a change that failed. The store may then hold uncommitted rows.
    pub(super) unfinished: AtomicBool,
    /// The runs of folds that have failed. Only a compaction folds them again. Otherwise each commit would
    /// repeat the fold from its beginning.
    pub(super) unfoldable: Mutex<BTreeSet<u32>>,
    pub(super) options: StoreOptions,
    pub(super) place: Arc<Place>,
    pub(super) pool: Arc<Pool>,
    /// The path of a damaged store, if opening this database finished a repair that was killed.
    pub(super) finished_repair: Option<PathBuf>,
}

impl Store {
    /// The profile of the database. It is fixed at creation.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The path of the damaged store, if opening this writer finished a repair that was killed.
    pub fn finished_repair(&self) -> Option<&Path> {
        self.finished_repair.as_deref()
    }

    /// The damaged stores that repairs have put aside, in the order of the repairs.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder cannot be read.
    pub fn damaged_stores(&self) -> Result<Vec<DamagedStore>> {
        damaged_stores::damaged_stores(&self.root)
    }

    /// The folder of the database.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Locks the files that the documents come from, so that only one process removes or moves them.
    ///
    /// # Errors
    /// [`Error::DocumentsInUse`] while another process or thread holds the lock.
    pub fn lock_documents(&self) -> Result<DocumentsLock> {
        DocumentsLock::take(&self.root)
    }

    /// Memory that one operation may use, in bytes, approximately.
    pub fn memory(&self) -> u64 {
        self.options.memory
    }

    /// True if errors may name the documents that were read from a given path.
    pub fn tells_paths(&self) -> bool {
        self.options.tell_paths
    }

    /// The threads that work for this store.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The last commit that this handle has seen.
    pub fn view(&self) -> Arc<View> {
        // A view is replaced whole, so a panic elsewhere cannot leave half of one.
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until no other thread changes or scans the store, then runs `change`. The store must be open for
    /// writing. If an earlier change failed, this call first discards the rows of that change. The numbers of
    /// its runs and documents are then used again.
    ///
    /// # Errors
    /// * [`Error::Stopped`] if `stop` is stopped before this thread has its turn.
    /// * [`Error::WaitsForItself`] if this thread already holds a turn of this store.
    /// * [`Error::FolderGone`] if the folder of the database is gone.
    /// * The error of `change`.
    pub fn change_alone<T>(&self, stop: &StopToken, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let _alone = self.turns.change_alone(stop)?;
        // Otherwise the change would create files where the folder was.
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

    /// Excludes changes for as long as the result lives. Waits for a change that is in progress.
    ///
    /// # Errors
    /// * [`Error::Stopped`] if `stop` is stopped before this thread has its turn.
    /// * [`Error::WaitsForItself`] if this thread is part of a change of this store.
    pub fn keep_unchanged(&self, stop: &StopToken) -> Result<Unchanged<'_>> {
        self.turns.keep_unchanged(stop)
    }

    /// Registers this thread as part of the running change, for as long as the result lives. Code of the host
    /// that runs on this thread then gets an error instead of waiting for that change.
    pub fn lend_turn(&self) -> Lent {
        self.turns.lend()
    }

    /// The store as of its last commit. Later commits do not alter the returned value. Use it for answers
    /// that need several reads.
    pub fn as_of_last_commit(&self) -> AsOf<'_> {
        // Only the writer's own handle changes while it is open.
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
            unfoldable: Mutex::default(),
            options: self.options,
            place: Arc::clone(&self.place),
            pool: Arc::clone(&self.pool),
            finished_repair: None,
        };
        AsOf { kept: Some(Box::new(kept)), store: self }
    }

    /// Runs `made` on the last commit, and returns its result with the view of that commit. `made` usually
    /// creates a cursor, which keeps its rows readable. The next commit waits for `made`, so `made` must not
    /// ask the store for its view.
    pub(super) fn of_one_commit<T>(&self, made: impl FnOnce(&View) -> T) -> (Arc<View>, T) {
        // A commit is written and shown under this lock.
        let shown = self.view.read().unwrap_or_else(PoisonError::into_inner);
        let made = made(&shown);
        (Arc::clone(&shown), made)
    }

    /// Removes the rows of folded runs that no reader needs any more.
    pub(super) fn remove_folded(&self) -> Result<()> {
        self.past.take_unneeded().into_iter().try_for_each(|run| self.remove_run(run))
    }

    /// Returns the error for a missing row of a document: [`Error::NoSuchNumber`] if the document has been
    /// deleted, and `damage` otherwise.
    pub(super) fn missing_row(&self, document: u32, damage: impl FnOnce() -> Error) -> Error {
        match self.view().is_live(document) {
            true => damage(),
            false => Error::NoSuchNumber { number: document },
        }
    }

    /// Replaces an error with [`Error::FolderGone`] if the folder of the database is gone. Missing files are
    /// not damage then.
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

    /// Opens a new reader if the database has a commit that this handle does not show, or if another database
    /// has replaced this one. Returns `None` otherwise.
    ///
    /// # Errors
    /// As [`Self::open_reader`].
    pub fn newer(&self) -> Result<Option<Self>> {
        // A writer shows each commit that it makes, and no other process can make one.
        if self.lock.is_some() {
            return Ok(None);
        }
        let shown = self.view().state.commits;
        let CommitMark { commits: marked, identity, .. } = commit_mark::read(&self.root)?;
        // The mark is written after each commit, so it can name the commit before the shown one. The number 0
        // means that the mark names no commit.
        let is_current = marked > 0 && (marked == shown || marked + 1 == shown);
        let is_gone = self.place.is_gone();
        if is_current && !is_gone && (identity.is_none() || identity == self.identity) {
            return Ok(None);
        }
        let newer = Self::open_reader(&self.root, &self.options)?;
        let differs = newer.view().state.commits != shown || newer.identity != self.identity;
        Ok((is_gone || differs).then_some(newer))
    }

    /// The identifier of this database. Only copies of the database have the same identifier.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the store has no readable identity.
    pub fn identity(&self) -> Result<String> {
        self.identity.clone().ok_or_else(|| missing("the identity of the store"))
    }

    /// True if a folder holds a copy of this database: the folder has a commit mark with the same identity.
    ///
    /// # Errors
    /// [`Error::Io`] if the mark cannot be read, which says nothing about the folder.
    pub fn is_copied_to(&self, folder: &Path) -> Result<bool> {
        match commit_mark::read(folder) {
            Ok(mark) => Ok(mark.identity.is_some() && mark.identity == self.identity),
            // This user cannot have made a copy in a place that they cannot read.
            Err(Error::Io { source, .. })
                if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The identifier that the store got when it was created, copied or restored. A repair gives a new
    /// identifier, because the repaired database may have other documents.
    pub fn made_as(&self) -> Result<String> {
        self.engine.identity()?.ok_or_else(|| missing("the engine's name of the store"))
    }
}

/// A store as of one commit, for reading.
pub struct AsOf<'a> {
    /// The store with a snapshot of that commit. `None` if the store itself cannot change.
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
            // After a failure, nothing more is written through this handle. The next writer removes these
            // runs.
            let _ = self.store.remove_folded();
        }
    }
}
