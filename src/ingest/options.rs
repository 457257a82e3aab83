//! Options: what an ingest reads, and what it keeps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use fpdb_host::error::Result;
use fpdb_host::names::names;
use fpdb_host::setters::setters;
use fpdb_reading::input::{MetadataTable, Reach, ReadAs, ReadOptions, RecordFields, Source, WalkOptions};

/// The treatment of a document whose name is stored with other content. The metadata go with the content: a document that replaces
/// another has its own alone, and those of a document that is left out are left out too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnChange {
    /// The stored document is deleted in favour of the new one.
    #[default]
    Replace,
    /// The stored document stays, the new one is left out.
    Keep,
    /// Both are kept, under one name.
    Both,
}

names!(OnChange, "on_change", "replace, keep or both", { Replace => "replace", Keep => "keep", Both => "both" });

/// How to ingest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct IngestOptions {
    /// The treatment of documents that have changed.
    pub on_change: OnChange,
    /// True if to keep the documents' bytes in the database, compressed: their passages can then be compared symbol
    /// by symbol once the files are gone. Documents stored without are ingested again.
    pub store_text: bool,
    /// Which files count.
    pub walk: WalkOptions,
    /// Which files are documents, and how they are read.
    pub read: ReadOptions,
    /// The documents are boilerplate: never a match, and what they hold is ignored in others. A document that is
    /// boilerplate stays it until it is removed.
    pub boilerplate: bool,
    /// Where boilerplate lies, if it is a part of the run.
    #[serde(skip)]
    pub(super) boilerplate_reach: Arc<Reach>,
    /// The metadata of documents, as a table. A document that is stored with the same bytes is reported as unchanged, and takes on the
    /// metadata it comes with: new names are added, values of known names change, and names that it comes without stay, unless the
    /// table has a row for it, which then says all. By default there is no table. Not part of the JSON.
    #[serde(skip)]
    pub metadata: Option<Arc<MetadataTable>>,
    /// Forgets the stored documents of the sources' folders whose files are gone, and of containers that are read whole the members that
    /// are gone. A file that is gone and is there under a new name with the same bytes keeps its number and metadata instead. Nothing is
    /// forgotten that these options leave out, that could not be looked for, that lies behind a link that leads nowhere, or that a
    /// folder among the sources held that now holds nothing at all; and nothing by a run that is stopped.
    pub prune: bool,
}

impl IngestOptions {
    setters! {
        on_change: OnChange,
        store_text: bool,
        walk: WalkOptions,
        read: ReadOptions,
        boilerplate: bool,
        metadata: Option<Arc<MetadataTable>>,
        prune: bool,
    }

    /// Makes the documents of these sources boilerplate, and no others of the run. The run must be given these sources too.
    #[must_use]
    pub fn boilerplate_sources(self, sources: &[Source]) -> Self {
        Self { boilerplate_reach: Arc::new(Reach::new(sources)), ..self }
    }

    /// True if a document of this name, read from this file, is to be boilerplate.
    pub(super) fn marks(&self, name: &str, source: Option<&str>) -> bool {
        self.boilerplate || self.boilerplate_reach.is_of(name, source)
    }

    /// Checks that a run can begin with these options; every run does so first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a glob that does not parse.
    pub fn check(&self) -> Result<()> {
        self.walk.check()
    }

    /// True if stored members are deleted that their container no longer holds.
    pub(super) fn deletes_members(&self) -> bool {
        self.on_change == OnChange::Replace || self.prune
    }

    /// A digest of what has a say in which documents the container of this name, in this file, gives, and in what is kept of them.
    pub(super) fn settings(&self, name: &str, source: &str) -> u64 {
        xxh3_64(self.settings_in_words(name, source).as_bytes())
    }

    /// The digest is made of these words. Databases keep the digest, so the words stay as they are whatever types are called: a
    /// container whose digest is another one is read again.
    fn settings_in_words(&self, name: &str, source: &str) -> String {
        let ReadOptions { front_end, closed, fields, limits: _, skip_quotes: _, .. } = &self.read;
        let front_end = match front_end {
            ReadAs::Auto => "Auto".to_owned(),
            ReadAs::Code => "Code".to_owned(),
            ReadAs::Format(format) => format!("Format({})", format.name()),
        };
        let RecordFields { text, id, keep, .. } = fields;
        let fields = format!("RecordFields {{ text: {text:?}, id: {id:?}, keep: {keep:?} }}");
        let table = self.metadata.as_ref().map(|table| table.digest());
        let (boilerplate, store_text) = (self.marks(name, Some(source)), self.store_text);
        // A run that deletes nothing may leave what the container no longer holds.
        let deletes = self.deletes_members();
        let WalkOptions { include, exclude, .. } = &self.walk;
        let globs = match (include.as_slice(), exclude.as_slice()) {
            ([], []) => String::new(),
            globs => format!("{globs:?} "),
        };
        format!("{front_end} {closed} {fields} {boilerplate} {store_text} {table:?} {deletes} {globs}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::document::{Format, Language};

    #[test]
    fn settings_are_the_same_words_in_every_version() {
        let words = |options: IngestOptions| options.settings_in_words("a.zip", "/a.zip");
        let default = "Auto false RecordFields { text: \"text\", id: \"id\", keep: [] } false false None true a.zip";
        assert_eq!(words(IngestOptions::default()), default);
        let fields = RecordFields::default().text("body\n".into()).keep(vec!["url".into(), "a b".into()]);
        let read = ReadOptions::default().front_end(ReadAs::Code).closed(true).fields(fields);
        let options = IngestOptions::default().read(read).boilerplate(true).store_text(true).on_change(OnChange::Both);
        let expected =
            r#"Code true RecordFields { text: "body\n", id: "id", keep: ["url", "a b"] } true true None false a.zip"#;
        assert_eq!(words(options), expected);
        for (format, name) in [(Format::Pdf, "pdf"), (Format::Code(Language::Rust), "rust")] {
            let read = ReadOptions::default().front_end(ReadAs::Format(format));
            assert!(words(IngestOptions::default().read(read)).starts_with(&format!("Format({name}) ")));
        }
    }
}
