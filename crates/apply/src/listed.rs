//! Listed: reads a list of documents to remove, in place of a dedup report. Its documents have no survivors.
//!
//! A line is `{"document": NAME}`, with any other fields except `schema`, or a document as `fpdb list` prints
//! it. A line may also be the answer to a query. Then the documents are the matches of that answer.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::passages::NO_SURVIVOR;
use super::report::{Identity, ParsedReport, ReportedPair};
use super::report_lines;
use crate::stored::StoredDocuments;
use fpdb_host::bounded::Lines;
use fpdb_host::error::{Error, Result};
use fpdb_host::json_options::message_in_line;
use fpdb_host::progress::{Task, is_due};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::hex;

/// The fields of a line that are used.
#[derive(Deserialize)]
struct ListLine {
    schema: Option<String>,
    document: Option<String>,
    /// The name, the id and the digest of a document as `fpdb list` prints it. In other lines, fields with
    /// these names may have any value.
    #[serde(default)]
    name: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    digest: Value,
    #[serde(default)]
    matches: Vec<Named>,
    #[serde(default)]
    matching_documents: u64,
}

#[derive(Deserialize)]
struct Named {
    document: String,
    /// The id of the listed document. `None` stands for all documents of this name and digest.
    #[serde(skip)]
    id: Option<u32>,
    /// The digest of the listed document. `None` stands for any digest.
    #[serde(skip)]
    digest: Option<String>,
    /// The files of a submission.
    #[serde(default)]
    files: Vec<IgnoredAny>,
}

impl ListLine {
    /// The documents of a line; `None` if the line is not a line of a list.
    fn documents(self) -> Option<Vec<Named>> {
        let one = |document, id, digest| Some(vec![Named { document, id, digest, files: Vec::new() }]);
        match (self.schema.as_deref(), self.document) {
            (None, Some(document)) => one(document, None, None),
            (Some(report_lines::DOCUMENT), _) => {
                let id = self.id.as_u64().and_then(|id| u32::try_from(id).ok());
                one(self.name.as_str()?.to_owned(), id, self.digest.as_str().map(str::to_owned))
            }
            (Some(report_lines::QUERY), _) => Some(self.matches),
            _ => None,
        }
    }
}

/// Maximum number of kept names that no stored document has.
pub(super) const UNKNOWN_NAMES: usize = 20;

/// Reads a list. `None` if the first line is not a line of a list. An empty file is an empty list, because a
/// report has at least its summary.
pub(super) fn read<'a>(
    path: &Path,
    stored: &dyn StoredDocuments,
    temp: &'a TempSpace,
    task: &Task<'_>,
) -> Result<Option<ParsedReport<'a>>> {
    let failed = || Error::io("read", path);
    let mut lines = Lines::of(BufReader::with_capacity(1 << 20, File::open(path).map_err(failed())?));
    let memory = stored.memory() / 4;
    let (mut removed, mut pairs) = (RoaringBitmap::new(), Sorter::new(temp, memory));
    let (mut unknown, mut unknown_names) = (FxHashSet::default(), Vec::new());
    let (mut digest, mut is_first) = (Xxh3::new(), true);
    while let Some((number, line)) = lines.next_line().map_err(failed())? {
        if is_due(number) {
            task.step("lines of the list read", number, 0)?;
        }
        if line.is_empty() {
            continue;
        }
        let first = std::mem::replace(&mut is_first, false);
        digest.update(line);
        let wrong = |detail: String| Error::NotADedupReport { path: path.to_owned(), line: number, detail };
        let parsed: ListLine = match serde_json::from_slice(line) {
            Err(_) if first => return Ok(None),
            parsed => parsed.map_err(|error| wrong(message_in_line(&error)))?,
        };
        if parsed.matches.iter().any(|found| !found.files.is_empty()) {
            return Err(wrong("its matches are submissions; query again without --submission-by".into()));
        }
        let (listed, matching) = (parsed.matches.len() as u64, parsed.matching_documents);
        if listed < matching {
            let detail = format!(
                "it is the answer to a query, and lists {listed} of {matching} matches; query again for all of them (`--top 0`)"
            );
            return Err(wrong(detail));
        }
        let Some(documents) = parsed.documents() else {
            return if first {
                Ok(None)
            } else {
                Err(wrong(
                    "the line is neither {\"document\": NAME}, nor one of `fpdb list`, nor the answer to a query"
                        .into(),
                ))
            };
        };
        for Named { document: name, id: wanted, digest, .. } in documents {
            let mut ids = stored.named(&name)?;
            if let Some(digest) = digest {
                let mut same = Vec::new();
                for id in ids {
                    same.extend((hex::encode(&stored.document(id)?.digest) == digest).then_some(id));
                }
                ids = same;
            }
            // A document that was removed and ingested again has another id.
            if let Some(wanted) = wanted.filter(|wanted| ids.contains(wanted)) {
                ids = vec![wanted];
            }
            if ids.is_empty() && unknown.insert(xxh3_64(name.as_bytes())) && unknown_names.len() < UNKNOWN_NAMES {
                unknown_names.push(name.clone());
            }
            for id in ids {
                if removed.insert(id) {
                    let identity = Identity::new(&name, &hex::encode(&stored.document(id)?.digest));
                    pairs.push(ReportedPair { remove: id, keep: NO_SURVIVOR, identity })?;
                }
            }
        }
    }
    Ok(Some(ParsedReport {
        path: path.to_owned(),
        digest: digest.digest(),
        listed: Some(removed.clone()),
        removed,
        survivors: RoaringBitmap::new(),
        inexact: RoaringBitmap::new(),
        identical: RoaringBitmap::new(),
        pairs,
        passages: None,
        kept: Sorter::new(temp, 0),
        is_list: true,
        unknown: unknown.len() as u64,
        unknown_names,
    }))
}
