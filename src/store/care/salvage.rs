//! Salvage: reading what can be read of a store whose files are damaged.
//!
//! The engine's iterators end at the first block they cannot read. [`SalvagedRows`] looks for the first key behind the
//! gap and goes on. A block that is missing or fails its checksum is a gap; any other failure of the system (too many open
//! files, no permission) is an error, since the rows that it hides are not lost.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::codec::format::STORE;
use crate::store::engine::options::DEFAULT_CACHE_BYTES;
use crate::store::engine::rows::Rows;
use crate::store::engine::{Access, Engine};
use crate::store::open::files::{self, LIST, read_short};
use crate::store::open::linked_store::LinkedStore;

/// The action that reads damaged files, in errors.
const ACTION: &str = "read its damaged files";

/// A damaged store, open for reading.
pub(in crate::store) struct Salvage {
    engine: Engine,
    _links: Option<LinkedStore>,
}

impl Salvage {
    /// Opens the store of the database at `root`, which no process may be writing.
    ///
    /// # Errors
    /// [`Error::BeyondRepair`] where the list of tables is lost: then nothing says what belongs to the database.
    pub(in crate::store) fn open(root: &Path) -> Result<Self> {
        let store = root.join(STORE);
        name_list_of_tables(&store)?;
        let links = files::check(root).is_err().then(|| LinkedStore::new(&store, None)).transpose()?;
        let store = links.as_ref().map_or(store, LinkedStore::path);
        let engine = Engine::open(&store, Access::ReadDamaged, DEFAULT_CACHE_BYTES).map_err(|error| {
            let path = root.to_owned();
            match error.failure.is_refusal() {
                true => Error::CannotOpen { path, failure: error.failure, source: error.source },
                false => {
                    Error::BeyondRepair { path, lost: "the list of its tables (store/MANIFEST)", source: error.source }
                }
            }
        })?;
        Ok(Self { engine, _links: links })
    }

    /// The value of a key; `None` where there is none or it cannot be read.
    pub(in crate::store) fn get(&self, name: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.engine.get(name, key, ACTION) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(error) if error.is_damage() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The readable rows of a family whose keys are of `width` bytes, from the key `from` on.
    pub(in crate::store) fn rows(&self, name: &'static str, width: usize, from: &[u8]) -> Result<SalvagedRows<'_>> {
        let mut rows = SalvagedRows { rows: self.engine.rows(name, ACTION)?, width, gaps: 0 };
        rows.go_to(number(from))?;
        Ok(rows)
    }

    /// The readable keys of a family whose keys are of any length: those before the first gap, and those behind the
    /// last one.
    pub(in crate::store) fn keys(&self, name: &'static str, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let mut rows = self.engine.rows(name, ACTION)?;
        rows.seek_to_first();
        let mut last = Vec::new();
        while let Some(key) = rows.key() {
            visit(key);
            last = key.to_vec();
            rows.next();
        }
        if landing(&rows)? == Landing::Gap {
            rows.seek_to_last();
            while let Some(key) = rows.key().filter(|&key| key > &last[..]) {
                visit(key);
                rows.prev();
            }
        }
        Ok(())
    }
}

/// Where a step of an iterator ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    Row,
    End,
    Gap,
}

fn landing(rows: &Rows<'_>) -> Result<Landing> {
    if rows.valid() {
        return Ok(Landing::Row);
    }
    match rows.check() {
        Ok(()) => Ok(Landing::End),
        Err(error) if error.is_damage() => Ok(Landing::Gap),
        Err(error) => Err(error),
    }
}

/// The readable rows of a family, in order of key.
pub(in crate::store) struct SalvagedRows<'a> {
    rows: Rows<'a>,
    width: usize,
    /// Stretches that could not be read.
    pub(in crate::store) gaps: u64,
}

impl SalvagedRows<'_> {
    /// The row it stands on.
    pub(in crate::store) fn current(&self) -> Option<(&[u8], &[u8])> {
        self.rows.item()
    }

    /// Goes to the next readable row.
    pub(in crate::store) fn advance(&mut self) -> Result<()> {
        let Some(key) = self.rows.key().map(number) else { return Ok(()) };
        self.rows.next();
        match landing(&self.rows)? {
            Landing::Gap if key < self.greatest() => self.cross(key + 1),
            _ => Ok(()),
        }
    }

    /// Goes to the first readable row at or behind `target`.
    pub(in crate::store) fn go_to(&mut self, target: u128) -> Result<()> {
        match self.seek(target)? {
            Landing::Gap => self.cross(target),
            _ => Ok(()),
        }
    }

    /// Goes behind the gap that `low` lies in: in growing steps until something can be read, then back to where that
    /// begins.
    fn cross(&mut self, mut low: u128) -> Result<()> {
        self.gaps += 1;
        let mut step = 1u128;
        let mut high = loop {
            let high = low.saturating_add(step).min(self.greatest());
            if self.seek(high)? != Landing::Gap {
                break high;
            }
            if high == self.greatest() {
                return Ok(());
            }
            low = high;
            step = step.saturating_mul(2);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.seek(middle)? {
                Landing::Gap => low = middle,
                _ => high = middle,
            }
        }
        self.seek(high)?;
        Ok(())
    }

    fn seek(&mut self, target: u128) -> Result<Landing> {
        self.rows.seek(&target.to_be_bytes()[16 - self.width..]);
        landing(&self.rows)
    }

    fn greatest(&self) -> u128 {
        u128::MAX >> (128 - 8 * self.width)
    }
}

/// A key of at most 16 bytes as a number; keys of one length are in the order of their numbers.
pub(in crate::store) fn number(key: &[u8]) -> u128 {
    key.iter().take(16).fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// Sees to it that the file `CURRENT` names a list of tables: where it does not, the newest there is.
fn name_list_of_tables(store: &Path) -> Result<()> {
    let current = store.join("CURRENT");
    let named = match read_short(&current) {
        Ok(name) => String::from_utf8(name).unwrap_or_default(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => String::new(),
        Err(source) => return Err(Error::Io { action: "read", path: current, source }),
    };
    if named.strip_suffix('\n').is_some_and(|name| name.starts_with(LIST) && store.join(name).is_file()) {
        return Ok(());
    }
    let entries = fs::read_dir(store).map_err(Error::io("read", store))?;
    let lists = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let lists = lists.filter(|name| store.join(name).is_file());
    let number = |name: &String| name.strip_prefix(LIST)?.parse::<u64>().ok();
    let Some(newest) = lists.filter(|name| number(name).is_some()).max_by_key(number) else { return Ok(()) };
    replace_file(&current, format!("{newest}\n").as_bytes())
}

/// Puts `content` in the place of the file at `path`, whole or not at all.
pub(in crate::store) fn replace_file(path: &Path, content: &[u8]) -> Result<()> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // As readable as any file: others may read the database.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, content)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(Error::io("write", PathBuf::from(path)))
}
