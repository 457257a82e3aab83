//! Error: what was found, what was expected, and (in [`Error::hint`]) what to do next.
//!
//! One enum for the whole library, and one in it for documents that cannot be read. A message is one lower-case sentence that
//! names the thing; the cause is reached only through `source()`, and no type of the storage engine appears in a public
//! signature. The file is long because an enum is one list.

mod describe;
mod document;
mod failure;
mod hint;

use std::io;
use std::path::PathBuf;

use self::describe::missing_backup;
pub use self::document::DocumentError;
pub use self::failure::{Cause, StoreFailure};
use fpdb_kernel::profile::{Profile, ProfileError, Unit};

/// A result of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong.
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
    /// The operating system refused something that is about no file: memory, a signal, another process.
    #[error("cannot {action}")]
    System {
        /// The action that failed, as a verb phrase: "compress a text".
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// No database where one was looked for.
    #[error("there is no database at {}", path.display())]
    NoDatabase {
        /// The path looked at.
        path: PathBuf,
    },
    /// Something is there, and it is not a database of this program.
    #[error("{} exists and is not an fpdb database", path.display())]
    NotADatabase {
        /// The path looked at.
        path: PathBuf,
    },
    /// A backup was looked for, or is to be made, where something else is.
    #[error("{} is not a folder of fpdb backups", path.display())]
    NotABackup {
        /// The path looked at.
        path: PathBuf,
    },
    /// A folder of backups of another database.
    #[error("{} holds backups of another database, {}", path.display(), database.display())]
    OthersBackup {
        /// The path given.
        path: PathBuf,
        /// Where that database is, or was.
        database: PathBuf,
    },
    /// A backup that a folder does not have.
    #[error("{} has {}", path.display(), missing_backup(*number, numbers))]
    NoSuchBackup {
        /// The folder of backups.
        path: PathBuf,
        /// The backup asked for; `None` for the newest.
        number: Option<u32>,
        /// The numbers of the backups that it has.
        numbers: Vec<u32>,
    },
    /// A backup of which a file is not what was written.
    #[error("backup {number} is damaged: {file} is not what was written")]
    DamagedBackup {
        /// The number of the backup.
        number: u32,
        /// The file, below the backup's folder.
        file: String,
        /// The other backups in the folder.
        others: Vec<u32>,
    },
    /// A report is to be written where something else is.
    #[error("{} is not a report of fpdb: {what}", path.display())]
    NotAReport {
        /// The path given.
        path: PathBuf,
        /// The content found, as a phrase.
        what: String,
    },
    /// A database is to be made where one is already.
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
        /// The process that holds the lock: "process" and its id, or "another process" where that is not known.
        holder: String,
    },
    /// The system does not let this process have all tables of the database open.
    #[error("the database at {} needs {needed} files open at once, and this process may have {allowed}", path.display())]
    TooFewOpenFiles {
        /// The path of the database.
        path: PathBuf,
        /// Its tables and what else is open.
        needed: u64,
        /// The limit of the process.
        allowed: u64,
    },
    /// The database was written by another version of the format.
    #[error("the database at {} has format version {found}; this program reads version {supported}", path.display())]
    FormatVersion {
        /// The path of the database.
        path: PathBuf,
        /// The version found.
        found: String,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// The database holds fingerprints that this version of the program would make otherwise.
    #[error(
        "the database at {} was made with version {found} of the rules of unit {unit}; this program has version {supported}, \
         under which the same documents have other fingerprints",
        path.display()
    )]
    HashVersion {
        /// The path of the database.
        path: PathBuf,
        /// Its unit.
        unit: Unit,
        /// The version found.
        found: u8,
        /// The version this program makes.
        supported: u8,
    },
    /// Something is to be written into a database that the program did not put there.
    #[error("{} lies in the database {}", path.display(), database.display())]
    InsideDatabase {
        /// The path that was to be written to.
        path: PathBuf,
        /// The database's folder, or that of backups.
        database: PathBuf,
    },
    /// No database where one was named to be merged.
    #[error("there is no database to merge at {}", path.display())]
    NoOther {
        /// The path looked at.
        path: PathBuf,
    },
    /// A database to be merged was made with other settings.
    #[error("the database at {} was made with {other}, and the one it is to be merged into with {stored}", path.display())]
    OtherProfile {
        /// The path of the database to be merged.
        path: PathBuf,
        /// Its profile.
        other: Box<Profile>,
        /// The profile of the database it is to be merged into.
        stored: Box<Profile>,
    },
    /// The settings asked for are not those the database was made with.
    #[error("the database was made with {stored}, and {asked} is asked for")]
    ProfileMismatch {
        /// The profile pinned in the database.
        stored: Box<Profile>,
        /// The profile asked for.
        asked: Box<Profile>,
    },
    /// A query window below the window of the database.
    #[error(
        "window {asked} is smaller than the database's window {stored}: its fingerprints are not a subset of the stored ones"
    )]
    WindowTooSmall {
        /// The window asked for.
        asked: u32,
        /// The window of the database.
        stored: u32,
    },
    /// A phrase that cannot be looked for.
    #[error("{}, line {line}: {why}", path.display())]
    Phrase {
        /// The file of phrases.
        path: PathBuf,
        /// The line in it.
        line: u64,
        /// The fault, as a sentence.
        why: &'static str,
    },
    /// A parameter outside its range, or not understood.
    #[error("{name} cannot be {value}: expected {expected}")]
    InvalidParameter {
        /// The name of the option, or what it is, as a noun phrase.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values allowed.
        expected: &'static str,
    },
    /// Quotations or phrases to be ignored, in documents that are not read as prose.
    #[error("{asked} is for documents read as prose (unit char or word), and here they are read as unit {unit}")]
    NotProse {
        /// The action asked for, as a noun phrase: "skipping quotations".
        asked: &'static str,
        /// The unit of the documents.
        unit: Unit,
    },
    /// Passages of rewritten text, in documents that are not read as words.
    #[error(
        "looking for rewritten text is for documents read as words (unit word), and here they are read as unit {unit}"
    )]
    NotWords {
        /// The unit of the documents.
        unit: Unit,
    },
    /// Quotations or phrases to be ignored, in a document whose text cannot be looked at.
    #[error("{asked} needs the text of the query (at most 32 MiB), but the text of {name} is not available")]
    NoTextToIgnore {
        /// The action asked for, as a noun phrase: "skipping quotations".
        asked: &'static str,
        /// The document.
        name: String,
    },
    /// Stored bytes that do not decode.
    #[error("{what} is damaged: {detail}")]
    Damaged {
        /// Which record: its kind and key.
        what: String,
        /// The fault.
        detail: &'static str,
    },
    /// Too little of a damaged database is left for a repair to begin with.
    #[error("the database at {} cannot be repaired: {lost} is lost", path.display())]
    BeyondRepair {
        /// The path of the database.
        path: PathBuf,
        /// The missing part that a repair would need.
        lost: &'static str,
        /// The engine's error.
        source: Cause,
    },
    /// A repair that would give up documents whose files cannot be opened now.
    #[error("the database at {} was not repaired: damaged documents ({documents}) can only be rebuilt from their files, which cannot be opened now, such as {}", path.display(), source_path.display())]
    SourcesMissing {
        /// The path of the database.
        path: PathBuf,
        /// The documents.
        documents: u64,
        /// The first of the files.
        source_path: PathBuf,
    },
    /// The database is an older one than it was: what came after a commit is gone.
    #[error("the database at {} has lost its last commits: {found} of {marked} are there", path.display())]
    CommitsLost {
        /// The path of the database.
        path: PathBuf,
        /// The number of the last commit that is there.
        found: u64,
        /// The number of the last commit that was made.
        marked: u64,
    },
    /// The list of the store's tables is shorter than it was.
    #[error("the list of tables {} is damaged: {found} of its {marked} bytes are there", path.display())]
    TablesLost {
        /// Its path.
        path: PathBuf,
        /// Bytes that are there.
        found: u64,
        /// Bytes that were there once.
        marked: u64,
    },
    /// The list of the store's tables does not name some of them: to open the store for writing would delete these.
    #[error("the list of tables {} does not fit the tables beside it: it does not name {tables} of them", path.display())]
    TablesUnlisted {
        /// Its path.
        path: PathBuf,
        /// The tables that it does not name.
        tables: u64,
    },
    /// The store in a database's folder, or the log in it, is that of another database.
    #[error(
        "the store of the database at {}, or its log, belongs to another database: its identity is {found}, and the file `committed` names {marked}",
        path.display()
    )]
    OtherStore {
        /// The path of the database.
        path: PathBuf,
        /// The identity in the store.
        found: String,
        /// The identity of the database that was here, as its mark tells it.
        marked: String,
    },
    /// The folder of an open database has been moved or deleted, or another one is in its place.
    #[error("the folder of the database at {} is gone, or another one is in its place", path.display())]
    FolderGone {
        /// The path that it was opened at.
        path: PathBuf,
    },
    /// The storage engine could not open the database's files.
    #[error("cannot open the files of the database at {}", path.display())]
    CannotOpen {
        /// The path of the database.
        path: PathBuf,
        /// The reason, by kind.
        failure: StoreFailure,
        /// The engine's error.
        source: Cause,
    },
    /// The storage engine failed.
    #[error("the store could not {action}")]
    Store {
        /// The action that failed, as a verb phrase.
        action: &'static str,
        /// The reason, by kind.
        failure: StoreFailure,
        /// The engine's error.
        source: Cause,
    },
    /// A name that no stored document has.
    #[error("no stored document is named {name}")]
    NoSuchDocument {
        /// The name asked for.
        name: String,
    },
    /// A number that no stored document has.
    #[error("no stored document has the number {number}")]
    NoSuchNumber {
        /// The number asked for.
        number: u32,
    },
    /// The threads of a database could not be started.
    #[error("cannot start {threads} threads")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// The system's error.
        source: Cause,
    },
    /// One document, or one container of them, cannot be read. Others are not affected.
    #[error(transparent)]
    Document(DocumentError),
    /// A table of metadata that cannot be used.
    #[error("{} is not a metadata table: {detail}", path.display())]
    BadTable {
        /// The table.
        path: PathBuf,
        /// The fault.
        detail: String,
    },
    /// A followed link that leads back to a folder it lies in.
    #[error("{} is a loop: it leads back to {}", path.display(), ancestor.display())]
    DirectoryLoop {
        /// The link.
        path: PathBuf,
        /// The folder it leads back to.
        ancestor: PathBuf,
    },
    /// A folder that holds nothing at all, though stored documents were read from it: its disk may not be mounted.
    #[error("the folder {} is empty: the stored documents that came from it ({documents}) were not removed", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// The documents.
        documents: u64,
    },
    /// Stored documents whose files are gone, and may be where the search for renamed files could not look.
    #[error("{documents} stored documents whose files are gone were not removed: {}", unseen(folder.as_deref()))]
    NotPruned {
        /// The documents.
        documents: u64,
        /// The folder that could not be listed whole. `None`: files that could not be read.
        folder: Option<PathBuf>,
    },
    /// A stored document that can only be used by reading its text again, and the text is not there.
    #[error("the text of {name} is not where it was read from any more, or has changed")]
    TextGone {
        /// The document.
        name: String,
        /// Where it was read from; `None` for standard input.
        source_path: Option<String>,
    },
    /// A stored document that can only be used by reading its text again, and something keeps it from being read.
    #[error("its text is needed for this window and cannot be read again")]
    NotReadAgain {
        /// The reason why it cannot be read.
        source: Box<Error>,
    },
    /// A folder that could not be walked.
    #[error("cannot walk {}", path.display())]
    Walk {
        /// The folder, or the path the walk began at.
        path: PathBuf,
        /// The walker's error.
        source: Cause,
    },
    /// The document ids are used up.
    #[error("the database holds {limit} documents, the most it can number")]
    TooManyDocuments {
        /// The limit.
        limit: u64,
    },
    /// Counters that do not fit in the memory allowed.
    #[error("comparing so many documents needs {needed} bytes of memory at least, and {allowed} are allowed")]
    TooLittleMemory {
        /// The bytes of one counter for each document and the lists beside it.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// A file that is not the report of a dedup of this database.
    #[error("{} is not a whole report of a dedup: line {line}: {detail}", path.display())]
    NotADedupReport {
        /// The file.
        path: PathBuf,
        /// The line, from 1 on.
        line: u64,
        /// The fault.
        detail: String,
    },
    /// Records that are to be marked have a field of this name.
    #[error("its records have a field {field} already")]
    FieldTaken {
        /// The field.
        field: String,
    },
    /// Another run works on the same job.
    #[error("another process or thread works on this job, whose state is in {}", path.display())]
    JobInUse {
        /// The file the state is kept in.
        path: PathBuf,
    },
    /// Another run acts on the files of a database's documents.
    #[error("another process or thread removes, moves, links or marks files of the database at {}", path.display())]
    DocumentsInUse {
        /// The path of the database.
        path: PathBuf,
    },
    /// Decisions that were made by another rule than the one asked for.
    #[error("the decisions in {} were made by another rule: {recorded}; now it is: {asked}", path.display())]
    OtherRule {
        /// The file they are kept in.
        path: PathBuf,
        /// Their rule.
        recorded: String,
        /// The one asked for.
        asked: String,
    },
    /// Decisions about the documents of another database, or of this one before it was repaired.
    #[error("the decisions in {} are of another database, or of this one before a repair", path.display())]
    DecisionsOfAnother {
        /// The file they are kept in.
        path: PathBuf,
    },
    /// A record of decisions whose bytes are not those that were written.
    #[error("the decisions in {} are damaged: {detail}", path.display())]
    DamagedDecisions {
        /// The file they are kept in.
        path: PathBuf,
        /// The damage, as the end of a sentence.
        detail: &'static str,
    },
    /// Decisions about documents that were stored after this reader was opened.
    #[error("the decisions in {} are about documents that were stored after this reader was opened", path.display())]
    LaterDecisions {
        /// The file they are kept in.
        path: PathBuf,
    },
    /// A record of decisions that was written in another version of its format.
    #[error("the decisions in {} have format version {found}; this program reads version {supported}", path.display())]
    DecisionsVersion {
        /// The file they are kept in.
        path: PathBuf,
        /// The version found.
        found: String,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// No build where one was looked for.
    #[error("there is no build of a database at {}", path.display())]
    NoBuild {
        /// The path looked at.
        path: PathBuf,
    },
    /// A build some of whose parts are still to be made.
    #[error("the build at {} is not finished: {missing} of its {parts} parts are missing", path.display())]
    UnfinishedBuild {
        /// Its path.
        path: PathBuf,
        /// Parts that are not there.
        missing: u64,
        /// Parts it has in all.
        parts: u64,
    },
    /// A build in the place where another is to be made.
    #[error("another build is at {}", path.display())]
    OtherBuild {
        /// The path.
        path: PathBuf,
    },
    /// A file of a build that is not what was written.
    #[error("{} is not what the build wrote: {detail}", path.display())]
    DamagedBuild {
        /// The file.
        path: PathBuf,
        /// The fault, as a sentence.
        detail: &'static str,
    },
    /// A build whose parts do not fit together.
    #[error("the parts of the build at {} do not fit together: they hold {found} {what}, and {expected} were made", path.display())]
    IncoherentBuild {
        /// Its path.
        path: PathBuf,
        /// The kind of rows counted, as a noun in the plural.
        what: &'static str,
        /// How many the parts hold.
        found: u64,
        /// How many they should hold.
        expected: u64,
    },
    /// Rows of a build that are not in order, or not in the part they belong to.
    #[error("row {row} of part {part} {detail}")]
    Unsorted {
        /// The part.
        part: u32,
        /// The number of the row in it, from 1 on.
        row: u64,
        /// The fault, as a verb phrase.
        detail: &'static str,
    },
    /// A document number that the plan of a build does not have.
    #[error("no document {number}: the build has {documents} documents, numbered from 0")]
    NotPlanned {
        /// The number.
        number: u32,
        /// How many it has.
        documents: u32,
    },
    /// Two documents of one name in a build.
    #[error("two documents are named {name}")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// Two records of one document number in a build.
    #[error("two records came for document number {number} of the build")]
    NumberTwice {
        /// The number.
        number: u32,
    },
    /// A build that is in the database already.
    #[error("the build {generation} is in the database already")]
    AlreadyAssembled {
        /// The build.
        generation: String,
    },
    /// A call that would wait for the work it was made from: a change of the database inside a visitor, say.
    #[error("this call would wait for the call it is made from, for ever")]
    WaitsForItself,
    /// The work was ended by its [`crate::stop::StopToken`].
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

/// Why missing documents were not removed.
fn unseen(folder: Option<&std::path::Path>) -> String {
    match folder {
        Some(folder) => format!("{} could not be listed whole, and may hold them under other names", folder.display()),
        None => "files that could not be read may be theirs, under other names".into(),
    }
}
