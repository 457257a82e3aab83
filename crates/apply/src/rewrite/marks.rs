//! Marks: fields that a copy adds to each record. They say whether the record is removable and which document
//! is its survivor, or which passages of the record are repeated.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use xxhash_rust::xxh3::Xxh3;

use crate::check::Cut;
use crate::passages::{NO_DOCUMENT, NO_SURVIVOR, Passages};
use crate::stored::StoredDocuments;
use fpdb_host::bounded::without_byte_order_mark;
use fpdb_host::error::{DocumentError, Error, Result};

/// The marks of records. A field says whether a record is removable, or which of its passages are repeated.
pub(crate) struct Marks<'a> {
    pub(crate) field: &'a str,
    pub(crate) cuts: &'a [Cut],
    pub(crate) stored: &'a dyn StoredDocuments,
    /// The repeated passages, if the marks list them.
    pub(crate) passages: Option<&'a Passages>,
    /// True if records may have marks of an earlier run, which the new marks replace.
    pub(crate) replaces: bool,
    /// True: leaves out records whose contents are kept out, if the format allows it. False: marks them as
    /// removable.
    pub(crate) leaves_out: bool,
}

/// The verdict on a record.
const REMOVE: &str = "remove";
const KEEP: &str = "keep";

impl Marks<'_> {
    /// Names of the fields that each record gets.
    pub(super) fn fields(&self) -> Vec<String> {
        match self.passages {
            Some(_) => vec![self.field.to_owned()],
            None => vec![self.field.to_owned(), format!("{}_survivor", self.field)],
        }
    }

    /// Adds the names of the survivors, which the marks tell, to the digest of a decision.
    pub(crate) fn update_with_survivors(&self, decision: &mut Xxh3) -> Result<()> {
        let survivors = self.cuts.iter().filter(|cut| self.passages.is_none() && cut.keep != NO_SURVIVOR);
        for cut in survivors {
            decision.update(self.stored.document(cut.keep)?.name.as_bytes());
            decision.update(&[0]);
        }
        Ok(())
    }

    /// The cut of the record that begins at this place.
    fn cut(&self, start: u64) -> Option<&Cut> {
        self.cuts.binary_search_by_key(&start, |cut| cut.start).ok().map(|at| &self.cuts[at])
    }

    /// The values of the marks in the record that begins at this place. Passages are `[[start,end],...]`, and
    /// `None` if the content of the record is kept out.
    pub(super) fn values(&self, start: u64) -> Result<Vec<Option<String>>> {
        let cut = self.cut(start);
        if let Some(passages) = self.passages {
            if cut.is_some_and(|cut| cut.id == NO_DOCUMENT) {
                return Ok(vec![None]);
            }
            let passages = cut.map_or(Ok(Vec::new()), |cut| passages.get(cut.id))?;
            let spans: Vec<String> =
                passages.iter().map(|passage| format!("[{},{}]", passage.start, passage.end)).collect();
            return Ok(vec![Some(format!("[{}]", spans.join(",")))]);
        }
        Ok(match cut {
            Some(cut) if cut.keep == NO_SURVIVOR => vec![Some(REMOVE.to_owned()), None],
            Some(cut) => vec![Some(REMOVE.to_owned()), Some(self.stored.document(cut.keep)?.name)],
            None => vec![Some(KEEP.to_owned()), None],
        })
    }

    /// The line that begins at `at`, with the marks added at the end of its object. `None` if the line is not
    /// an object. Empty if the record is left out because its content is kept out.
    pub(super) fn line(&self, line: &[u8], at: u64) -> Result<Option<Vec<u8>>> {
        if self.leaves_out && self.cut(at).is_some_and(|cut| cut.id == NO_DOCUMENT) {
            return Ok(Some(Vec::new()));
        }
        let body = without_byte_order_mark(line);
        // Values are not decoded: a JSON string can hold half a surrogate pair, which is not UTF-8.
        let Ok(mut known) = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(body) else { return Ok(None) };
        let fields = self.fields();
        let Some(close) = line.iter().rposition(|&byte| byte == b'}') else { return Ok(None) };
        let earlier = if self.replaces { earlier_marks(line, &fields) } else { None };
        if earlier.is_some() {
            known.retain(|key, _| !fields.contains(key));
        }
        if let Some(field) = fields.iter().find(|&field| known.contains_key(field)) {
            return Err(Error::FieldTaken { field: field.clone() });
        }
        let quoted = |text: &str| {
            serde_json::to_string(text)
                .map_err(|error| Error::Document(DocumentError::NotARecord { format: "JSON", source: error.into() }))
        };
        let mut added = Vec::new();
        for (field, value) in fields.iter().zip(self.values(at)?) {
            let value = match value {
                None => "null".to_owned(),
                // Spans already are JSON.
                Some(spans) if self.passages.is_some() => spans,
                Some(text) => quoted(&text)?,
            };
            added.push(format!("{}:{value}", quoted(field)?));
        }
        let mut marked = line[..earlier.unwrap_or(close)].to_vec();
        if !known.is_empty() {
            marked.push(b',');
        }
        marked.extend(added.join(",").as_bytes());
        marked.extend(&line[close..]);
        Ok(Some(marked))
    }
}

/// Offset of the marks of an earlier run, which are the last fields of the object in a line.
fn earlier_marks(line: &[u8], fields: &[String]) -> Option<usize> {
    let key = format!("{}:", serde_json::to_string(fields.first()?).ok()?);
    // Inside a string, the first quotation mark of `key` would follow a backslash.
    let begin = memchr::memmem::rfind(line, key.as_bytes())?;
    let marks = [b"{", &line[begin..]].concat();
    let found = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(&marks).ok()?;
    let after_comma = begin.checked_sub(1).filter(|&before| line[before] == b',');
    found.keys().eq(fields).then_some(after_comma.unwrap_or(begin))
}
