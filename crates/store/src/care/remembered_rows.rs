//! Remembered rows: rows of the main family that cannot be rebuilt from other rows. These are the contents
//! that are kept out, the settings of sources, the ids of distributed builds, and the folders in which the
//! database was.
//!
//! One block or one table can hold all of them. So they are also read without the engine from tables that the
//! engine cannot read ([`table_rows`]), and from logs with damaged records. Of several versions of a row, the
//! version with the highest sequence number counts. A deletion counts only if its checksum is right. A false
//! deletion would let in a content that was removed for good. A lost deletion only keeps out a content that
//! was let in again, which does less harm.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::care::salvage::Salvage;
use crate::codec::format::{
    ALL_PLACES_KEY, ALL_ROOTS_KEY, ASSEMBLED_PREFIX, FOLD_KEY, IDENTITY_KEY, KEPT_OUT_PREFIX, MAIN, PLACE_PREFIX,
    PROFILE_KEY, ROOT_PREFIX, RUN_PREFIX, SOURCE_PREFIX, STATE_KEY, kept_out_key, parse_kept_out_key, source_key,
};
use crate::codec::records::{self, KeptOutRecord, SourceRecord};
use crate::codec::varint;
use crate::engine::table_file;
use crate::engine::table_rows::{self, FileRow};
use crate::name_places::root_of;
use crate::open::files::{self, unless_refused};
use crate::open::manifest;
use crate::open::version_edit::Records;
use fpdb_host::error::Result;
use fpdb_kernel::document::Digest;

/// The keys of the main family, and the beginnings of keys.
const KEYS: [&[u8]; 12] = [
    ALL_PLACES_KEY,
    ALL_ROOTS_KEY,
    ASSEMBLED_PREFIX,
    FOLD_KEY,
    IDENTITY_KEY,
    KEPT_OUT_PREFIX,
    PLACE_PREFIX,
    PROFILE_KEY,
    ROOT_PREFIX,
    RUN_PREFIX,
    SOURCE_PREFIX,
    STATE_KEY,
];

/// The beginnings of the keys that are read here.
const PREFIXES: [&[u8]; 5] = [ALL_ROOTS_KEY, ASSEMBLED_PREFIX, KEPT_OUT_PREFIX, ROOT_PREFIX, SOURCE_PREFIX];

/// Maximum bytes that are read of one file. The engine makes none larger.
const MOST: u64 = 1 << 30;

/// The readable rows. A flag `..._may_lack` is true if other rows of the kind may be lost.
#[derive(Default)]
pub(super) struct RememberedRows {
    pub(super) kept_out: Vec<(Digest, KeptOutRecord)>,
    pub(super) sources: Vec<SourceRecord>,
    /// The identifiers of distributed builds.
    pub(super) assembled: Vec<[u8; 16]>,
    pub(super) roots: BTreeSet<PathBuf>,
    /// True if `roots` has all folders in which the database was.
    pub(super) has_all_roots: bool,
    pub(super) kept_out_may_lack: bool,
    pub(super) sources_may_lack: bool,
    pub(super) assembled_may_lack: bool,
}

impl RememberedRows {
    /// Reads the rows of the store in the folder `store`. `has_last_commit` is true if the readable tables
    /// and logs hold the state of the last commit, and so all rows of the main family up to that commit.
    pub(super) fn of(salvage: &Salvage, store: &Path, has_last_commit: bool) -> Result<Self> {
        let mut rows = engine_rows(salvage)?;
        let tables_read = add_unreadable_tables(&mut rows, salvage, store)?;
        // If the logs do not fit the tables, the store is read without its logs. Such logs may be older than
        // the tables, or of another store.
        let logs_read = match salvage.has_logs() {
            true => add_damaged_logs(&mut rows, store)?,
            false => has_last_commit,
        };
        let all_read = tables_read && logs_read;
        let mut found = Self {
            kept_out_may_lack: !all_read,
            sources_may_lack: !all_read,
            assembled_may_lack: !all_read,
            ..Self::default()
        };
        for (key, value) in rows {
            found.add(&key, &value);
        }
        found.has_all_roots &= all_read;
        Ok(found)
    }

