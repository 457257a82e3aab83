//! By source: totals for each source of documents. A source is an archive or a folder. The summary of
//! repeated passages also uses this file.

use std::collections::HashMap;

use fpdb_reading::input::file_name_of;
use fpdb_store::DocumentRecord;

/// Maximum number of sources counted separately. Further sources are counted together.
const MOST_SOURCES: usize = 1 << 16;

/// Number of sources that a summary lists.
const SOURCES_LISTED: usize = 20;

/// Name for all sources that are not counted separately.
const OTHER_SOURCES: &str = "(other)";

/// The totals of each source.
#[derive(Default)]
pub struct BySource<T>(HashMap<String, T>);

impl<T: Default> BySource<T> {
    /// The totals of a document's source. Once 65,536 sources are counted, further sources share
    /// the totals of `(other)`.
    pub fn of(&mut self, record: &DocumentRecord) -> &mut T {
        let source = source_of(record);
        let is_listed = self.0.len() < MOST_SOURCES || self.0.contains_key(source);
        self.0.entry(if is_listed { source } else { OTHER_SOURCES }.to_owned()).or_default()
    }

    /// The sources with the largest amounts, in descending order.
    pub fn largest(self, amount: impl Fn(&T) -> u64) -> impl Iterator<Item = (String, T)> {
        let mut all: Vec<(String, T)> = self.0.into_iter().filter(|(_, totals)| amount(totals) > 0).collect();
        all.sort_by(|a, b| amount(&b.1).cmp(&amount(&a.1)).then_with(|| a.0.cmp(&b.0)));
        all.into_iter().take(SOURCES_LISTED)
    }
}

/// The source of a document: the archive that contains it, otherwise its folder.
fn source_of(record: &DocumentRecord) -> &str {
    let name = record.name.as_str();
    match &record.member {
        Some(member) if !member.is_empty() => {
            file_name_of(name, Some(member)).unwrap_or(name).trim_end_matches(['!', '#', ':'])
        }
        _ => name.rfind('/').map_or("", |slash| &name[..slash + 1]),
    }
}
