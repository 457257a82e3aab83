//! Corpus: how much of a query the whole archive holds, and where, in one row.

use serde::{Deserialize, Serialize};

use super::answer::{Match, QueryAnswer, QueryDocument};
use super::location::Location;
use fpdb_host::schema::{Answer, Schema};
use fpdb_kernel::document::DocId;

/// How much of a query the archive holds, and where. Also its JSON (`fpdb.corpus/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorpusAnswer {
    pub(crate) schema: Schema<Self>,
    /// The query document.
    pub query: QueryDocument,
    /// Distinct hashes looked up.
    pub looked_up: u64,
    /// How many of those at least one document holds.
    pub found: u64,
    /// `found / looked_up`: the share of the query that the archive holds.
    pub corpus_containment: f64,
    /// The share of the query's symbols inside passages of the best of those documents, each symbol counted once. `None` where documents
    /// match and no passages were asked for.
    pub coverage: Option<f64>,
    /// True if a document has the very same bytes.
    pub identical: bool,
    /// Documents that share a hash with the query.
    pub documents: u64,
    /// The passages in the best of them, in order of the query.
    pub places: Vec<CorpusPlace>,
}

impl Answer for CorpusAnswer {
    const SCHEMA: &'static str = "fpdb.corpus/1";
}

/// Where the archive holds a part of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorpusPlace {
    /// Where the part is in the query.
    pub query: Location,
    /// The document that holds it.
    pub document: String,
    /// Its number.
    pub id: DocId,
    /// Where it is there.
    pub location: Location,
    /// Symbols of the query.
    pub symbols: u64,
    /// True if the texts were compared.
    pub exact: bool,
}

impl QueryAnswer {
    /// The same as one row: how much of the query the archive holds, and where. Parts that several documents hold are listed for the best
    /// of them.
    #[must_use]
    pub fn by_corpus(self) -> CorpusAnswer {
        let identical = self.has_identical || self.matches.iter().any(|found| found.identical);
        let has_passages = self.matches.iter().all(|found| found.coverage.is_some());
        let mut places: Vec<CorpusPlace> = Vec::new();
        let documents = |mut found: Match| match found.files.is_empty() {
            true => vec![found],
            false => std::mem::take(&mut found.files),
        };
        for found in self.matches.into_iter().flat_map(documents) {
            for passage in found.passages {
                let (start, end) = (passage.query.start, passage.query.end);
                let known = |place: &CorpusPlace| place.query.start <= start && end <= place.query.end;
                if !places.iter().any(known) {
                    places.push(CorpusPlace {
                        query: passage.query,
                        document: found.document.clone(),
                        id: found.id,
                        location: passage.document,
                        symbols: passage.symbols,
                        exact: passage.exact,
                    });
                }
            }
        }
        places.sort_by_key(|place| (place.query.start, place.query.end));
        CorpusAnswer {
            schema: Schema::new(),
            looked_up: self.looked_up,
            found: self.found,
            corpus_containment: self.corpus_containment,
            coverage: has_passages.then_some(self.coverage),
            identical,
            documents: self.matching_documents,
            query: self.query,
            places,
        }
    }
}
