//! Corpus: one row with the share of a query that the whole archive holds, and the places.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::{Match, QueryAnswer, QueryDocument};
use super::location::Location;
use fpdb_host::schema::{Answer, Schema};
use fpdb_kernel::document::DocId;

/// The share of a query that the archive holds, with its places. Also its JSON (`fpdb.corpus/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CorpusAnswer {
    pub(crate) schema: Schema<Self>,
    /// The query document.
    pub query: QueryDocument,
    /// Number of distinct hashes looked up.
    pub looked_up: u64,
    /// Number of these hashes that at least one document holds.
    pub found: u64,
    /// `found / looked_up`, from 0 to 1: the share of the query that the archive holds.
    pub corpus_containment: f64,
    /// The share of the query's symbols inside passages of the best documents, each symbol counted once.
    /// `None` if documents match and no passages were requested.
    pub coverage: Option<f64>,
    /// True if a document has the same bytes.
    pub identical: bool,
    /// Number of documents that share a hash with the query; with `rewritten`, that have a passage.
    pub documents: u64,
    /// The passages in the best documents, in order of the query.
    pub places: Vec<CorpusPlace>,
}

impl Answer for CorpusAnswer {
    const SCHEMA: &'static str = "fpdb.corpus/1";
}

/// The place of a part of the query in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CorpusPlace {
    /// The part of the query.
    pub query: Location,
    /// Name of the document that holds this part.
    pub document: String,
    /// Id of the document.
    pub id: DocId,
    /// The place of this part in the document.
    pub location: Location,
    /// Number of the query's symbols in this part.
    pub symbols: u64,
    /// True if the texts were compared symbol by symbol.
    pub exact: bool,
}

impl QueryAnswer {
    /// Summarises the answer in one row. A part of the query that several documents hold is listed with the
    /// best of these documents.
    #[must_use]
    pub fn by_corpus(self) -> CorpusAnswer {
        let identical = self.has_identical || self.matches.iter().any(|found| found.identical);
        let has_passages = self.matches.iter().all(|found| found.coverage.is_some());
        let mut places: Vec<CorpusPlace> = Vec::new();
        let mut known = KnownParts::default();
        let documents = |mut found: Match| match found.files.is_empty() {
            true => vec![found],
            false => std::mem::take(&mut found.files),
        };
        for found in self.matches.into_iter().flat_map(documents) {
            for passage in found.passages {
                if known.add(passage.query.start, passage.query.end) {
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

/// Parts of the query that are listed. No part lies in another, so their ends ascend with their starts.
#[derive(Default)]
struct KnownParts {
    /// The end of each part, by its start.
    ends: BTreeMap<u64, u64>,
}

impl KnownParts {
    /// Adds a part. Returns false if it lies in a known part.
    fn add(&mut self, start: u64, end: u64) -> bool {
        if self.ends.range(..=start).next_back().is_some_and(|(_, &known)| end <= known) {
            return false;
        }
        while let Some((&inner, &known)) = self.ends.range(start..).next()
            && known <= end
        {
            self.ends.remove(&inner);
        }
        self.ends.insert(start, end);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::KnownParts;

    proptest! {
        #[test]
        fn a_part_within_an_earlier_one_is_known(parts in prop::collection::vec((0u64..40, 1u64..20), 0..60)) {
            let (mut known, mut earlier) = (KnownParts::default(), Vec::new());
            for (start, length) in parts {
                let end = start + length;
                let lies_in_one = earlier.iter().any(|&(from, to)| from <= start && end <= to);
                prop_assert_eq!(known.add(start, end), !lies_in_one);
                earlier.push((start, end));
            }
        }
    }
}