    fn add(&mut self, key: &[u8], value: &[u8]) {
        if let Some(digest) = parse_kept_out_key(key) {
            // The digest in the key is enough to keep a content out, so a damaged record counts too.
            let unknown = KeptOutRecord { names: Vec::new(), since: 0 };
            self.kept_out.push((digest, records::decode(value, String::new).unwrap_or(unknown)));
        } else if key.starts_with(KEPT_OUT_PREFIX) {
            self.kept_out_may_lack = true;
        } else if let Some(generation) = key.strip_prefix(ASSEMBLED_PREFIX) {
            match generation.try_into() {
                Ok(generation) => self.assembled.push(generation),
                Err(_) => self.assembled_may_lack = true,
            }
        } else if key == ALL_ROOTS_KEY {
            self.has_all_roots = true;
        } else if key.starts_with(ROOT_PREFIX) {
            self.roots.insert(root_of(key));
        } else {
            match source(key, value) {
                Some(record) => self.sources.push(record),
                None => self.sources_may_lack = true,
            }
        }
    }
}

/// The record of a source. `None` if it lies under a wrong key or its settings cannot be read.
fn source(key: &[u8], value: &[u8]) -> Option<SourceRecord> {
    let record: SourceRecord = records::decode(value, String::new).ok()?;
    let is_legible =
        |settings: &String| !settings.starts_with('{') || serde_json::from_str::<serde_json::Value>(settings).is_ok();
    (source_key(&record.path) == key && record.settings.iter().all(is_legible)).then_some(record)
}

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn is_here(key: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// The rows that the engine can read.
fn engine_rows(salvage: &Salvage) -> Result<Rows> {
    let mut keys = Vec::new();
    salvage.keys(MAIN, |key| {
        if is_here(key) {
            keys.push(key.to_vec());
        }
    })?;
    let mut rows = Rows::new();
    for key in keys {
        if !rows.contains_key(&key)
            && let Some(value) = salvage.get(MAIN, &key)?
        {
            rows.insert(key, value);
        }
    }
    Ok(rows)
}

/// Adds the rows of tables that the engine cannot read. Returns false if some of their rows may be lost.
fn add_unreadable_tables(rows: &mut Rows, salvage: &Salvage, store: &Path) -> Result<bool> {
    let (tables, unreadable) = salvage.unreadable_tables(MAIN)?;
    let unlisted = unlisted_tables(salvage, store)?;
    if unreadable.is_empty() && unlisted.is_empty() {
        return Ok(true);
    }
    let mut all_read = true;
    let mut newest: BTreeMap<Vec<u8>, FileRow> = BTreeMap::new();
    for &table in tables.iter().chain(&unlisted) {
        let path = store.join(format!("{table:06}.sst"));
        let found = table_rows::rows(&content(&path)?, |key| KEYS.iter().any(|known| key.starts_with(known)));
        if !tables.contains(&table) || unreadable.contains(&table) {
            let sound = found.iter().filter(|row| row.sound).count() as u64;
            all_read &= unless_refused(&path, table_file::rows_written)? == Some(sound);
        }
        for row in found.into_iter().filter(|row| is_here(&row.key)) {
            if newest.get(&row.key).is_none_or(|known| (known.change, known.sound) < (row.change, row.sound)) {
                newest.insert(row.key.clone(), row);
            }
        }
    }
    for (key, row) in newest {
        let is_latest = match salvage.read(MAIN, &key) {
            // The engine does not read unlisted tables, so these may hold a row that the engine does not
            // find.
            Ok(known) => known.is_some() || unlisted.is_empty(),
            Err(error) if error.is_damage() => false,
            Err(error) => return Err(error),
        };
        if is_latest {
            continue;
        }
        match row.value {
            Some(value) if row.sound || !rows.contains_key(&key) => drop(rows.insert(key, value)),
            None if row.sound => drop(rows.remove(&key)),
            _ => {}
        }
    }
    Ok(all_read)
}

/// The tables in the folder `store` whose properties cannot be read, if the list of tables was rebuilt: the
/// new list omits these tables. Otherwise empty.
fn unlisted_tables(salvage: &Salvage, store: &Path) -> Result<Vec<u64>> {
    let mut unlisted = Vec::new();
    if !salvage.is_rebuilt() {
        return Ok(unlisted);
    }
    let named = manifest::named_tables(store)?;
    for name in files::names(store)? {
        let Some(table) = files::table_number(&name).filter(|&table| !salvage.has_table(table)) else { continue };
        let path = store.join(&name);
        let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        let is_removed = named.iter().any(|list| list.has_removed(table, bytes));
        if !is_removed && unless_refused(&path, table_file::facts)?.is_none() {
            unlisted.push(table);
        }
    }
    Ok(unlisted)
}

/// Adds the rows of logs with damaged records, because the engine skips these records. Returns false if there
/// are such logs.
fn add_damaged_logs(rows: &mut Rows, store: &Path) -> Result<bool> {
    let mut all_read = true;
    let mut names: Vec<String> = files::names(store)?.into_iter().filter(|name| files::is_log(name)).collect();
    names.sort_unstable();
    for name in names {
        let log = content(&store.join(name))?;
        if Records::of(&log).damaged {
            all_read = false;
            for (key, value) in log_rows(&log) {
                rows.entry(key).or_insert(value);
            }
        }
    }
    Ok(all_read)
}

/// The last readable version of each row in a damaged log. A change in a log is a byte for its kind (1: put,
/// 0: deletion), the length of the key, and the key. A put then has the length of the value, and the value.
fn log_rows(log: &[u8]) -> Rows {
    let mut rows = Rows::new();
    for (at, _) in log.iter().enumerate().filter(|(_, first)| [b'a', b'k', b'r', b's'].contains(first)) {
        if !is_here(&log[at..]) {
            continue;
        }
        // The length takes one byte or two.
        let change = [2, 3].into_iter().find_map(|before| {
            let mut rest = log.get(at.checked_sub(before)?..)?;
            let (kind, after) = rest.split_first()?;
            rest = after;
            let length = usize::try_from(varint::read(&mut rest)?).ok()?;
            let (key, mut rest) = rest.split_at_checked(length)?;
            if *kind > 1 || key.as_ptr() != log[at..].as_ptr() {
                return None;
            }
            let value = match kind {
                0 => None,
                _ => {
                    let length = usize::try_from(varint::read(&mut rest)?).ok()?;
                    Some(rest.get(..length)?)
                }
            };
            Some((key, value))
        });
        match change {
            Some((key, None)) => drop(rows.remove(key)),
            Some((key, Some(value))) if decodes(key, value) => drop(rows.insert(key.to_vec(), value.to_vec())),
            _ => {}
        }
    }
    rows
}

fn decodes(key: &[u8], value: &[u8]) -> bool {
    match parse_kept_out_key(key) {
        None if key == ALL_ROOTS_KEY || key.starts_with(ROOT_PREFIX) => value.is_empty(),
        Some(digest) => kept_out_key(&digest) == key && records::decode::<KeptOutRecord>(value, String::new).is_ok(),
        None => source(key, value).is_some(),
    }
}

/// The content of a file; empty if it is missing or its disk cannot read it.
fn content(path: &Path) -> Result<Vec<u8>> {
    unless_refused(path, |path| {
        let mut content = Vec::new();
        File::open(path)?.take(MOST).read_to_end(&mut content)?;
        Ok(content)
    })
}
