//! Deleting a database to which nothing was ever added.

use std::fs;

use crate::Store;
use crate::codec::format::MARKER;
use crate::open::making::{Making, remove_remains};
use fpdb_host::error::{Error, Result};

impl Store {
    /// Deletes the database if no document was ever added to it, and returns whether it did. Its folder goes
    /// too, unless something else lies in it or it cannot be removed, such as a disk of its own.
    pub fn delete_if_empty(mut self) -> Result<bool> {
        if self.view().state.next_document > 0 {
            return Ok(false);
        }
        let root = self.root.clone();
        // Held until all is gone, so that no other process writes it meanwhile.
        let lock = self.lock.take();
        drop(self);
        // The marker goes first: without it this is not a database. It goes into a folder that tells the next
        // maker of a database here what the rest is, should something of it stay.
        let making = Making::new(&root)?;
        fs::rename(root.join(MARKER), making.path().join(MARKER)).map_err(Error::io("remove", &root.join(MARKER)))?;
        if let Err(error) = remove_remains(&root) {
            making.keep();
            return Err(error);
        }
        drop(making);
        let _ = fs::remove_dir(&root);
        drop(lock);
        Ok(true)
    }
}
