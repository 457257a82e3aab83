//! Unfinished: removes the uncommitted files and rows that an interrupted run left in a store.

use std::fs;
use std::io;

use crate::Store;
use crate::codec::format::{INCOMING, POSITIONS, RUN_FAMILIES, TEXTS, chunk_key, posting_key, run_of_key};
use fpdb_host::error::{Error, Result};

/// The action that errors name when rows cannot be read.
const ACTION: &str = "look for unfinished batches";

impl Store {
    /// Removes files and rows of an uncommitted batch. Readers never saw them.
    pub(crate) fn discard_unfinished(&self) -> Result<()> {
        let incoming = self.root.join(INCOMING);
        match fs::remove_dir_all(&incoming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Io { action: "empty", path: incoming, source: error });
            }
            _ => fs::create_dir_all(&incoming).map_err(Error::io("create", &incoming))?,
        }
        let unfinished = self.tidy_unfinished_fold()?;
        // Removes runs that a crash left uncommitted, and folded runs that it left in place.
        let view = self.view();
        for name in RUN_FAMILIES {
            let mut rows = self.engine.rows(name, ACTION)?;
            rows.seek_to_first();
            while let Some(key) = rows.key() {
                let run = run_of_key(key).ok_or_else(|| Error::Damaged {
                    what: format!("a row of the {name}"),
                    detail: "its key names no run",
                })?;
                let listed = view.runs.iter().any(|&(listed, _)| listed == run);
                if !listed && unfinished != Some(run) && !self.past.needs_run(run) {
                    self.remove_run(run)?;
                }
                let Some(next) = run.checked_add(1) else { break };
                rows.seek(posting_key(next, 0, 0));
            }
            rows.check()?;
        }

        // Only an assembly writes rows of documents before its commit, and only into an empty store.
        if view.state.next_document == 0 {
            self.discard_assembly()?;
        }

        // Positions and texts have keys that begin with the document.
        let first = chunk_key(view.state.next_document, 0);
        for name in [POSITIONS, TEXTS] {
            let mut rows = self.engine.rows(name, ACTION)?;
            rows.seek_to_last();
            let Some(last) = rows.key() else {
                rows.check()?;
                continue;
            };
            if last[..] >= first[..] {
                let mut changes = self.engine.changes();
                changes.delete_between(name, &first, &[last, &[0]].concat())?;
                changes.commit("discard an unfinished batch")?;
            }
        }
        Ok(())
    }
}
