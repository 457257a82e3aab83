//! Names: the names of the documents and submissions in pairs, and their order.

use std::collections::HashMap;
use std::sync::Arc;

use super::answer::{Metadata, Pair, PairMeasures};
use super::documents::Documents;
use super::ranked::PairRecord;
use fpdb_host::error::Result;
use fpdb_host::schema::Schema;
use fpdb_kernel::document::DocId;
use fpdb_store::{DocumentRecord, Store};

/// Maximum number of documents whose names are kept for later pairs.
const MOST_NAMES: usize = 1 << 14;

/// Returns, by id, the place of the name among the sorted names of all documents or submissions.
pub(super) fn name_places(store: &Store, documents: &Documents) -> Result<Vec<u32>> {
    let mut places = vec![0; documents.ids()];
    let mut submissions = documents.submissions.by_name().into_iter().peekable();
    let (mut place, mut last): (u32, Option<String>) = (0, None);
    let mut put = |name: &str, id: u32, places: &mut [u32]| {
        if last.as_deref() != Some(name) {
            place += 1;
            last = Some(name.to_owned());
        }
        places[id as usize] = place;
    };
    store.for_each_name(|name, id| {
        while let Some((submission, first)) = submissions.next_if(|&(submission, _)| submission <= name.as_str()) {
            put(submission, first, &mut places);
        }
        if !documents.submissions.has(id) {
            put(&name, id, &mut places);
        }
        Ok(())
    })?;
    submissions.for_each(|(submission, first)| put(submission, first, &mut places));
    Ok(places)
}

/// The facts that a pair states of each document.
#[derive(Clone)]
struct NamedDocument {
    name: Arc<str>,
    metadata: Metadata,
    /// True if offsets in the document refer to its extracted text.
    extracted: bool,
    modified: Option<i64>,
}

/// The names of documents and submissions.
pub(super) struct PairNames<'a> {
    store: &'a Store,
    /// The names of submissions, by their first documents.
    submissions: HashMap<u32, String>,
    known: HashMap<u32, NamedDocument>,
    /// True if documents have the times of their files.
    times: bool,
}

impl<'a> PairNames<'a> {
    /// `submissions` maps the first document of each submission to the submission's name.
    pub(super) fn new(store: &'a Store, submissions: HashMap<u32, String>, times: bool) -> Self {
        Self { store, submissions, known: HashMap::new(), times }
    }

    fn named(&mut self, id: u32) -> Result<NamedDocument> {
        if let Some(named) = self.known.get(&id) {
            return Ok(named.clone());
        }
        let named = match self.submissions.get(&id) {
            Some(name) => NamedDocument {
                name: name.as_str().into(),
                metadata: Metadata::default(),
                extracted: false,
                modified: None,
            },
            None => {
                let DocumentRecord { name, metadata, extracted, modified, .. } = self.store.document(id)?;
                let modified = modified.filter(|_| self.times).map(|(seconds, _)| seconds);
                let metadata = Arc::new(metadata.into_iter().collect());
                NamedDocument { name: name.into(), metadata, extracted, modified }
            }
        };
        if self.known.len() == MOST_NAMES {
            self.known.clear();
        }
        self.known.insert(id, named.clone());
        Ok(named)
    }

    /// A pair with the names and metadata of its documents, or the names of its submissions.
    pub(super) fn pair(&mut self, record: &PairRecord, documents: &Documents) -> Result<Pair> {
        let (a, b) = (self.named(record.a)?, self.named(record.b)?);
        let [shared, text_shared] = record.shared;
        let measures = |view, shared| documents.measures(view, record.a, record.b, shared);
        let [resemblance, containment_a, containment_b] = measures(0, shared).unwrap_or_default();
        let text = measures(1, text_shared);
        let own = |view, shared| documents.own_measures(view, record.a, record.b, shared);
        let without_boilerplate = own(0, shared).map(|[resemblance, containment_a, containment_b]| {
            let text = own(1, text_shared);
            PairMeasures {
                resemblance,
                containment_a,
                containment_b,
                text_resemblance: text.map(|[resemblance, ..]| resemblance),
                text_containment_a: text.map(|[_, containment, _]| containment),
                text_containment_b: text.map(|[.., containment]| containment),
            }
        });
        Ok(Pair {
            schema: Schema::new(),
            a: a.name,
            b: b.name,
            a_id: DocId(record.a),
            b_id: DocId(record.b),
            shared: shared.into(),
            resemblance,
            containment_a,
            containment_b,
            score: record.score(),
            text_shared: text.map(|_| text_shared.into()),
            text_resemblance: text.map(|[resemblance, ..]| resemblance),
            text_containment_a: text.map(|[_, containment, _]| containment),
            text_containment_b: text.map(|[.., containment]| containment),
            without_boilerplate,
            passages: None,
            longest: None,
            files: Vec::new(),
            by_files: record.by_files(),
            files_left_out: 0,
            a_old: documents.is_new(record.a) == Some(false),
            b_old: documents.is_new(record.b) == Some(false),
            a_extracted: a.extracted,
            b_extracted: b.extracted,
            a_metadata: a.metadata,
            b_metadata: b.metadata,
            a_modified: a.modified,
            b_modified: b.modified,
        })
    }
}
