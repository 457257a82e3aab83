//! Deleting a database to which nothing was ever added.

use std::fs;
use std::io;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::codec::format::{COMMITTED, INCOMING, LOCK, MARKER, STORE};

impl Store {
    /// Deletes the database if no document was ever added to it, and returns whether it did. Its folder goes too, unless
    /// something else lies in it or it cannot be removed, such as a disk of its own.
    pub(crate) fn delete_if_empty(mut self) -> Result<bool> {
        if self.view().state.next_document > 0 {
            return Ok(false);
        }
        let root = self.root.clone();
        // Held until all is gone, so that no other process writes it meanwhile.
        let lock = self.lock.take();
        drop(self);
        // The marker goes first: without it this is not a database.
        for file in [MARKER, COMMITTED] {
            absent_is_fine(fs::remove_file(root.join(file))).map_err(Error::io("remove", &root.join(file)))?;
        }
        for folder in [STORE, INCOMING] {
            absent_is_fine(fs::remove_dir_all(root.join(folder))).map_err(Error::io("remove", &root.join(folder)))?;
        }
        absent_is_fine(fs::remove_file(root.join(LOCK))).map_err(Error::io("remove", &root.join(LOCK)))?;
        let _ = fs::remove_dir(&root);
        drop(lock);
        Ok(true)
    }
}

fn absent_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
