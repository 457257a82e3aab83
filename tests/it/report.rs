//! The report for a browser: its files, and the view and actions of a reader.

mod below;
pub(crate) mod browser;
mod claims;
mod data;
mod disguise;
mod files;
mod hostile;
mod overview;
mod pages;
mod reading;
mod submissions;
mod times;
mod views;

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Folder, word};

/// A paragraph of `words` words, different for each seed.
fn paragraph(seed: u64, words: u64) -> String {
    (0..words).map(|place| word((seed * 7919 + place * 104_729) % 1_000_003) + " ").collect()
}

/// Documents that share text, and some that do not.
const COPIES: [(&str, &str); 5] = [
    (
        "docs/a.txt",
        "The keeper of the lighthouse climbed the winding stair at dusk.\n\
         He carried a heavy brass lamp and a tin of oil, as he had done every evening for thirty years.\n\
         \n\
         Below him the sea broke over the black rocks with a sound like distant thunder.\n\
         No ship had passed since the beginning of the week, and none was expected before Sunday.\n",
    ),
    (
        "docs/b.txt",
        "My grandfather used to tell another tale entirely, of a man who never slept.\n\
         He carried a heavy brass lamp and a tin of oil, as he had done every evening for thirty years.\n\
         Nobody in the village knew his name or whence he came.\n\
         Below him the sea broke over the black rocks with a sound like distant thunder.\n",
    ),
    (
        "docs/c.txt",
        "In the annals of the harbour there is this entry, in a careful hand:\n\
         No ship had passed since the beginning of the week, and none was expected before Sunday.\n\
         What became of the pilot boat is not recorded anywhere, though many have searched for it.\n",
    ),
    (
        "docs/d.txt",
        "Nobody in the village knew his name or whence he came. That is how all stories begin here.\n\
         The baker says so, the smith says so, and the schoolmaster writes it on the board each spring.\n",
    ),
    (
        "docs/e.txt",
        "A treatise on the cultivation of pears in cold climates, with remarks upon grafting and pruning.\n",
    ),
];

/// A database of [`COPIES`].
fn corpus(folder: &Folder) {
    for (name, text) in COPIES {
        folder.write(name, text);
    }
    folder.ok(&["ingest", "--profile", "prose", "docs"]);
}

/// All files below a folder except those of databases, by path.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".fpdb") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The packed content of a file of a report.
fn unpack(packed: &str) -> String {
    use std::io::Read;

    use base64::Engine;
    let deflated = base64::prelude::BASE64_STANDARD.decode(packed).unwrap();
    let mut json = String::new();
    flate2::read::DeflateDecoder::new(&deflated[..]).read_to_string(&mut json).unwrap();
    json
}

/// A text of a report in a folder.
pub(crate) fn text(folder: &Folder, report: &str, number: usize) -> data::TextData {
    files::part(&files(&folder.path().join(report)), &format!("text-{number}"))
}

/// The files of a report in a folder or in one file, with all packed content unpacked.
fn legible(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let packed = regex::Regex::new(
        r#"(?:^/\* data of a report of fpdb \*/fpdb\("[^"]+","|<script type="application/octet-stream" id="[^"]+">)([A-Za-z0-9+/=]*)"#,
    )
    .unwrap();
    let unpacked = |content: Vec<u8>| {
        let content = String::from_utf8(content).unwrap();
        packed.replace_all(&content, |found: &regex::Captures<'_>| unpack(&found[1])).into_owned()
    };
    files.into_iter().map(|(name, content)| (name, unpacked(content))).collect()
}
