//! Options of an ingest: the documents that it reads, and the data that it stores.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use fpdb_host::error::Result;
use fpdb_host::names::names;
use fpdb_host::setters::setters;
use fpdb_reading::input::{
    InputLimit, InputLimits, MetadataTable, Reach, ReadAs, ReadOptions, RecordFields, Source, WalkOptions,
};

/// The treatment of a document whose name is stored with other content. Metadata belong to the content: a
/// replacing document has only its own metadata, and the metadata of a document that is left out are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnChange {
    /// The new document replaces the stored one.
    #[default]
    Replace,
    /// The stored document stays, and the new one is not added.
    Keep,
    /// Both documents are kept under one name.
    Both,
}

names!(OnChange, "on_change", "replace, keep or both", { Replace => "replace", Keep => "keep", Both => "both" });

/// Options of an ingest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct IngestOptions {
    /// The treatment of documents that have changed.
    pub on_change: OnChange,
    /// Stores the bytes of documents in the database, compressed. Their passages can then be compared symbol
    /// by symbol even without the files. Documents that were stored without their bytes are ingested again.
    pub store_text: bool,
    /// The files that the run reads.
    pub walk: WalkOptions,
    /// The documents in these files, and how they are read.
    pub read: ReadOptions,
    /// Marks the documents as boilerplate: they never match, and their text is ignored in other documents.
    /// All of their k-grams are fingerprints. So a stored document that is marked is read again and replaced.
    /// The mark stays until the document is removed.
    pub boilerplate: bool,
    /// The sources that are boilerplate, if only a part of the run's sources are.
    #[serde(skip)]
    pub(super) boilerplate_reach: Arc<Reach>,
    /// The metadata of documents, as a table. A document that is stored with the same bytes is reported as
    /// unchanged, but its metadata are updated. New names are added, values of known names change, and other
    /// names stay. A row of the table replaces all metadata of its document. Default: no table. Not part of
    /// the JSON.
    #[serde(skip)]
    pub metadata: Option<Arc<MetadataTable>>,
    /// Removes stored documents of the given folders if their files are gone, and members that containers no
    /// longer hold. A document whose file has a new name in these folders and the same bytes keeps its number
    /// and metadata. Documents stay if the options leave them out, if the run could not look for them, if
    /// they are behind a broken link, or if their folder is now empty. A stopped run removes nothing.
    pub prune: bool,
    /// Stores nothing: reads everything that the run would read, and reports the documents that it would add,
    /// replace and remove. See [`Database::ingest_dry_run`](crate::Database::ingest_dry_run).
    pub dry_run: bool,
}

