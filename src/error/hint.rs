//! Hint: what the user can do about an error.

use std::io;

use super::{Error, StoreFailure};

impl Error {
    /// The next step for the user, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoDatabase { path } => {
                format!("make one with `fpdb init --db {0}` or `fpdb ingest --db {0} PATH`, or name another with --db or FPDB_DB", path.display())
            }
            Self::NotADatabase { .. } => "name the database's own folder, the one that holds the file FPDB; a new database needs a path where nothing is yet".into(),
            Self::NotABackup { .. } => "`fpdb backup DIR` makes one in a new or empty folder".into(),
            Self::OthersBackup { .. } => "give each database a folder of its own; if it is the same database, moved and rebuilt, delete the second line of FPDB-BACKUP there".into(),
            Self::NoSuchBackup { .. } => "`fpdb restore DIR` takes the newest, --number N another".into(),
            Self::DamagedBackup { others, .. } => match others.last() {
                Some(number) => format!("the disk may be failing; an earlier one may be whole: `fpdb restore DIR --number {number}`"),
                None => "the disk may be failing: make a backup in another folder, on another disk".into(),
            },
            Self::NotAReport { .. } => "-o takes a path where nothing is yet, an empty folder, or an earlier report, which is replaced".into(),
            Self::DatabaseExists { .. } => "`fpdb stats` shows its settings; choose another --db for a database with other settings".into(),
            Self::Locked { .. } => "wait until it ends, or stop it with Ctrl-C: what it has committed stays; reading (query, list, show, stats) is possible meanwhile".into(),
            Self::TooFewOpenFiles { needed, .. } => format!("raise the limit before you start it: `ulimit -n {}`", needed.next_power_of_two()),
            Self::FormatVersion { .. } => "use the version of fpdb that wrote it, or ingest the documents again into a new database".into(),
            Self::HashVersion { .. } => "ingest the documents again into a new database, or use the version of fpdb that made this one".into(),
            Self::ProfileMismatch { .. } => "leave the settings out to use the database's own, or make a second database with --db for the other ones".into(),
            Self::InsideDatabase { .. } => "name a path outside of it: what lies there belongs to the database alone".into(),
            Self::NoOther { .. } => "name the folder of a database, the one that holds the file FPDB".into(),
            Self::OtherProfile { .. } => "fingerprints of different settings cannot be compared: ingest its documents again, into this database".into(),
            Self::WindowTooSmall { stored, .. } => format!("use --window {stored} or more, or make a database with a smaller -w"),
            Self::Damaged { .. } => damage_hint(),
            Self::CommitsLost { .. } | Self::TablesLost { .. } => "a file of the store was cut short or put back from an older copy: `fpdb restore DIR` makes a database of a backup; `fpdb verify --repair` goes on with what is there, and `fpdb ingest` then adds what is missing".into(),
            Self::NotSearched { .. } => "unpack it and query with the member itself; `fpdb ingest --store-text` keeps the texts of members at hand".into(),
            Self::TextGone { source_path, .. } => match source_path {
                Some(path) => format!("without --window the stored fingerprints are used; with it, {path} must hold the text it was made from"),
                None => "without --window the stored fingerprints are used".into(),
            },
            Self::NotReadAgain { source } => match source.hint() {
                Some(hint) => format!("without --window the stored fingerprints are used; {hint}"),
                None => "without --window the stored fingerprints are used".into(),
            },
            Self::NoSuchDocument { .. } => "`fpdb list` shows the names".into(),
            Self::TooLittleMemory { needed, .. } => format!("allow that with --memory {needed}, or more to be faster"),
            Self::TooManyShared { .. } => "leave out the most frequent ones with --max-df, or compare parts of the archive in databases of their own".into(),
            Self::OtherRule { .. } => "give the options of then, or decide all documents anew with --rerank".into(),
            Self::JobInUse { .. } => "wait for it to end".into(),
            Self::NotADedupReport { .. } => "`fpdb dedup --format json -o REPORT` writes one; use it with the database that it was made from".into(),
            Self::NoBuild { .. } => "name the folder that a distributed build wrote, the one that holds plan.json".into(),
            Self::UnfinishedBuild { .. } => "run the same build again: it makes only the parts that are missing".into(),
            Self::OtherBuild { .. } => "name an empty folder, or remove that build if it is no longer needed".into(),
            Self::DamagedBuild { .. } => "remove the folder of that part and run the same build again: it makes only the parts that are missing".into(),
            Self::IncoherentBuild { .. } | Self::Unsorted { .. } => "the engine that ran the build lost, repeated or did not sort rows: remove the build and run it again".into(),
            Self::NameTwice { .. } => "names must be unique: keep one document of each name, or name them by another column".into(),
            Self::AlreadyAssembled { .. } => "nothing is left to do; if the folder of the build is still there, remove it".into(),
            Self::NoSuchNumber { .. } => "`fpdb show NAME` and `fpdb list --format json` tell the numbers".into(),
            Self::Binary { .. } => "a database made with `--profile bytes` takes any file; --exclude GLOB leaves files out".into(),
            Self::NotOfFormat { .. } => "see whether another program opens it; `--as text` reads it as the text it may be, --exclude GLOB leaves it out".into(),
            Self::EncryptedDocument { .. } => "save it without a password and ingest that".into(),
            Self::TooLarge { .. } => "split it, or save its text and ingest that; a larger --limit whole-size=SIZE lets it pass".into(),
            Self::ReadingMemory { .. } => "split it, or save its text and ingest that; a larger --limit reading-memory=SIZE, and for an ingest a larger --memory, lets it pass".into(),
            Self::ReadingTime { .. } => "see whether another program opens it; a larger --limit reading-time=SECONDS lets it pass".into(),
            Self::NameTooLong { .. } => "unpack it with a tool that renames such members; a larger --limit name-size=SIZE lets it pass".into(),
            Self::Unpacked { .. } => "if the document is to be trusted, a larger --limit unpacked-size=SIZE or --limit unpacking=TIMES lets it pass".into(),
            Self::Undecodable { .. } => "it may be damaged or cut short: try to unpack it; --no-expand takes a file as it is".into(),
            Self::ReaderFailed { .. } => "it may be damaged, and the rest of the run is not affected; --no-expand takes a file as it is, --exclude GLOB leaves it out".into(),
            Self::NameTaken | Self::NoName => "unpack it with a tool that renames such members, and ingest what comes out".into(),
            Self::Encrypted => "unpack it yourself, and ingest what comes out".into(),
            Self::Expansion { .. } => "if the file is to be trusted, a larger --limit expansion=TIMES lets it pass".into(),
            Self::Expanded { .. } => "if the file is to be trusted, a larger --limit expanded-size=SIZE lets it pass".into(),
            Self::NestedTooDeep { .. } => "if the file is to be trusted, a larger --limit nesting=N lets it pass".into(),
            Self::TooManyMembers { .. } => "if the file is to be trusted, a larger --limit members=N lets it pass".into(),
            Self::DocumentTooLarge { .. } => "a larger --limit document-size=SIZE lets it pass".into(),
            Self::RecordTooLarge { .. } => "a larger --limit record-size=SIZE lets it pass; records are held in memory whole".into(),
            Self::MetadataTooLarge { .. } => "keep shorter fields with it: --id-field and --keep-fields choose them, --metadata adds to them".into(),
            Self::JsonTooDeep { .. } => "a larger --limit json-depth=N lets it pass".into(),
            Self::NotARecord { .. } => "--no-expand takes the file as one document".into(),
            Self::NotProse { flag, .. } => format!("leave {flag} out, or use a profile of characters or words: text, prose or words"),
            Self::NotWords { .. } => "leave it out, or compare with `--profile words`: `fpdb diff --profile words`, or a database that was made with it".into(),
            Self::NoTextToIgnore { flag, .. } => format!("query with its file, or leave {flag} out; `ingest --store-text` keeps texts in the database"),
            Self::NoField { .. } | Self::NotText { .. } => "--text-field names the field that holds the text; --no-expand takes the file as one document".into(),
            Self::BadTable { .. } => "it has to be CSV in UTF-8, with a header that names a column `filename`".into(),
            Self::IsAContainer { .. } => "unpack it and query with its files, or ingest it and query with `--document NAME`; --no-expand takes it as one document, as it is".into(),
            Self::PathNotUtf8 { .. } => "rename it: a document is named by its path, and names are text".into(),
            Self::ChangedWhileReading { .. } => "run the same ingest again when nothing writes to it".into(),
            Self::GivenTwice { .. } => "run the same ingest again, with each path once".into(),
            Self::DirectoryLoop { .. } => "remove the link, or run without --follow".into(),
            Self::NotAFile { path } if path.is_dir() => "name a file; only `ingest` takes folders".into(),
            Self::NotAFile { .. } => "name a file; devices and sockets are not read, and `-` is standard input".into(),
            Self::BeyondRepair { .. } => "`fpdb restore DIR` makes a database of a backup, under another --db; without a backup ingest the documents again into a new database".into(),
            Self::Store { failure, .. } | Self::CannotOpen { failure, .. } => {
                failure_hint(*failure).map_or_else(damage_hint, Into::into)
            }
            Self::TooManyFingerprints { .. } => "use a database with a larger window, or split the document".into(),
            Self::TooManyDocuments { .. } => "start a second database".into(),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => "check the permissions of the file and of the folders above it".into(),
                io::ErrorKind::NotFound => "check the spelling; relative paths start at the current folder".into(),
                _ => return failure_hint(StoreFailure::of_io(source)).map(Into::into),
            },
            _ => return None,
        };
        Some(text)
    }
}

