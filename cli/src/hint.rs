//! Hint: the next step after an error of the program: a flag or a command, otherwise the hint of the library.

use fpdb::{DocumentError, Error, NamesThere, StoreFailure};

use crate::render::as_words;
use crate::suggested::{Suggested, flag};
use crate::typed::limit_flag;
use crate::typed::verb_help::is_verb;

const STORED_FINGERPRINTS: &str = "without --window the stored fingerprints are used";

const OUT_OF_MEMORY: &str =
    "there is not enough memory: end other programs, or raise the limit of this one (`ulimit -v`) and try again";

/// The next step after an error of the command `verb`, if there is one. `has_memory`: the command takes
/// `--memory`. `on` adds the `--db` of this command to the commands in the text.
pub(super) fn hint(error: &Error, verb: &str, has_memory: bool, on: &Suggested) -> Option<String> {
    // A command that removes is an answer only to who wanted to remove.
    let and_removal = |prefix: &str| match verb {
        "rm" => format!(", and `{}` would remove them all", on.with("rm", flag("--prefix", prefix), &[])),
        _ => String::new(),
    };
    let text = match error {
        Error::NoDatabase { path } => {
            let path = as_words(&flag("--db", &path.display().to_string()));
            format!("make one with `fpdb init {path}` or `fpdb ingest {path} PATH`, or name another with --db or FPDB_DB")
        }
        Error::FolderGone { .. } => "it was moved or deleted while the command ran: run the command again where the database is now; `fpdb restore --db NEW DIR` makes a database of a backup".into(),
        Error::NotABackup { .. } => "`fpdb backup DIR` makes one in a new or empty folder".into(),
        Error::NoSuchBackup { .. } => "`fpdb restore --db NEW DIR` takes the newest, --number N another".into(),
        Error::DamagedBackup { others, .. } => match others.last() {
            Some(number) => format!("the disk may be failing; another one is whole: `fpdb restore --db NEW DIR --number {number}`"),
            None => return error.hint(),
        },
        Error::NotAReport { .. } => "-o takes a path where nothing is yet, an empty folder, or an earlier report, which is replaced".into(),
        Error::DatabaseExists { .. } => format!("choose another path with --db; `{}` shows the settings of this one", on.of("stats")),
        Error::Locked { holder, .. } if is_service(holder) => "it is `fpdb serve`, which writes as long as it runs: send documents to the service, or end it; reading (query, list, show, stats) is possible meanwhile".into(),
        Error::Locked { .. } => "wait until it ends, or stop it with Ctrl-C: what it has committed stays; reading (query, list, show, stats) is possible meanwhile; a service (`fpdb serve`) writes as long as it runs".into(),
        Error::ProfileMismatch { .. } => "leave the settings out to use the database's own, or make a second database with --db for the other ones".into(),
        Error::WindowTooSmall { stored, .. } => format!("use --window {stored} or more, or make a database with a smaller -w"),
        Error::CommitsLost { .. } | Error::TablesLost { .. } => format!("a file of the store was cut short or put back from an older copy: `fpdb restore --db NEW DIR` makes a database of a backup; without one `{}` saves what can be read, if enough is left, and `{}` then adds what is missing", on.of("verify --repair"), on.of("ingest")),
        Error::TablesUnlisted { .. } => format!("the list is that of an older copy or of another database, and nothing was deleted: `{}` makes it again of the tables that are there", on.of("verify --repair")),
        Error::OtherStore { .. } => format!("put back the folder `store` that was here, or make a database of a backup with `fpdb restore --db NEW DIR`; if only the log is of the other database, `{}` leaves it out; if the store is the right one, delete the file `committed` beside it", on.of("verify --repair")),
        Error::TextGone { source_path: Some(path), .. } => {
            format!("{STORED_FINGERPRINTS}; with it, {path} must hold the text it was made from")
        }
        Error::TextGone { source_path: None, .. } => STORED_FINGERPRINTS.into(),
        Error::NotCompared { source, .. } => return hint(source, verb, has_memory, on),
        Error::NotReadAgain { source } => match hint(source, verb, has_memory, on) {
            Some(hint) => format!("{STORED_FINGERPRINTS}; {hint}"),
            None => STORED_FINGERPRINTS.into(),
        },
        Error::PassageLength { least, .. } => format!("give --min-length {least} or more; `{}` shows it as the guarantee, t", on.of("stats")),
        Error::NothingFits { option: "submission_by", value, .. } if error.folder_of_documents().is_some() => format!(
            "{value} has documents, but no folder or archive with some: `.` takes each first folder as one submission, and a regular expression finds submissions in the names"
        ),
        Error::NoSuchDocument { .. } if let Some(folder) = error.folder_of_documents() => {
            format!("documents lie below it: `{}` shows them{}", on.with("list", Vec::new(), &[folder]), and_removal(folder))
        }
        Error::NoSuchDocument { name, nearest }
            if name.contains('*') && !nearest.as_ref().is_some_and(|nearest| nearest.contains('*')) =>
        {
            format!("* is not a wildcard in a name: `{}` shows the documents whose names begin with PREFIX{}", on.of("list PREFIX"), and_removal("PREFIX"))
        }
        Error::NoSuchKey { keys, .. } if keys.is_empty() => format!("no document has metadata; `{}` keeps fields of records and headers of mails, and --metadata reads a table", on.of("ingest --keep-fields")),
        Error::NothingFits { option: "where", nearest: None, .. } => format!("`{}` tells the metadata of a document", on.of("show NAME")),
        Error::NothingFits { nearest: None, .. } | Error::NoSuchDocument { nearest: None, .. } => format!("`{}` shows the names", on.of("list")),
        Error::NameTaken { .. } => format!("nothing was renamed: `{}` removes the documents that have the new names (--prefix FOLDER/ all of a folder); if these are the moved files, ingested since, it can remove the old ones instead; or choose another name", on.of("rm")),
        Error::NoSuchNumber { .. } => format!("`{}` and `{}` tell the numbers", on.of("show NAME"), on.of("list --format json")),
        Error::TooLittleMemory { needed, .. } => format!("allow that with --memory {needed}, or more to be faster"),
        Error::DecisionsVersion { .. } => {
            "use the version of fpdb that wrote them, or decide about all documents again with --rerank".into()
        }
        Error::DamagedDecisions { .. } | Error::DecisionsOfAnother { .. } | Error::LaterDecisions { .. } => {
            "decide about all documents again with --rerank".into()
        }
        Error::OtherRule { .. } => "use the options of the earlier run, or decide about all documents again with --rerank".into(),
        Error::UnsuitedReport { .. } => format!("`{}` writes reports for --write, --mark, --remove, --link, --move and --check; `{}` for --write with --cut, and --mark; a list serves --write and --mark", on.of("dedup"), on.of("dedup --passages")),
        Error::NotADedupReport { .. } => {
            let [report, list, query] =
                ["dedup --format json -o REPORT", "list --format json", "query --top 0 --no-passages --format json"]
                    .map(|words| on.of(words));
            format!("`{report}` writes a report; use it with the database that it was made from; a list of documents has lines {{\"document\": NAME}}, or comes from `{list}`; `apply` also takes all matches of queries (`{query}`)")
        }
        Error::Document(
            DocumentError::NoTextField { most_text: Some(field), .. } | DocumentError::NotText { place: Some(field), .. },
        ) => {
            // Quotes are needed because a shell reads brackets as a pattern.
            let quote = if field.contains('[') { "'" } else { "" };
            format!("try --text-field {quote}{field}{quote}; --no-expand takes the file as one document")
        }
        Error::Document(document) => document_hint(document).map_or_else(|| document.hint(limit_flag), Into::into),
        Error::EmptyFolder { names, .. } => format!("if its disk is mounted, {}", removal_of(names, on)),
        Error::EmptyFile { .. } => format!("if that is meant, `{}` removes them; if not, put a sound file back", on.of("ingest --prune")),
        Error::NotReadWhole { .. } => format!("mend the part that cannot be read, and ingest the file again; or remove what was withdrawn from it with `{}`", on.of("rm NAME...")),
        Error::GoneSource { names, .. } => format!("if it was moved, `{}` takes its documents and flags along; if it was deleted, {}", on.of("mv OLD NEW"), removal_of(names, on)),
        Error::NotProse { .. } => "leave --skip-quotes and --ignore-phrases out, or use a profile of characters or words: text, prose or words".into(),
        Error::NotWords { .. } => "leave --rewritten out, or compare with `--profile words`: `fpdb diff --profile words`, or a database that was made with it".into(),
        Error::NoTextToIgnore { .. } => "query with its file, or leave --skip-quotes and --ignore-phrases out; `ingest --store-text` keeps texts in the database".into(),
        Error::SourcesMissing { .. } => format!("see whether its disk is mounted or it was moved, put it back, and repair again; `fpdb restore --db NEW DIR` makes a database of a backup; `{}` removes these documents from the database", on.of("verify --repair --give-up-missing")),
        Error::DirectoryLoop { .. } => "remove the link, or run without --follow".into(),
        Error::BeyondRepair { .. } => "`fpdb restore --db NEW DIR` makes a database of a backup; without a backup ingest the documents again into a new database".into(),
        Error::Store { failure, .. } | Error::CannotOpen { failure, .. } => match failure {
            StoreFailure::Missing | StoreFailure::Damaged | StoreFailure::Other => damage(on),
            // The memory for opening files does not depend on --memory.
            StoreFailure::OutOfMemory if has_memory && !matches!(error, Error::CannotOpen { .. }) => {
                "there is not enough memory: a smaller --memory may help, or a higher limit of the process (`ulimit -v`)".into()
            }
            StoreFailure::OutOfMemory => OUT_OF_MEMORY.into(),
            StoreFailure::Stopped => "run the same command again: what was committed stays".into(),
            _ => return error.hint(),
        },
        Error::Damaged { .. } => damage(on),
        _ => return error.hint(),
    };
    Some(text)
}