/// The outcome of reading a container, if not all of its members were ingested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadOutcome {
    /// True if some members could not be read, and a second attempt would fail too.
    pub(super) has_failed: bool,
    /// A digest of all contents that are kept out. `None` if no member of the container is kept out.
    pub(super) kept_out: Option<u64>,
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
        dry_run: bool,
    }

    /// Marks only the documents of these sources as boilerplate. They must be among the sources of the run.
    #[must_use]
    pub fn boilerplate_sources(self, sources: &[Source]) -> Self {
        Self { boilerplate_reach: Arc::new(Reach::new(sources)), ..self }
    }

    /// True if a document of this name, read from this file, becomes boilerplate.
    pub(super) fn marks(&self, name: &str, source: Option<&str>) -> bool {
        self.boilerplate || self.boilerplate_reach.is_of(name, source)
    }

    /// Checks the options. Every run does so first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](crate::Error::InvalidParameter) for a glob that does not parse.
    pub fn check(&self) -> Result<()> {
        self.walk.check()
    }

    /// True if the run deletes members that their container no longer holds.
    pub(super) fn deletes_members(&self) -> bool {
        self.on_change == OnChange::Replace || self.prune
    }

    /// A digest of all settings that decide which documents the container of this name and file yields, and
    /// which of their data are stored.
    pub(super) fn settings(&self, name: &str, source: &str, outcome: ReadOutcome) -> u64 {
        let settings = self.settings_in_words(name, source);
        let kept_out = outcome.kept_out.map_or_else(String::new, |digest| format!("kept out {digest} "));
        if !outcome.has_failed {
            return xxh3_64(format!("{kept_out}{settings}").as_bytes());
        }
        // Larger limits or another version of the library may read the members that failed, so both count.
        // The limits of memory and time do not: documents beyond them are tried again.
        let counts = |limit: &&InputLimit| !["reading_memory", "reading_seconds"].contains(&limit.field);
        let limits = InputLimits::TABLE.iter().filter(counts).map(|limit| (limit.get)(&self.read.limits));
        let limits: Vec<u64> = limits.collect();
        xxh3_64(format!("failed {} {limits:?} {kept_out}{settings}", env!("CARGO_PKG_VERSION")).as_bytes())
    }

    /// The words from which the digest is made. Databases keep the digest, and a container with another
    /// digest is read again. So the words must stay the same, even if types are renamed.
    fn settings_in_words(&self, name: &str, source: &str) -> String {
        let ReadOptions { front_end, closed, attachments, fields, limits: _, skip_quotes: _, .. } = &self.read;
        let front_end = match front_end {
            ReadAs::Auto => "Auto".to_owned(),
            ReadAs::Code => "Code".to_owned(),
            ReadAs::Format(format) => format!("Format({})", format.name()),
        };
        let RecordFields { text, id, keep, .. } = fields;
        let fields = format!("RecordFields {{ text: {text:?}, id: {id:?}, keep: {keep:?} }}");
        let table = self.metadata.as_ref().map(|table| table.digest());
        let (boilerplate, store_text) = (self.marks(name, Some(source)), self.store_text);
        // A run that deletes nothing may leave members that the container no longer holds.
        let deletes = self.deletes_members();
        // If the current folder is unknown, no relative path can be read either, so these globs are never
        // needed.
        let WalkOptions { include, exclude, .. } = &self.walk.rooted().unwrap_or_else(|_| self.walk.clone());
        let globs = match (include.as_slice(), exclude.as_slice()) {
            ([], []) => String::new(),
            globs => format!("{globs:?} "),
        };
        let attachments = if *attachments { "attachments " } else { "" };
        // Earlier versions divided mailboxes at other `From ` lines and read fewer forms of dates. With this
        // word, an ingest reads such files once more.
        let mails = if may_be_mailbox(source) { "mails 2 " } else { "" };
        format!(
            "{front_end} {closed} {fields} {boilerplate} {store_text} {table:?} {deletes} {attachments}{mails}{globs}{name}"
        )
    }
}

/// True if the name of a file, compressed or not, is that of a mailbox or a mail. Many mailboxes have no
/// extension.
fn may_be_mailbox(source: &str) -> bool {
    let file = source.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let file = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(&file);
    file.rsplit_once('.').is_none_or(|(_, extension)| matches!(extension, "mbox" | "mbx" | "eml"))
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
        let options = IngestOptions::default().read(ReadOptions::default().attachments(true));
        assert_eq!(words(options), default.replace("a.zip", "attachments a.zip"));
        for (source, expected) in [
            ("/in/a.mbox", default.replace("a.zip", "mails 2 a.zip")),
            ("/in/a.mbx.GZ", default.replace("a.zip", "mails 2 a.zip")),
            ("/in.d/Inbox", default.replace("a.zip", "mails 2 a.zip")),
            ("/in/a.eml", default.replace("a.zip", "mails 2 a.zip")),
            ("/in/a.jsonl", default.to_owned()),
            ("/in/a.tar.gz", default.to_owned()),
        ] {
            assert_eq!(IngestOptions::default().settings_in_words("a.zip", source), expected, "{source}");
        }
        for (format, name) in [(Format::Pdf, "pdf"), (Format::Code(Language::Rust), "rust")] {
            let read = ReadOptions::default().front_end(ReadAs::Format(format));
            assert!(words(IngestOptions::default().read(read)).starts_with(&format!("Format({name}) ")));
        }
    }
}
