//! Error: the error types of the library. A message names the problem; [`Error::hint`] gives the next step.
//!
//! The library has one error enum. It contains a second enum for documents that cannot be read. A message is
//! one lower-case sentence that names the path, document or option concerned. The cause is available only
//! through `source()`. No type of the storage engine appears in a public signature. The file is long because
//! an enum is one list.

mod describe;
mod document;
mod failure;
mod hint;
mod names_there;

use std::io;
use std::path::PathBuf;

use self::describe::missing_backup;
pub use self::document::DocumentError;
pub use self::failure::{Cause, StoreFailure};
pub use self::names_there::NamesThere;
use fpdb_kernel::profile::{Profile, ProfileError, Unit};

/// The result type of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// All errors of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed, as a verb: "read", "create".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The operating system refused an operation that does not concern a file, but memory, a signal or
    /// another process.
    #[error("cannot {action}")]
    System {
        /// The action that failed, as a verb phrase: "compress a text".
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// There is no database at this path.
    #[error("there is no database at {}", path.display())]
    NoDatabase {
        /// The path looked at.
        path: PathBuf,
    },
    /// The path exists, but is not a database of this program.
    #[error("{} exists and is not an fpdb database", path.display())]
    NotADatabase {
        /// The path looked at.
        path: PathBuf,
    },
    /// The path exists, but is not a folder of backups.
    #[error("{} is not a folder of fpdb backups", path.display())]
    NotABackup {
        /// The path looked at.
        path: PathBuf,
    },
    /// The folder holds backups of another database.
    #[error("{} holds backups of another database, {}", path.display(), database.display())]
    OthersBackup {
        /// The path given.
        path: PathBuf,
        /// The path of that database when it was last backed up to the folder.
        database: PathBuf,
    },
    /// The folder does not have the backup that was asked for.
    #[error("{} has {}", path.display(), missing_backup(*number, numbers))]
    NoSuchBackup {
        /// The folder of backups.
        path: PathBuf,
        /// The number of the backup; `None` for the newest.
        number: Option<u32>,
        /// The numbers of the backups in the folder.
        numbers: Vec<u32>,
    },
    /// A file of a backup is not as it was written.
    #[error("backup {number} is damaged: {file} is not what was written")]
    DamagedBackup {
        /// The number of the backup.
        number: u32,
        /// The file, relative to the backup's folder.
        file: String,
        /// The other backups in the folder that are whole.
        others: Vec<u32>,
    },
    /// The path for a new report holds something other than a report.
    #[error("{} is not a report of fpdb: {what}", path.display())]
    NotAReport {
        /// The path given.
        path: PathBuf,
        /// The content found, as a phrase.
        what: String,
    },
    /// The path for a new database already holds one.
    #[error("there is already a database at {}", path.display())]
    DatabaseExists {
        /// The path of the database.
        path: PathBuf,
    },
    /// Another process is writing.
    #[error("the database at {} is being written by {holder}", path.display())]
    Locked {
        /// The path of the database.
        path: PathBuf,
        /// The process with the lock: "process" and its id, or "another process" if the id is unknown.
        holder: String,
    },
    /// The process may not open as many files as the database needs.
    #[error("the database at {} needs {needed} files open at once, and this process may have {allowed}", path.display())]
    TooFewOpenFiles {
        /// The path of the database.
        path: PathBuf,
        /// Number of the database's tables and other files.
        needed: u64,
        /// The limit of the process.
        allowed: u64,
    },
    /// The database has another format version.
    #[error("the database at {} has format version {found}; this program reads version {supported}", path.display())]
    FormatVersion {
        /// The path of the database.
        path: PathBuf,
        /// The version found.
        found: String,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// The database has another hash version: this program would compute other fingerprints for the same
    /// documents.
    #[error(
        "the database at {} was made with version {found} of the rules of unit {unit}; this program has version {supported}, \
         under which the same documents have other fingerprints",
        path.display()
    )]
    HashVersion {
        /// The path of the database.
        path: PathBuf,
        /// The unit of the database.
        unit: Unit,
        /// The version found.
        found: u8,
        /// The version that this program makes.
        supported: u8,
    },
    /// The path for new files lies in a database's folder.
    #[error("{} lies in the database {}", path.display(), database.display())]
    InsideDatabase {
        /// The path for the new files.
        path: PathBuf,
        /// The folder of the database, or of its backups.
        database: PathBuf,
    },
    /// A copy would replace files that it did not write, or that were changed after it wrote them. Nothing
    /// was written.
    #[error("the copy would replace files that are not as it wrote them ({files}), such as {}", path.display())]
    PlaceTaken {
        /// The first of these files.
        path: PathBuf,
        /// Number of these files.
        files: u64,
        /// True if the folder also has copies by another kind of report, other flags or another database.
        has_others: bool,
    },
    /// A database to merge does not exist.
    #[error("there is no database to merge at {}", path.display())]
    NoOther {
        /// The path looked at.
        path: PathBuf,
    },
    /// A database to merge has other settings.
    #[error("the database at {} was made with {other}, and the one it is to be merged into with {stored}", path.display())]
    OtherProfile {
        /// The path of the database to merge.
        path: PathBuf,
        /// The profile of the database to merge.
        other: Box<Profile>,
        /// The profile of the database that it would be merged into.
        stored: Box<Profile>,
    },
    /// The database has other settings than the caller asked for.
    #[error("the database was made with {stored}, and {asked} is asked for")]
    ProfileMismatch {
        /// The profile of the database.
        stored: Box<Profile>,
        /// The profile asked for.
        asked: Box<Profile>,
    },
    /// The query window is smaller than the window of the database.
    #[error(
        "window {asked} is smaller than the database's window {stored}: its fingerprints are not a subset of the stored ones"
    )]
    WindowTooSmall {
        /// The window asked for.
        asked: u32,
        /// The window of the database.
        stored: u32,
    },
    /// A phrase in a file of phrases is not usable.
    #[error("{}, line {line}: {why}", path.display())]
    Phrase {
        /// The file of phrases.
        path: PathBuf,
        /// The line in the file, from 1 on.
        line: u64,
        /// The fault, as a sentence.
        why: &'static str,
    },
    /// A parameter is outside its range or not understood.
    #[error("{name} cannot be {value}: expected {expected}")]
    InvalidParameter {
        /// The name of the option, or a noun phrase for it.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// The limits of the input have no limit of this name.
    #[error("no limit is named {name}; the limits are {}", known.join(", "))]
    UnknownLimit {
        /// The name given.
        name: String,
        /// The names of the limits.
        known: Vec<&'static str>,
    },
    /// The JSON of options cannot be read.
    #[error("{}", unreadable_options(field))]
    InvalidOptions {
        /// The path of the field, such as `read.limits`. Empty if the error concerns no field.
        field: String,
        /// The reason.
        source: serde_json::Error,
    },
    /// The caller asked for passages of a length at which nothing is guaranteed, or that is too large.
    #[error(
        "passages cannot have a least length of {asked} symbols: expected {least} to {most} (nothing is guaranteed of \
         passages shorter than w + k - 1)"
    )]
    PassageLength {
        /// The length given, in symbols.
        asked: u32,
        /// The smallest length allowed: the guarantee of the profile, w + k - 1.
        least: u64,
        /// The largest length allowed.
        most: u32,
    },
    /// The caller asked to ignore quotations or phrases, but the documents are not prose.
    #[error("{asked} is for documents read as prose (unit char or word), and here they are read as unit {unit}")]
    NotProse {
        /// The action, as a noun phrase: "skipping quotations".
        asked: &'static str,
        /// The unit of the documents.
        unit: Unit,
    },
    /// The caller asked for rewritten text, but the unit of the documents is not `word`.
    #[error(
        "looking for rewritten text is for documents read as words (unit word), and here they are read as unit {unit}"
    )]
    NotWords {
        /// The unit of the documents.
        unit: Unit,
    },
    /// The caller asked to ignore quotations or phrases, but the text of the document is not available.
    #[error("{asked} needs the text of the query (at most 32 MiB), but the text of {name} is not available")]
    NoTextToIgnore {
        /// The action, as a noun phrase: "skipping quotations".
        asked: &'static str,
        /// The name of the document.
        name: String,
    },
    /// Stored bytes do not decode.
    #[error("{what} is damaged: {detail}")]
    Damaged {
        /// The kind and the key of the record.
        what: String,
        /// The fault.
        detail: &'static str,
    },
    /// A damaged database has too little left for a repair.
    #[error("the database at {} cannot be repaired: {lost} is lost", path.display())]
    BeyondRepair {
        /// The path of the database.
        path: PathBuf,
        /// The missing part that a repair needs.
        lost: &'static str,
        /// The engine's error.
        source: Cause,
    },
    /// A repair would lose documents whose files cannot be opened now.
    #[error("the database at {} was not repaired: damaged documents ({documents}) can only be rebuilt from their files, which cannot be opened now, such as {}", path.display(), source_path.display())]
    SourcesMissing {
        /// The path of the database.
        path: PathBuf,
        /// Number of these documents.
        documents: u64,
        /// The path of the first of these files.
        source_path: PathBuf,
    },
    /// The last commits of the database are missing.
    #[error("the database at {} has lost its last commits: {found} of {marked} are there", path.display())]
    CommitsLost {
        /// The path of the database.
        path: PathBuf,
        /// The number of the last commit found.
        found: u64,
        /// The number of the last commit made.
        marked: u64,
    },
    /// The list of the store's tables is shorter than before.
    #[error("the list of tables {} is damaged: {found} of its {marked} bytes are there", path.display())]
    TablesLost {
        /// The path of the list.
        path: PathBuf,
        /// Bytes found.
        found: u64,
        /// Bytes written before.
        marked: u64,
    },
    /// The list of the store's tables omits some tables. Opening the store for writing would delete these
    /// tables.
    #[error("the list of tables {} does not fit the tables beside it: it does not name {tables} of them", path.display())]
    TablesUnlisted {
        /// The path of the list.
        path: PathBuf,
        /// Number of tables that it omits.
        tables: u64,
    },
    /// The store in the database's folder, or its log, belongs to another database.
    #[error(
        "the store of the database at {}, or its log, belongs to another database: its identity is {found}, and the file `committed` names {marked}",
        path.display()
    )]
    OtherStore {
        /// The path of the database.
        path: PathBuf,
        /// The identity in the store.
        found: String,
        /// The identity of this database, from the file `committed`.
        marked: String,
    },
    /// The folder of an open database was moved, deleted or replaced.
    #[error("the folder of the database at {} is gone, or another one is in its place", path.display())]
    FolderGone {
        /// The path at which the database was opened.
        path: PathBuf,
    },
    /// The storage engine could not open the database's files.
    #[error("cannot open the files of the database at {}", path.display())]
    CannotOpen {
        /// The path of the database.
        path: PathBuf,
        /// The kind of failure.
        failure: StoreFailure,
        /// The engine's error.
        source: Cause,
    },
    /// An operation of the storage engine failed.
    #[error("the store could not {action}")]
    Store {
        /// The operation, as a verb phrase.
        action: &'static str,
        /// The kind of failure.
        failure: StoreFailure,
        /// The engine's error.
        source: Cause,
    },
    /// No stored document has this name.
    #[error("no stored document is named {name}")]
    NoSuchDocument {
        /// The name asked for.
        name: String,
        /// The most similar stored name, or the beginning of one. `None` if none is similar, or if none was
        /// searched for.
        nearest: Option<String>,
    },
    /// No stored document has this key in its metadata.
    #[error("no stored document has the key {key} in its metadata")]
    NoSuchKey {
        /// The key asked for.
        key: String,
        /// Some keys that documents have, sorted.
        keys: Vec<String>,
        /// True if documents have more keys.
        more: bool,
        /// The most similar key that documents have. `None` if none is similar.
        nearest: Option<String>,
    },
    /// No stored document fits the given prefix, folder, pattern or value of metadata.
    #[error("no stored document fits {value} ({option})")]
    NothingFits {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// The most similar beginning of a stored name, or a looser choice of metadata that documents fit.
        /// `None` if there is none.
        nearest: Option<String>,
    },
    /// Documents already have the names that other documents should get.
    #[error("a stored document is named {name} already{}", more_names(*taken))]
    NameTaken {
        /// The first of the names.
        name: String,
        /// Number of new names that are taken.
        taken: u64,
    },
    /// No stored document has this number.
    #[error("no stored document has the number {number}")]
    NoSuchNumber {
        /// The number asked for.
        number: u32,
    },
    /// The threads of a database could not be started.
    #[error("cannot start {threads} threads")]
    Threads {
        /// Number of threads wanted.
        threads: usize,
        /// The system's error.
        source: Cause,
    },
    /// A document, or a container of documents, cannot be read. Others are not affected.
    #[error(transparent)]
    Document(DocumentError),
    /// A table of metadata cannot be used.
    #[error("{} is not a metadata table: {detail}", path.display())]
    BadTable {
        /// The path of the table.
        path: PathBuf,
        /// The fault.
        detail: String,
    },
    /// A followed link leads back to a folder that contains it.
    #[error("{} is a loop: it leads back to {}", path.display(), ancestor.display())]
    DirectoryLoop {
        /// The link.
        path: PathBuf,
        /// The folder that it leads back to.
        ancestor: PathBuf,
    },
    /// A folder is empty, although stored documents were read from it. The disk of the folder may not be
    /// mounted.
    #[error("the folder {} is empty: the stored documents that came from it ({documents}) were not removed", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// Number of documents that were read from the folder.
        documents: u64,
        /// Their names.
        names: NamesThere,
    },
    /// A file is empty, although stored documents were read from it.
    #[error(
        "it is empty now, or nothing in it can be read: the stored documents that came from it ({documents}) were not removed"
    )]
    EmptyFile {
        /// Number of documents that were read from it.
        documents: u64,
    },
    /// Stored members of an archive were not found in the archive, but may be in a part of it that could not
    /// be read.
    #[error("stored documents of it were not found in it and stay ({documents}: {}{}), because it was not read whole",
        names.join(", "), if names.len() as u64 == *documents { "" } else { ", ..." })]
    NotReadWhole {
        /// Number of these documents.
        documents: u64,
        /// The names of the first ones.
        names: Vec<String>,
    },
    /// A file or folder is gone that was to be read, or that was ingested with options of its own. Its disk
    /// may not be mounted. If it was renamed, an ingest with other options may not find its documents.
    #[error("{} is gone, or its disk is not mounted: the stored documents that came from it ({documents}) stay", path.display())]
    GoneSource {
        /// The file or folder.
        path: PathBuf,
        /// Number of documents that were read from it.
        documents: u64,
        /// Their names.
        names: NamesThere,
    },
    /// The files of stored documents are gone. The documents were kept, because the files may have been
    /// renamed to places that could not be searched.
    #[error("{documents} stored documents whose files are gone were not removed: {}", unseen(folder.as_deref()))]
    NotPruned {
        /// Number of these documents.
        documents: u64,
        /// The folder that could not be listed completely. `None` if files could not be read.
        folder: Option<PathBuf>,
    },
    /// The text of a stored document must be read again, but its file is gone or has changed.
    #[error("the text of {name} is not where it was read from any more, or has changed")]
    TextGone {
        /// The name of the document.
        name: String,
        /// The path of the file; `None` for standard input.
        source_path: Option<String>,
    },
    /// The text of a stored document must be read again, but reading failed.
    #[error("its text is needed for this window and cannot be read again")]
    NotReadAgain {
        /// The reason.
        source: Box<Error>,
    },
    /// One of two documents to compare could not be read as text, and `source` does not name it.
    #[error("cannot compare {name}")]
    NotCompared {
        /// The document.
        name: String,
        /// The reason.
        source: Box<Error>,
    },
    /// A folder could not be walked.
    #[error("cannot walk {}", path.display())]
    Walk {
        /// The folder, or the path at which the walk began.
        path: PathBuf,
        /// The error of the walker.
        source: Cause,
    },
    /// All document ids are used.
    #[error("the database holds {limit} documents, the most it can number")]
    TooManyDocuments {
        /// The maximum number of documents.
        limit: u64,
    },
    /// The counters do not fit into the allowed memory.
    #[error("comparing so many documents needs {needed} bytes of memory at least, and {allowed} are allowed")]
    TooLittleMemory {
        /// Bytes for one counter per document and the lists with them.
        needed: u64,
        /// The allowed bytes.
        allowed: u64,
    },
    /// A stored submission is too large to be one query.
    #[error("the submission {name} takes about {needed} bytes of memory as one query, and {allowed} are allowed")]
    SubmissionTooLarge {
        /// The name of the submission.
        name: String,
        /// Bytes for the fingerprints and texts of its documents.
        needed: u64,
        /// The allowed bytes.
        allowed: u64,
    },
    /// The file is not a dedup report of this database, nor a list that the action takes.
    #[error("{} is not a whole report of a dedup or list of documents: line {line}: {detail}", path.display())]
    NotADedupReport {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// The fault.
        detail: String,
    },
    /// The report lists entries that the requested action cannot use.
    #[error("{} lists {lists}", path.display())]
    UnsuitedReport {
        /// The file.
        path: PathBuf,
        /// The entries of the report, as a noun phrase.
        lists: &'static str,
    },
    /// Records to be marked already have a field of this name.
    #[error("its records have a field {field} already")]
    FieldTaken {
        /// The name of the field.
        field: String,
    },
    /// Another run works on the same job.
    #[error("another process or thread works on this job, whose state is in {}", path.display())]
    JobInUse {
        /// The file with the job's state.
        path: PathBuf,
    },
    /// Another run changes the files of the database's documents.
    #[error("another process or thread removes, moves, links or marks files of the database at {}", path.display())]
    DocumentsInUse {
        /// The path of the database.
        path: PathBuf,
    },
    /// The recorded decisions follow another rule than the caller asked for.
    #[error("the decisions in {} were made by another rule: {recorded}; now it is: {asked}", path.display())]
    OtherRule {
        /// The file with the decisions.
        path: PathBuf,
        /// The recorded rule.
        recorded: String,
        /// The rule asked for.
        asked: String,
    },
    /// The decisions concern another database, or this database before a repair.
    #[error("the decisions in {} are of another database, or of this one before a repair", path.display())]
    DecisionsOfAnother {
        /// The file with the decisions.
        path: PathBuf,
    },
    /// The file of recorded decisions is damaged.
    #[error("the decisions in {} are damaged: {detail}", path.display())]
    DamagedDecisions {
        /// The file with the decisions.
        path: PathBuf,
        /// The damage, as the end of a sentence.
        detail: &'static str,
    },
    /// The decisions concern documents that were stored after this reader was opened.
    #[error("the decisions in {} are about documents that were stored after this reader was opened", path.display())]
    LaterDecisions {
        /// The file with the decisions.
        path: PathBuf,
    },
    /// The recorded decisions have another format version.
    #[error("the decisions in {} have format version {found}; this program reads version {supported}", path.display())]
    DecisionsVersion {
        /// The file with the decisions.
        path: PathBuf,
        /// The version found.
        found: String,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// There is no build at this path.
    #[error("there is no build of a database at {}", path.display())]
    NoBuild {
        /// The path looked at.
        path: PathBuf,
    },
    /// Some parts of the build are still missing.
    #[error("the build at {} is not finished: {missing} of its {parts} parts are missing", path.display())]
    UnfinishedBuild {
        /// The path of the build.
        path: PathBuf,
        /// Number of missing parts.
        missing: u64,
        /// Number of all parts.
        parts: u64,
    },
    /// The path for a new build holds another build.
    #[error("another build is at {}", path.display())]
    OtherBuild {
        /// The path.
        path: PathBuf,
    },
    /// A file of a build is not as it was written.
    #[error("{} is not what the build wrote: {detail}", path.display())]
    DamagedBuild {
        /// The file.
        path: PathBuf,
        /// The fault, as a sentence.
        detail: &'static str,
    },
    /// The parts of a build do not fit together.
    #[error("the parts of the build at {} do not fit together: they hold {found} {what}, and {expected} were made", path.display())]
    IncoherentBuild {
        /// The path of the build.
        path: PathBuf,
        /// The kind of rows, as a plural noun.
        what: &'static str,
        /// Number of rows in the parts.
        found: u64,
        /// Number of rows expected.
        expected: u64,
    },
    /// Rows of a build are not in order, or in the wrong part.
    #[error("row {row} of part {part} {detail}")]
    Unsorted {
        /// The number of the part.
        part: u32,
        /// The number of the row in the part, from 1 on.
        row: u64,
        /// The fault, as a verb phrase.
        detail: &'static str,
    },
    /// The plan of a build has no document with this number.
    #[error("no document {number}: the build has {documents} documents, numbered from 0")]
    NotPlanned {
        /// The number asked for.
        number: u32,
        /// Number of documents in the plan.
        documents: u32,
    },
    /// Two documents of a build have the same name.
    #[error("two documents are named {name}")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// Two records of a build have the same document number.
    #[error("two records came for document number {number} of the build")]
    NumberTwice {
        /// The number.
        number: u32,
    },
    /// The database already contains this build.
    #[error("the build {generation} is in the database already")]
    AlreadyAssembled {
        /// The id of the build.
        generation: String,
    },
    /// The call would deadlock: it was made from inside the operation that it waits for. An example is a
    /// change of the database inside a visitor.
    #[error("this call would wait for the call it is made from, for ever")]
    WaitsForItself,
    /// The caller stopped the work with its [`StopToken`](crate::stop::StopToken).
    #[error("stopped")]
    Stopped,
}

impl From<ProfileError> for Error {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::WindowTooSmall { asked, stored } => Self::WindowTooSmall { asked, stored },
            ProfileError::InvalidParameter { name, value, expected } => {
                Self::InvalidParameter { name, value, expected }
            }
        }
    }
}

/// The reason why missing documents were not removed.
fn unseen(folder: Option<&std::path::Path>) -> String {
    match folder {
        Some(folder) => format!("{} could not be listed whole, and may hold them under other names", folder.display()),
        None => "files that could not be read may be theirs, under other names".into(),
    }
}

/// The part of a message that counts the taken new names other than the first.
fn more_names(taken: u64) -> String {
    if taken > 1 { format!(", and {} more of the new names are taken", taken - 1) } else { String::new() }
}

fn unreadable_options(field: &str) -> String {
    match field {
        "" => "the options cannot be read from JSON".into(),
        field => format!("the option {field} is not valid"),
    }
}
