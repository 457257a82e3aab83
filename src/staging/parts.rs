//! Parts: the folders of attempts, and the list of files that turns an attempt into a part.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::folder::{PART, PARTS, Staging};
use super::json_file::{read_json, write_whole};
use fpdb_host::error::{Error, Result};
use fpdb_host::schema::{Answer, Schema};
use fpdb_store::{PartContents, StagedFile};

/// The content of a part's file `part.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartRecord {
    schema: Schema<Self>,
    pub(super) generation: String,
    pub(super) part: u32,
    pub(super) files: Vec<FileRecord>,
    pub(super) contents: PartContents,
}

impl Answer for PartRecord {
    const SCHEMA: &'static str = "fpdb.part/1";
}

/// One file of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRecord {
    name: String,
    family: String,
    pub(super) bytes: u64,
    /// XXH3-64 of the bytes, in hexadecimal digits.
    xxh3: String,
}

/// Turns the files in `folder` into a part, by writing its list of files.
pub(super) fn write(
    staging: &Staging,
    part: u32,
    folder: &Path,
    files: &[StagedFile],
    contents: PartContents,
) -> Result<()> {
    let files = files.iter().map(|StagedFile { family, path }| {
        let (bytes, xxh3) = digest_of(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(FileRecord { name, family: (*family).to_owned(), bytes, xxh3 })
    });
    let (generation, files) = (staging.generation().to_owned(), files.collect::<Result<_>>()?);
    write_whole(&folder.join(PART), &PartRecord { schema: Schema::new(), generation, part, files, contents })
}

impl Staging {
    /// The numbers of the complete parts, ascending.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn finished_parts(&self) -> Result<Vec<u32>> {
        Ok(finished(self)?.into_keys().collect())
    }
}

/// The complete parts of this build, each with its folder and record. If a part has several complete
/// attempts, the first by name counts.
pub(super) fn finished(staging: &Staging) -> Result<BTreeMap<u32, (PathBuf, PartRecord)>> {
    let parts = staging.root.join(PARTS);
    let mut found: BTreeMap<u32, (PathBuf, PartRecord)> = BTreeMap::new();
    for entry in fs::read_dir(&parts).map_err(Error::io("read", &parts))? {
        let folder = entry.map_err(Error::io("read", &parts))?.path();
        // Without a list of files, an attempt is still running or was killed.
        let Some(record) = read_json::<PartRecord>(&folder.join(PART))? else { continue };
        if record.generation != staging.generation() || record.part >= staging.part_count() {
            return Err(Error::DamagedBuild { path: folder.join(PART), detail: "it is of another build" });
        }
        if found.get(&record.part).is_none_or(|(other, _)| folder < *other) {
            found.insert(record.part, (folder, record));
        }
    }
    Ok(found)
}

impl FileRecord {
    /// The file, after its size and digest were verified.
    pub(super) fn verified(&self, folder: &Path) -> Result<StagedFile> {
        let path = folder.join(&self.name);
        let damaged = |detail| Error::DamagedBuild { path: path.clone(), detail };
        if Path::new(&self.name).file_name().is_none_or(|name| name != self.name.as_str()) {
            return Err(damaged("its name is a path"));
        }
        let metadata = fs::symlink_metadata(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => damaged("it is missing"),
            _ => Error::io("read", &path)(error),
        })?;
        if !metadata.is_file() {
            return Err(damaged("it is not a regular file"));
        }
        if metadata.len() != self.bytes {
            return Err(damaged("it is not as long as what was written"));
        }
        let (_, xxh3) = digest_of(&path)?;
        if xxh3 != self.xxh3 {
            return Err(damaged("its checksum is another"));
        }
        StagedFile::named(&self.family, path.clone()).ok_or_else(|| damaged("it holds rows of an unknown kind"))
    }
}

/// The length of a file, and the XXH3-64 of its bytes.
fn digest_of(path: &Path) -> Result<(u64, String)> {
    let read = || {
        let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
        let (mut digest, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 20]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok((bytes, format!("{:016x}", digest.digest()))),
                read => {
                    digest.update(&buffer[..read]);
                    bytes += read as u64;
                }
            }
        }
    };
    read().map_err(Error::io("read", path))
}
