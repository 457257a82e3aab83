//! Kept out: advises how later ingests leave out removed documents whose files still exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fpdb::{Database, DocumentInfo, Error, glob_of_path};
use fpdb_reading::input::parts_of;

use crate::printer::Printer;
use crate::typed::reading_flags::words_of_json;

/// Prints the `ingest` command that leaves these documents out. Typed flags replace remembered flags, so the
/// command repeats the flags that are remembered for the file or folder of a document.
pub(super) fn hint(database: &Database, removed: &[DocumentInfo], printer: &Printer) -> anyhow::Result<()> {
    let mut commands: BTreeMap<String, (Vec<String>, BTreeSet<String>)> = BTreeMap::new();
    for document in removed {
        let Some(source) = document.source.as_deref().filter(|source| Path::new(source).exists()) else { continue };
        // The name has another version, which stays. The file may have the bytes of that version.
        match database.documents_named(&document.name) {
            Err(Error::NoSuchDocument { .. }) => {}
            Ok(_) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut path = "PATH".to_owned();
        let mut flags = Vec::new();
        for folder in Path::new(source).ancestors() {
            flags = words_of_json(&database.remembered(folder)?);
            if !flags.is_empty() {
                path = folder.display().to_string();
                break;
            }
        }
        let (_, excludes) = commands.entry(path).or_insert((flags, BTreeSet::new()));
        excludes.insert(format!("--exclude={}", glob_of(document, source)));
    }
    for (path, (mut flags, excludes)) in commands {
        let them = if excludes.len() == 1 { "it" } else { "them" };
        let numbers = if excludes.iter().any(|glob| is_numbered(glob)) {
            "; the numbers hold only while no earlier record enters or leaves the file"
        } else {
            ""
        };
        flags.extend(excludes);
        printer.note(&format!(
            "hint: `{}` leaves {them} out, now and later{numbers}",
            printer.suggested.with("ingest", flags, &[&path])
        ));
    }
    Ok(())
}

/// True if a name contains the number of a record in its file, that is, of a mail in a mailbox or of a line.
fn is_numbered(name: &str) -> bool {
    let after = name.split(['#', ':']).skip(1);
    after
        .map(|part| part.split('!').next().unwrap_or_default())
        .any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The glob that matches only this document, in every folder.
fn glob_of(document: &DocumentInfo, source: &str) -> String {
    let member = document.member.as_deref().unwrap_or_default();
    let (suffix, _) = parts_of(&document.name, member);
    glob_of_path(&format!("{source}{suffix}"))
}
