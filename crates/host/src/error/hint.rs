//! Hint: suggests the next step after an error, in terms of the library. If a flag or a command helps, the
//! program has a hint of its own.

use std::io;

use super::{DocumentError, Error, StoreFailure};
use crate::free_space::free_bytes;

impl Error {
    /// The next step for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoDatabase { .. } => "create one there, or open another path".into(),
            Self::NotADatabase { .. } => "name the database's own folder, the one that holds the file FPDB; a new database needs a path where nothing is yet".into(),
            Self::NotABackup { .. } => "backups need a folder of their own: a new one, an empty one, or one that holds backups of this database".into(),
            Self::OthersBackup { .. } => "give each database a folder of its own; if it is the same database, moved and rebuilt, delete the second line of FPDB-BACKUP there".into(),
            Self::NoSuchBackup { .. } => "leave the number out to restore the newest".into(),
            Self::DamagedBackup { others, .. } => match others.last() {
                Some(number) => format!("the disk may be failing; another one is whole: restore number {number}"),
                None => "the disk may be failing, and no other backup here is known to be whole: make one in another folder, on another disk".into(),
            },
            Self::NotAReport { .. } => "name a path where nothing is yet, an empty folder, or an earlier report, which is replaced".into(),
            Self::DatabaseExists { .. } => "open it, or choose another path for a database with other settings".into(),
            Self::Locked { holder, .. } if *holder == format!("process {}", std::process::id()) => "this very process has it open for writing: share it, or close it first".into(),
            Self::Locked { .. } => "wait until it ends, or if it is a service, send documents to it; meanwhile the database can be opened for reading".into(),
            Self::TooFewOpenFiles { needed, .. } => format!("raise the limit before you start it: `ulimit -n {}`", needed.next_power_of_two()),
            Self::FormatVersion { .. } => "use the version of fpdb that wrote it, or ingest the documents again into a new database".into(),
            Self::HashVersion { .. } => "ingest the documents again into a new database, or use the version of fpdb that made this one".into(),
            Self::ProfileMismatch { .. } => "leave the settings out to use the database's own, or make a second database for the other ones".into(),
            Self::PlaceTaken { has_others, .. } => {
                let others = "; the folder has copies that another kind of report, other flags or another database made: to leave out both duplicates and listed documents, give the report and the list in one call; to cut passages out of a copy, ingest the copy into another database first";
                format!("nothing was written: name a new folder, or move these files away{}", if *has_others { others } else { "" })
            }
            Self::InsideDatabase { .. } => "name a path outside of it: what lies there belongs to the database alone".into(),
            Self::NoOther { .. } => "name the folder of a database, the one that holds the file FPDB".into(),
            Self::OtherProfile { .. } => "fingerprints of different settings cannot be compared: read the texts again, by `fpdb merge --reread` or an ingest".into(),
            Self::WindowTooSmall { stored, .. } => format!("use a window of {stored} or more, or make a database with a smaller one"),
            Self::Damaged { .. } => damage_hint(),
            Self::CommitsLost { .. } | Self::TablesLost { .. } => "a file of the store was cut short or put back from an older copy: restore a backup; without one a repair saves what can be read, if enough is left, and an ingest adds what is missing".into(),
            Self::TablesUnlisted { .. } => "the list is that of an older copy or of another database, and nothing was deleted: a repair makes it again of the tables that are there".into(),
            Self::OtherStore { .. } => "put back the folder `store` that was here, or restore a backup to another path; if only the log is of the other database, a repair leaves it out; if the store is the right one, delete the file `committed` beside it".into(),
            Self::FolderGone { .. } => "open the database again, where it is now: this handle stays with the folder that it opened".into(),
            Self::TextGone { source_path, .. } => match source_path {
                Some(path) => format!("{STORED_FINGERPRINTS}; for another window, {path} must hold the text it was made from"),
                None => STORED_FINGERPRINTS.into(),
            },
            Self::NotCompared { source, .. } => return source.hint(),
            Self::NotReadAgain { source } => match source.hint() {
                Some(hint) => format!("{STORED_FINGERPRINTS}; {hint}"),
                None => STORED_FINGERPRINTS.into(),
            },
            Self::NoSuchDocument { nearest: Some(nearest), .. } | Self::NothingFits { nearest: Some(nearest), .. } => {
                match self.folder_of_documents() {
                    Some(folder) => format!("documents lie below it: their names begin with {folder}"),
                    // The document may be removed already, and the near name that of another one.
                    None if matches!(self, Self::NoSuchDocument { .. }) => format!("the nearest name is {nearest}"),
                    None => format!("did you mean {nearest}?"),
                }
            }
            Self::NoSuchKey { keys, .. } if keys.is_empty() => {
                "no document has metadata; an ingest keeps fields of records and headers of mails if it is told which".into()
            }
            Self::NoSuchKey { keys, more, nearest, .. } => {
                let nearest = nearest.as_ref().map_or_else(String::new, |nearest| format!("did you mean {nearest}? "));
                format!("{nearest}documents have these keys: {}{}", keys.join(", "), if *more { " and more" } else { "" })
            }
            Self::NothingFits { option: "where", .. } => "look at the metadata of a document".into(),
            Self::NothingFits { .. } | Self::NoSuchDocument { .. } => "list the documents to see their names".into(),
            Self::NameTaken { .. } => "nothing was renamed: remove the documents of the new names first (or those of the old names, if both are the same files), or choose another name".into(),
            Self::SubmissionTooLarge { .. } => {
                "query with its documents one by one, or choose smaller submissions (`submission_by`)".into()
            }
            Self::TooLittleMemory { needed, .. } => format!("allow the database {needed} bytes of memory, or more to be faster"),
            Self::DamagedDecisions { .. } | Self::DecisionsOfAnother { .. } => "decide about all documents again".into(),
            Self::LaterDecisions { .. } => "open the database again; if it is older than the decisions, as after a restore, decide about all documents again".into(),
            Self::OtherRule { .. } => "use the options of the earlier run, or decide about all documents again".into(),
            Self::DecisionsVersion { .. } => "use the version of fpdb that wrote them, or decide about all documents again".into(),
            Self::JobInUse { .. } | Self::DocumentsInUse { .. } => "wait for it to end".into(),
            Self::NotADedupReport { .. } => r#"a report holds one JSON object a line, as a dedup of this database gives them, and ends with the summary; a list has lines {"document": NAME}"#.into(),
            Self::UnsuitedReport { .. } => "choose an action for such a report, or make a report for this action".into(),
            Self::FieldTaken { .. } => "name another field for the marks, or mark a copy".into(),
            Self::NoBuild { .. } => "name the folder that a distributed build wrote, the one that holds plan.json".into(),
            Self::UnfinishedBuild { .. } => "run the same build again: it makes only the parts that are missing".into(),
            Self::OtherBuild { .. } => "name an empty folder, or remove that build if it is no longer needed".into(),
            Self::DamagedBuild { .. } => "remove the folder of that part and run the same build again: it makes only the parts that are missing".into(),
            Self::IncoherentBuild { .. } | Self::Unsorted { .. } => "the engine that ran the build lost, repeated or did not sort rows: remove the build and run it again".into(),
            Self::NameTwice { .. } => "names must be unique: keep one document of each name, or name them by another column".into(),
            Self::NumberTwice { .. } => "the documents changed while they were built, or two have one number: let each document have a number of its own, remove the build and run it again".into(),
            Self::AlreadyAssembled { .. } => "nothing has changed; the folder is a copy of that build: remove it, or assemble it into another database".into(),
            Self::NoSuchNumber { .. } => "list the documents to see their numbers".into(),
            Self::Document(error) => error.hint(|limit| format!("limit `{limit}`")),
            Self::NotProse { .. } => "ask for it with a profile of characters or words only: text, prose or words".into(),
            Self::NotWords { .. } => "leave it out, or compare with the profile words".into(),
            Self::NoTextToIgnore { .. } => "query with its file; texts that are stored in the database are at hand".into(),
            Self::BadTable { .. } => "it has to be CSV in UTF-8, with a header that names a column `filename`".into(),
            Self::NotPruned { .. } => "when all can be read, ingest again with the same options".into(),
            Self::GoneSource { .. } => "if it was moved, rename its documents, which takes the flags along; if it was deleted, remove the documents by their names".into(),
            Self::EmptyFolder { .. } => "see whether its disk is mounted; if so, remove the documents by their names".into(),
            Self::EmptyFile { .. } => "if the file is meant to be empty, ingest it with `prune`, which removes them; if not, put it back".into(),
            Self::NotReadWhole { .. } => "mend or leave out the part that cannot be read, and ingest the file again; or remove these documents by their names".into(),
            Self::SourcesMissing { .. } => "see whether its disk is mounted, and repair again; or let the repair give these documents up".into(),
            Self::DirectoryLoop { .. } => "remove the link, or do not follow links".into(),
            Self::BeyondRepair { .. } => "restore a backup to another path; without a backup ingest the documents again into a new database".into(),
            Self::Store { failure, .. } | Self::CannotOpen { failure, .. } => {
                failure_hint(*failure).map_or_else(damage_hint, Into::into)
            }
            Self::WaitsForItself => "collect the changes, and make them after the visit or ingest has returned".into(),
            Self::TooManyDocuments { .. } => "start a second database".into(),
            Self::Io { source, path, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => "check the permissions of the file and of the folders above it".into(),
                io::ErrorKind::NotFound => "check the spelling; relative paths start at the current folder".into(),
                // The free space of the disk does not show how much of a quota is left.
                io::ErrorKind::QuotaExceeded => SPACE_HINT.into(),
                _ => match (StoreFailure::of_io(source), free_bytes(path)) {
                    (StoreFailure::NoSpace, Some(free)) => {
                        let mebibytes = free as f64 / f64::from(1 << 20);
                        format!("{SPACE_HINT}; the disk of {} has {mebibytes:.1} MiB free now", path.display())
                    }
                    (failure, _) => return failure_hint(failure).map(Into::into),
                },
            },
            Self::System { source, .. } => return failure_hint(StoreFailure::of_io(source)).map(Into::into),
            _ => return None,
        };
        Some(text)
    }
}