const SPACE_HINT: &str = "free some space and run the same command again: what was committed stays";

const READ_ONLY_HINT: &str = "the file system is mounted read-only: reading is possible; to write, mount it otherwise or copy the database elsewhere";

/// What to do about a failure of the system; `None` where bytes may be damaged.
fn failure_hint(failure: StoreFailure) -> Option<&'static str> {
    match failure {
        StoreFailure::NoSpace => Some(SPACE_HINT),
        StoreFailure::FileTooLarge => {
            Some("the limit on the size of files is too low (`ulimit -f`): raise it and run the same command again")
        }
        StoreFailure::ReadOnly => Some(READ_ONLY_HINT),
        StoreFailure::PermissionDenied => Some("check the permissions of the database's folder and of all in it"),
        StoreFailure::TooManyOpenFiles => {
            Some("the limit on open files is too low: raise it (`ulimit -n 4096`) and run the same command again")
        }
        StoreFailure::OutOfMemory => Some("there is not enough memory: a smaller --memory may help"),
        StoreFailure::Busy => Some("another process is at work on it: run the same command again when that has ended"),
        StoreFailure::Stopped => Some("run the same command again: what was committed stays"),
        StoreFailure::Unreadable => Some("the disk may be failing: copy the database before anything else"),
        StoreFailure::Missing | StoreFailure::Damaged | StoreFailure::Other => None,
    }
}

fn damage_hint() -> String {
    "the file system or disk may be failing: copy the database before anything else; then `fpdb verify --repair` rebuilds what can be read, or `fpdb restore DIR` makes a database of a backup".into()
}
