//! Deleting a database to which nothing was ever added.

use std::fs;

use crate::Store;
use crate::codec::format::MARKER;
use crate::open::making::{Making, REMAINS, remove_parts};
use fpdb_host::error::{Error, Result};

impl Store {
    /// Deletes the database if no document was ever added to it and it keeps no content out. Returns true if
    /// it was deleted. Also removes its folder, unless the folder holds other files or cannot be removed,
    /// such as a mounted disk.
    pub fn delete_if_empty(mut self) -> Result<bool> {
        if !self.is_fresh()? {
            return Ok(false);
        }
        let root = self.root.clone();
        // The lock is held to the end, so that no other process writes meanwhile.
        let lock = self.lock.take();
        drop(self);
        // The marker is deleted first: without it, the folder is not a database. The marker moves into a
        // temporary folder. This folder shows the next creation here that the other files are remains.
        let making = Making::new(&root)?;
        fs::rename(root.join(MARKER), making.path().join(MARKER)).map_err(Error::io("remove", &root.join(MARKER)))?;
        if let Err(error) = remove_parts(&root, &REMAINS) {
            making.keep();
            return Err(error);
        }
        drop(making);
        let _ = fs::remove_dir(&root);
        drop(lock);
        Ok(true)
    }
}
