//! Choice: decides how to read a damaged store: by which list of tables, and with or without its logs.
//!
//! If the list of tables is unreliable, a new list is made of the existing tables
//! ([`crate::care::found_tables`]). The store is read in up to four ways: with or without tables that a
//! compaction may have replaced, and with or without its logs. The store is read in the way that fits the
//! mark best ([`Fit`]). Of ways that fit equally well, a way with more tables is preferred, then a way with
//! logs.

use std::path::Path;

use crate::care::found_tables::{FoundTables, LIST_NAME};
use crate::care::salvage::{Reading, Salvage, is_unsupported};
use crate::care::survey;
use crate::codec::format::STORE;
use crate::engine::Access;
use crate::open::commit_mark::CommitMark;
use crate::open::{files, manifest};
use fpdb_host::error::{Cause, Error, Result};
use fpdb_host::progress::Task;

/// The remark on a store that is read without its logs.
const LOGS_LEFT_OUT: &str = "its logs do not fit its tables, and are left out";

/// Opens the store of the database at `root`. No process may write it meanwhile.
///
/// # Errors
/// [`Error::BeyondRepair`] if there is no state and no document; [`Error::OtherStore`] if the store belongs
/// to another database.
pub(super) fn open_damaged(root: &Path, mark: &CommitMark, task: &Task<'_>) -> Result<Salvage> {
    let store = root.join(STORE);
    let mut other = None;
    if let Some((name, content)) = manifest::reliable_list(root, mark)? {
        let store_id = manifest::store_id(&content);
        for with_logs in [true, false] {
            let list = (&name[..], &content[..]);
            let reading = Reading { list, access: Access::ReadDamaged, with_logs, store_id: store_id.as_deref() };
            match Salvage::open(root, &reading) {
                Ok(mut salvage) => match salvage.other_identity(mark)? {
                    None => {
                        salvage.findings.extend((!with_logs).then(|| LOGS_LEFT_OUT.to_owned()));
                        return Ok(salvage);
                    }
                    Some(identity) => other = Some(identity),
                },
                Err(error) if error.is_damage() || is_unsupported(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    if let Some(found) = other {
        return Err(Error::OtherStore {
            path: root.to_owned(),
            found,
            marked: mark.identity.clone().unwrap_or_default(),
        });
    }
    open_rebuilt(root, &store, mark, task)
}

/// Opens a store with a list made of the existing tables.
fn open_rebuilt(root: &Path, store: &Path, mark: &CommitMark, task: &Task<'_>) -> Result<Salvage> {
    let beyond = |source: Cause| Error::BeyondRepair {
        path: root.to_owned(),
        lost: "the list of its tables (store/MANIFEST), and what its tables and logs held,",
        source,
    };
    let found = FoundTables::of(store, task)?;
    let has_logs = files::names(store)?.iter().any(|name| files::is_log(name));
    let lists = [Some(found.all()), found.not_replaced()];
    // If two ways fit equally well, the first is kept.
    let mut best: Option<(Fit, Salvage)> = None;
    let mut failure = None;
    'lists: for list in lists.iter().flatten() {
        for with_logs in [true, false].into_iter().filter(|with_logs| *with_logs || has_logs) {
            let named = (LIST_NAME, &list.content[..]);
            let store_id = found.store.as_deref();
            let reading = Reading { list: named, access: list.access(), with_logs, store_id };
            let mut salvage = match Salvage::open(root, &reading) {
                Ok(salvage) => salvage,
                Err(error) if error.is_damage() || is_unsupported(&error) => {
                    failure = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            salvage.findings.push(format!("its list of tables was made again of the {} tables there are", list.tables));
            salvage.findings.extend(found.findings.iter().cloned());
            salvage.findings.extend((!with_logs).then(|| LOGS_LEFT_OUT.to_owned()));
            let fit = Fit::of(&salvage, mark)?;
            let is_exact = fit.is_exact;
            if best.as_ref().is_none_or(|(before, _)| *before < fit) {
                best = Some((fit, salvage));
            }
            if is_exact {
                break 'lists;
            }
        }
    }
    match best {
        Some((Fit { is_own: false, .. }, salvage)) => Err(Error::OtherStore {
            path: root.to_owned(),
            found: salvage.other_identity(mark)?.unwrap_or_default(),
            marked: mark.identity.clone().unwrap_or_default(),
        }),
        Some((Fit { commits: Some(_), .. }, salvage)) => Ok(salvage),
        Some(_) => Err(beyond("none of its tables and logs has a document".into())),
        None => Err(beyond(failure.map_or_else(|| "there are no tables and no logs".into(), Into::into))),
    }
}

/// The quality of a way to read a store: its agreement with the mark, and its consistency. The largest value
/// is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// True if the last marked commit exists with all its documents.
    is_exact: bool,
    /// True if the store is not known to belong to another database.
    is_own: bool,
    /// The number of the last commit with a readable state. 0 if only documents are readable. `None` if no
    /// document is readable either.
    commits: Option<u64>,
    /// True if the documents are exactly the documents that this commit counts.
    agrees: bool,
}

impl Fit {
    fn of(salvage: &Salvage, mark: &CommitMark) -> Result<Self> {
        let last = survey::last_commit(salvage, mark)?;
        let (commits, agrees) = (last.map(|(commits, _)| commits), last.is_some_and(|(_, agrees)| agrees));
        let is_own = salvage.other_identity(mark)?.is_none();
        let has_marked = mark.commits > 0 && commits.is_some_and(|commits| commits >= mark.commits);
        Ok(Self { is_exact: is_own && agrees && has_marked, is_own, commits, agrees })
    }
}
