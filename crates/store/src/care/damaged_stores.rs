//! Damaged stores, which repairs have put aside. fpdb never removes them; only a person does.

use std::fs;
use std::path::Path;

use crate::care::findings::DamagedStore;
use fpdb_host::error::{Error, Result};

/// The name of the damaged store's folder until the new store is in its place. Then a number is added to the
/// name.
pub(super) const DAMAGED: &str = "damaged";

/// The damaged stores in the folder of a database, in the order of their numbers.
pub(crate) fn damaged_stores(root: &Path) -> Result<Vec<DamagedStore>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).map_err(Error::io("read", root))? {
        let entry = entry.map_err(Error::io("read", root))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(DAMAGED)?.strip_prefix('-')?.parse::<u32>().ok());
        if let Some(number) = number {
            let path = entry.path();
            found.push((number, DamagedStore { bytes: bytes_of(&path)?, path: path.display().to_string() }));
        }
    }
    found.sort_unstable_by_key(|&(number, _)| number);
    Ok(found.into_iter().map(|(_, store)| store).collect())
}

/// The bytes of the files in a folder. A file that is removed meanwhile counts as 0 bytes.
fn bytes_of(folder: &Path) -> Result<u64> {
    let files = fs::read_dir(folder).map_err(Error::io("measure", folder))?;
    Ok(files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len())).sum())
}