/// The command that removes the documents of a place. If it also removes other documents, the text says so.
fn removal_of(names: &NamesThere, on: &Suggested) -> String {
    match names {
        NamesThere::Beginning(beginning) => format!(
            "`{}` shows its documents, and with --yes removes them",
            on.with("rm", flag("--prefix", beginning), &[])
        ),
        NamesThere::All(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("`{}` removes all that came from it", on.with("rm", Vec::new(), &names))
        }
        NamesThere::First(names) => format!(
            "`{}` removes {}, ... and documents of other places with these names (`{}` shows the names)",
            on.of("rm NAME..."),
            names.join(", "),
            on.of("list")
        ),
    }
}

fn damage(on: &Suggested) -> String {
    format!(
        "the file system or disk may be failing: copy the database before anything else; then `{}` rebuilds what can be read, or `fpdb restore --db NEW DIR` makes a database of a backup",
        on.of("verify --repair")
    )
}

/// True if the system reports that the holder of a lock is a service. `holder` is "process" and an id.
fn is_service(holder: &str) -> bool {
    let Some(process) = holder.strip_prefix("process ").and_then(|id| id.parse::<u32>().ok()) else { return false };
    let arguments = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    // The verb comes after the program's name, or after flags and their values.
    let mut words = arguments.split(|&byte| byte == 0).skip(1);
    words.find(|word| is_verb(word)).is_some_and(|verb| verb == b"serve")
}

