//! Document index: the documents of a report, each once.

use std::collections::HashMap;

use super::data::{DocumentRole, Origin, ReportDocument};
use crate::database::{Database, DocumentInfo};
use crate::query::{Location, QueryDocument};
use crate::report::evidence::{PairEvidence, ignored_in, spans};
use fpdb_host::clock;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::Task;
use fpdb_kernel::document::DocId;

/// Documents by origin, without duplicates.
#[derive(Default)]
pub(super) struct DocumentIndex {
    pub(super) list: Vec<ReportDocument>,
    pub(super) by_origin: HashMap<Origin, usize>,
    /// Submissions by their first documents.
    submissions: HashMap<DocId, usize>,
    /// The ranges excluded from all scores, by document, as far as known.
    pub(super) ignored: HashMap<usize, Vec<Location>>,
    /// True if stored documents have the times of their files.
    times: bool,
}

impl DocumentIndex {
    pub(super) fn new(times: bool) -> Self {
        Self { times, ..Self::default() }
    }

    /// Adds a document, with the date that its metadata state. Returns its index.
    pub(super) fn add(&mut self, mut document: ReportDocument) -> usize {
        let index = self.list.len();
        document.dated = clock::date_of(document.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if let Some(origin) = &document.origin {
            self.by_origin.insert(origin.clone(), index);
        }
        self.list.push(document);
        index
    }

    /// Adds the query document, which may be `stored`. Returns its index.
    pub(super) fn query(
        &mut self,
        query: &QueryDocument,
        origin: Option<Origin>,
        stored: Option<DocumentInfo>,
    ) -> usize {
        if let Some(&index) = origin.as_ref().and_then(|origin| self.by_origin.get(origin)) {
            return index;
        }
        let (metadata, modified) = stored.map_or_else(Default::default, |stored| (stored.metadata, stored.modified));
        self.add(ReportDocument {
            name: query.name.clone(),
            role: DocumentRole::Query,
            bytes: query.bytes,
            symbols: Some(query.symbols),
            metadata,
            modified: modified.filter(|_| self.times),
            disguised: query.disguised.clone(),
            origin,
            ..ReportDocument::default()
        })
    }

    /// Adds a file of a submission that is one query. The text of the file is read again by its name. Returns
    /// the document's index.
    pub(super) fn file_of_query(&mut self, query: &QueryDocument) -> usize {
        let index = self.query(query, Some(Origin::File(query.name.clone().into())), None);
        // The submission lists the disguised words of all its files.
        self.list[index].disguised = None;
        self.ignored.entry(index).or_insert_with(|| spans(&query.ignored));
        index
    }

    /// Adds a document of a stored submission that is one query. If the document was removed meanwhile, its
    /// text is not shown. Returns the document's index.
    pub(super) fn part_of_query(&mut self, database: &Database, query: &QueryDocument) -> Result<usize> {
        let id = match query.id {
            Some(id) => id,
            None => database.newest_named(&query.name)?.id,
        };
        match self.stored(database, id) {
            Err(Error::NoSuchNumber { .. }) => {
                let index = self.query(query, Some(Origin::Stored(id)), None);
                // These ranges cannot be found again.
                self.ignored.entry(index).or_insert_with(|| spans(&query.ignored));
                Ok(index)
            }
            index => index,
        }
    }

    /// The ranges excluded from all scores, by document, as far as known.
    pub(super) fn known_ignored(&mut self) -> Vec<Vec<Location>> {
        (0..self.list.len()).map(|index| self.ignored.remove(&index).unwrap_or_default()).collect()
    }

    /// The ranges excluded from all scores, for all documents. The ranges in `known` are not searched for
    /// again.
    pub(super) fn all_ignored(
        &mut self,
        database: &Database,
        known: HashMap<DocId, Vec<Location>>,
        how: &PairEvidence,
        task: &Task<'_>,
    ) -> Result<Vec<Vec<Location>>> {
        for (id, ignored) in known {
            if let Some(&index) = self.by_origin.get(&Origin::Stored(id)) {
                self.ignored.insert(index, ignored);
            }
        }
        let unknown = self.by_origin.iter().filter_map(|(origin, index)| match origin {
            Origin::Stored(id) if !self.ignored.contains_key(index) => Some(*id),
            _ => None,
        });
        for (id, ignored) in ignored_in(database, unknown.collect(), how, task)? {
            self.ignored.insert(self.by_origin[&Origin::Stored(id)], ignored);
        }
        Ok(self.known_ignored())
    }

    pub(super) fn submission(&mut self, first: DocId, name: &str) -> usize {
        if let Some(&index) = self.submissions.get(&first) {
            return index;
        }
        let index = self.add_submission(name);
        self.submissions.insert(first, index);
        index
    }

    pub(super) fn add_submission(&mut self, name: &str) -> usize {
        self.add(ReportDocument { name: name.to_owned(), role: DocumentRole::Submission, ..ReportDocument::default() })
    }

    pub(super) fn stored(&mut self, database: &Database, id: DocId) -> Result<usize> {
        let origin = Origin::Stored(id);
        if let Some(&index) = self.by_origin.get(&origin) {
            return Ok(index);
        }
        let document = database.document(id)?;
        Ok(self.add(ReportDocument {
            name: document.name,
            role: DocumentRole::Stored,
            bytes: document.bytes,
            symbols: Some(document.symbols),
            metadata: document.metadata,
            modified: document.modified.filter(|_| self.times),
            origin: Some(origin),
            ..ReportDocument::default()
        }))
    }
}