impl Error {
    /// The given name with `/` or `!` at its end, if it names a folder or an archive with documents below it.
    /// The caller gave this name where a document, or a folder of folders, was expected. `None` otherwise.
    #[doc(hidden)]
    #[must_use]
    pub fn folder_of_documents(&self) -> Option<&str> {
        let (Self::NoSuchDocument { name: given, nearest } | Self::NothingFits { value: given, nearest, .. }) = self
        else {
            return None;
        };
        let folder = nearest.as_deref()?;
        (folder.strip_suffix(['/', '!'])? == given.trim_end_matches(['/', '!'])).then_some(folder)
    }
}

impl DocumentError {
    /// The next step for the user. `named` returns the words for a limit, given the name of its field in
    /// `InputLimits`.
    pub fn hint(&self, named: impl Fn(&'static str) -> String) -> String {
        self.hint_by(&named)
    }

    fn hint_by(&self, named: &dyn Fn(&'static str) -> String) -> String {
        let larger = |advice: &str, limit| format!("{advice}a larger {} lets it pass", named(limit));
        let text = match self {
            Self::Binary { .. } => "a database with the profile bytes takes any file",
            Self::Attachments { source } => return source.hint_by(named),
            Self::NotOfFormat { .. } => "check whether another program opens it; it can be read as text instead",
            Self::EncryptedDocument { .. } => "save it without a password and ingest that",
            Self::TooLarge { .. } => return larger("split it, or save its text and ingest that; ", "whole_bytes"),
            Self::ReadingMemory { .. } => {
                let advice = "split it, or save its text and ingest that; an ingest may need more `memory` too; ";
                return larger(advice, "reading_memory");
            }
            Self::ReadingTime { .. } => return larger("check whether another program opens it; ", "reading_seconds"),
            Self::NameTooLong { .. } => {
                return larger("unpack it with a tool that renames such members; ", "name_bytes");
            }
            Self::Unpacked { .. } => {
                return larger(&format!("{TRUSTED}a larger {} or ", named("unpacked_bytes")), "unpacking");
            }
            Self::Undecodable { .. } => {
                "it may be damaged or cut short: try to unpack it; a closed container is one document, as it is"
            }
            Self::LeftOut { .. } => {
                "build fpdb with this feature (all are on by default), or leave these documents out"
            }
            Self::ReaderFailed { .. } => "it may be damaged; other documents are not affected",
            Self::NotReadAgain { .. } => {
                "the other database still holds it: bring its file back, and type the same command"
            }
            Self::NameTaken | Self::NoName => {
                "unpack it with a tool that renames such members, and ingest what comes out"
            }
            Self::Encrypted => "unpack it yourself, and ingest what comes out",
            Self::Expansion { .. } => return larger(TRUSTED, "expansion"),
            Self::Expanded { .. } => return larger(TRUSTED, "expanded_bytes"),
            Self::NestedTooDeep { .. } => return larger(TRUSTED, "nesting"),
            Self::TooManyMembers { .. } => return larger(TRUSTED, "members"),
            Self::DocumentTooLarge { .. } => return larger("", "document_bytes"),
            Self::RecordTooLarge { .. } => return larger("records are held in memory whole; ", "record_bytes"),
            Self::MetadataTooLarge { .. } => "keep fewer or shorter fields with it",
            Self::JsonTooDeep { .. } => return larger("", "json_depth"),
            Self::NotARecord { .. } => "read the file as one document instead of as records",
            Self::NoField { .. } | Self::NoTextField { .. } | Self::NotText { .. } => {
                "name the field that holds the text, or read the file as one document"
            }
            Self::IsAContainer { .. } => {
                "name one of its documents, such as all.zip!a.c, box.mbox#3 or data.jsonl:17, or query with each document in it"
            }
            Self::NoDocuments { .. } => "name a file, or a folder or archive with documents",
            Self::NoSuchPart { .. } => {
                "name a part as an ingest of the file does: its records and mails are numbered from 1, and a part that cannot be read is no document"
            }
            Self::RecordsWithoutName { .. } => "give it a name that ends in .jsonl, or read it as one document",
            Self::RecordsInArray { .. } => {
                "write one record a line to a file whose name ends in .jsonl, or read it as one document"
            }
            Self::NotAFile { .. } => "name a file; folders, devices and sockets are not read here",
            Self::NotSearched { .. } => {
                "unpack it and query with the member itself; texts that are stored in the database are at hand"
            }
            Self::PathNotUtf8 { .. } => "rename it: a document is named by its path, and names are text",
            Self::ChangedWhileReading { .. } => "run the same ingest again when nothing writes to it",
            Self::GivenTwice { .. } => {
                "two files, or a file and a member of a container, have this name: rename one of them, or keep both (`on_change`)"
            }
            Self::FailedBefore => "`touch` it and ingest it again: the errors name the members",
            Self::FailedEarlier { .. } => {
                "an earlier run found this, and the file is unchanged: `touch` the file to read it again"
            }
            Self::TooManyFingerprints { .. } => "use a database with a larger window, or split the document",
        };
        text.to_owned()
    }
}

const TRUSTED: &str = "if you trust the file, ";

/// Begins the hint if a query needs the text of a stored document and the text is not available.
const STORED_FINGERPRINTS: &str = "the stored fingerprints serve for the window of the database";

const SPACE_HINT: &str = "free some space and try again: what was committed stays";

const READ_ONLY_HINT: &str = "the file system is mounted read-only: reading is possible; to write, mount it otherwise or copy the database elsewhere";

/// The next step after a system failure; `None` if data may be damaged.
fn failure_hint(failure: StoreFailure) -> Option<&'static str> {
    match failure {
        StoreFailure::NoSpace => Some(SPACE_HINT),
        StoreFailure::FileTooLarge => {
            Some("the limit on the size of files is too low (`ulimit -f`): raise it and try again")
        }
        StoreFailure::ReadOnly => Some(READ_ONLY_HINT),
        StoreFailure::PermissionDenied => Some("check the permissions of the database's folder and of all in it"),
        StoreFailure::TooManyOpenFiles => {
            Some("the limit on open files is too low: raise it (`ulimit -n 4096`) and try again")
        }
        StoreFailure::OutOfMemory => Some("there is not enough memory: less of it for the database may help"),
        StoreFailure::Busy => Some("another process is at work on it: try again when that has ended"),
        StoreFailure::Stopped => Some("open the database again: what was committed stays"),
        StoreFailure::Unreadable => Some("the disk may be failing: copy the database before anything else"),
        StoreFailure::Missing | StoreFailure::Damaged | StoreFailure::Other => None,
    }
}

fn damage_hint() -> String {
    "the file system or disk may be failing: copy the database before anything else; then repair it, which rebuilds what can be read, or restore a backup".into()
}
