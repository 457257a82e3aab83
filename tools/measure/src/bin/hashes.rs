//! Writes the distinct hashes of each document to a separate file, so that another index can be built from
//! the same numbers.
//!
//! usage: cargo run --release -p measure --bin hashes -- PROFILE FOLDER OUT
//!
//! Each file below FOLDER gets a file in OUT, under its path with `/` as `__`: 64-bit little-endian integers,
//! ascending.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use fpdb::{Fingerprinter, Fingerprints, Profile};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [profile, folder, out] = &arguments[..] else { return Err("usage: hashes PROFILE FOLDER OUT".into()) };
    let mut fingerprinter = Fingerprinter::new(&Profile::named(profile).ok_or("no such profile")?);
    fs::create_dir_all(out)?;
    let mut files = Vec::new();
    files_below(Path::new(folder), &mut files)?;
    for file in files {
        let mut fingerprints = Fingerprints::new();
        fingerprinter.feed(&fs::read(&file)?, &mut fingerprints);
        fingerprinter.finish(&mut fingerprints)?;
        let mut hashes: Vec<u64> = fingerprints.iter().map(|fingerprint| fingerprint.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let name = file.strip_prefix(folder)?.to_string_lossy().replace('/', "__");
        fs::write(Path::new(out).join(name), bytes)?;
    }
    Ok(())
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files_below(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