/// The program's own hint for an unreadable document, if the program has one.
fn document_hint(error: &DocumentError) -> Option<&'static str> {
    let text = match error {
        DocumentError::Attachments { source } => return document_hint(source),
        DocumentError::Binary { .. } => {
            "a database made with `--profile bytes` takes any file; --exclude GLOB leaves files out"
        }
        DocumentError::NotOfFormat { .. } => {
            "check whether another program opens it; `--as text` reads it as plain text; --exclude GLOB leaves it out"
        }
        DocumentError::Undecodable { .. } => {
            "it may be damaged or cut short: try to unpack it, or fetch it again; --exclude GLOB leaves it out"
        }
        DocumentError::LeftOut { .. } => {
            "use a build of fpdb that has this feature, or leave these documents out with --exclude GLOB"
        }
        DocumentError::ReaderFailed { .. } => {
            "it may be damaged, and the rest of the run is not affected; --no-expand takes a file as it is, --exclude GLOB leaves it out"
        }
        DocumentError::MetadataTooLarge { .. } => {
            "keep shorter fields with it: --id-field and --keep-fields choose them, --metadata adds to them"
        }
        DocumentError::NotARecord { .. } => "--no-expand takes the file as one document",
        DocumentError::NoField { .. } | DocumentError::NoTextField { .. } | DocumentError::NotText { .. } => {
            "--text-field names the field that holds the text; --no-expand takes the file as one document"
        }
        DocumentError::GivenTwice { .. } => {
            "two files, or a file and a member of a container, have this name: rename one of them, or keep both with --on-change both"
        }
        DocumentError::NotSearched { .. } => {
            "unpack it and query with the member itself; `fpdb ingest --store-text` keeps the texts of members at hand"
        }
        DocumentError::IsAContainer { .. } => {
            "name one of its documents, such as all.zip!a.c, box.mbox#3 or data.jsonl:17, or query with it: each document in it is then a query; --no-expand takes it as one document, as it is"
        }
        DocumentError::NoSuchPart { .. } => {
            "`fpdb list` shows the names of the parts that were ingested, such as all.zip!a.c, box.mbox#3, box.mbox#3!a.pdf or data.jsonl:17"
        }
        DocumentError::RecordsWithoutName { path } if path.is_file() => {
            "rename it so that its name ends in .jsonl; --no-expand takes it as one document"
        }
        DocumentError::RecordsInArray { .. } => {
            "make JSON lines of it: `jq -c '.[]' x.json > x.jsonl` for an array, `jq -c .` for one record; --no-expand takes it as one document"
        }
        DocumentError::RecordsWithoutName { .. } => {
            "`ingest - --name x.jsonl` reads the records; to query with them, save them as x.jsonl; --no-expand takes them as one document"
        }
        DocumentError::NotAFile { path } if path.is_dir() => {
            "name a file; `ingest` and `query` take folders, and `pairs --submission-by` shows two of them side by side"
        }
        DocumentError::NotAFile { .. } => "name a file; devices and sockets are not read, and `-` is standard input",
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(error: &Error, has_memory: bool) -> Option<String> {
        super::hint(error, "query", has_memory, &Suggested::default())
    }

    /// The library's hints name no flag and no command. The program's own hints do.
    #[test]
    fn flags_are_the_programs() {
        let errors = [
            Error::NoDatabase { path: "db".into() },
            Error::FolderGone { path: "db".into() },
            Error::NoSuchDocument { name: "a".into(), nearest: None },
            Error::WindowTooSmall { asked: 1, stored: 2 },
            Error::TooLittleMemory { needed: 2, allowed: 1 },
            Error::Document(DocumentError::Expansion { limit: 1 }),
            Error::NotReadAgain { source: Box::new(Error::Document(DocumentError::Expansion { limit: 1 })) },
            Error::Damaged { what: "a record".into(), detail: "cut short" },
            Error::NotWords { unit: fpdb::Unit::Char },
        ];
        for error in errors {
            let (library, program) = (error.hint().expect("a hint"), hint(&error, true).expect("a hint"));
            assert!(!library.contains("--") && !library.contains("`fpdb "), "{library}");
            assert!(program.contains("--") || program.contains("`fpdb "), "{program}");
        }
        assert_eq!(hint(&Error::Document(DocumentError::NoName), true), Error::Document(DocumentError::NoName).hint());
        assert_eq!(hint(&Error::Stopped, true), None);
    }

    /// The library names limits by the fields of `InputLimits`, the program by `--limit`.
    #[test]
    fn a_hint_names_the_limit_that_was_exceeded() {
        let (format, limit) = ("pdf", 1);
        let errors = [
            DocumentError::TooLarge { format, limit },
            DocumentError::ReadingMemory { format, limit },
            DocumentError::ReadingTime { format, seconds: limit },
            DocumentError::NameTooLong { limit },
            DocumentError::Unpacked { format, limit },
            DocumentError::Expansion { limit },
            DocumentError::Expanded { limit },
            DocumentError::NestedTooDeep { limit: 1 },
            DocumentError::TooManyMembers { limit },
            DocumentError::DocumentTooLarge { limit },
            DocumentError::RecordTooLarge { limit },
            DocumentError::JsonTooDeep { limit: 1 },
        ];
        let hints = errors.map(|error| hint(&Error::Document(error), true).expect("a hint"));
        for limit in fpdb::InputLimits::TABLE {
            let named = format!("a larger --limit {}=", limit.name);
            assert_eq!(hints.iter().filter(|hint| hint.contains(&named)).count(), 1, "{named}");
        }
        let of_attachments = |source| Error::Document(DocumentError::Attachments { source: Box::new(source) });
        let (limited, failed) =
            (DocumentError::ReadingMemory { format, limit }, || DocumentError::ReaderFailed { detail: String::new() });
        assert_eq!(hint(&of_attachments(limited), true).as_ref(), hints.get(1));
        assert_eq!(hint(&of_attachments(failed()), true), hint(&Error::Document(failed()), true));
    }

    /// A hint names no flag that the command does not take.
    #[test]
    fn memory_is_a_flag_of_some_commands() {
        let source = std::io::Error::from(std::io::ErrorKind::OutOfMemory).into();
        let error = Error::Store { action: "read", failure: StoreFailure::OutOfMemory, source };
        let of_limit = |hint: Option<String>| hint.is_some_and(|hint| hint.contains("ulimit -v"));
        assert!(of_limit(hint(&error, true)) && of_limit(hint(&error, false)));
        let named = |has_memory| hint(&error, has_memory).expect("a hint").contains("--memory");
        assert!(named(true) && !named(false));
    }
}
