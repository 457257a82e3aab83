//! Verb help: the parts of each command's help and manual page other than its flags.

use super::global::OutputFormat;

/// The help of a command, except its flags.
pub(crate) struct VerbHelp {
    /// The command; empty for the program itself.
    pub(crate) verb: &'static str,
    /// The ids of the flags that `-h` shows besides the arguments, the database, the output and the format.
    /// Most runs need only these. `--help` shows all flags.
    pub(crate) short: &'static [&'static str],
    /// The formats that the command can write.
    pub(crate) formats: &'static [OutputFormat],
    /// The text at the end of the help.
    pub(crate) note: &'static str,
    /// Two or more examples, each with its effect. `-h` shows the first.
    pub(crate) examples: &'static [(&'static str, &'static str)],
}

/// The text on the database and the exit status, for every command.
pub(crate) const DATABASE: &str =
    "The database is --db, else $FPDB_DB, else the nearest folder .fpdb in the current folder or above it.";

/// The exit statuses and their meanings.
pub(crate) const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "All is done. Also if nothing was found, unless -e is given."),
    ("1", "Nothing was found, with query -e or diff -e."),
    ("2", "Something failed. A summary means that the rest is done. After an error alone, run it again."),
    ("130", "Interrupted. What was committed stays. Run again, ingest, merge, dedup, apply and compact continue."),
];

/// The environment variables that fpdb reads, and their effects.
pub(crate) const ENVIRONMENT: [(&str, &str); 4] = [
    ("FPDB_DB", "The folder of the database, if --db is not given."),
    ("NO_COLOR", "If set, nothing is coloured."),
    ("CLICOLOR, CLICOLOR_FORCE", "0: no colour. CLICOLOR_FORCE=1: colour also where no terminal is."),
    ("TERM", "dumb: neither colour nor progress bars."),
];

/// The help of a command.
pub(crate) fn of(verb: &str) -> Option<&'static VerbHelp> {
    VERBS.iter().find(|help| help.verb == verb)
}

/// The commands for daily use: `fpdb -h` describes these, and names the others.
pub(super) const EVERY_DAY: [&str; 6] = ["ingest", "query", "pairs", "dedup", "apply", "diff"];

/// The global flags that `-h` shows.
pub(super) const SHORT_GLOBAL: [&str; 3] = ["db", "output", "format"];

/// True if this is the name of a command.
pub(crate) fn is_verb(word: &[u8]) -> bool {
    VERBS.iter().any(|help| help.verb.as_bytes() == word)
}

pub(super) const VERBS: [VerbHelp; 23] = [
    VerbHelp {
        verb: "",
        short: &[],
        formats: OutputFormat::PASSAGES,
        note: "",
        examples: &[
            ("Store the fingerprints of all files below a folder", "fpdb ingest archive/"),
            ("Find out where the passages of a document come from", "fpdb query essay.txt"),
            ("Find out who copied from whom; both texts side by side", "fpdb pairs --format html -o report"),
        ],
    },
    VerbHelp {
        verb: "init",
        short: &["profile", "unit", "k", "w"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Create ./.fpdb for prose", "fpdb init"),
            ("Create a database for source code", "fpdb init --db code.db --profile code"),
        ],
    },
    VerbHelp {
        verb: "ingest",
        short: &["exclude", "boilerplate", "store_text", "profile"],
        formats: OutputFormat::ANSWER,
        note: "It commits after 5 seconds or 128 MiB of documents. A crash costs at most the last two such parts; the same command goes on.",
        examples: &[
            ("Add a folder; run it again to add only what is new or changed", "fpdb ingest archive/"),
            ("Create a database of source code", "fpdb ingest --db code.db --profile code src/"),
            (
                "Read records of a dataset and keep two of their fields",
                "fpdb ingest crawl.jsonl.zst --keep-fields url,date",
            ),
            ("Read standard input", "pdftotext a.pdf - | fpdb ingest - --name a.pdf"),
            ("Ignore the text of a handout in all submissions", "fpdb ingest submissions/ --boilerplate handout/"),
        ],
    },
    VerbHelp {
        verb: "query",
        short: &["document", "mode", "top", "min_score", "by_corpus"],
        formats: OutputFormat::PASSAGES,
        note: "",
        examples: &[
            ("Find out where the passages of a file come from", "fpdb query essay.txt"),
            ("Find the documents most like a stored one", "fpdb query --mode resemblance --document archive/a.txt"),
            ("Answer many queries for another program", "fpdb query --format json inbox/*.txt > answers.jsonl"),
            ("Show both texts side by side in a browser", "fpdb query essay.txt --format html -o report"),
            ("See whether a corpus holds an evaluation set", "fpdb query --db corpus.db --by-corpus eval.jsonl.zst"),
            ("Find rewritten text, in a database of words", "fpdb query --db words.db --rewritten essay.txt"),
        ],
    },
    VerbHelp {
        verb: "diff",
        short: &["exit_status", "profile"],
        formats: OutputFormat::PASSAGES,
        note: "",
        examples: &[
            ("Compare two texts", "fpdb diff draft.txt final.txt"),
            ("Compare two programs whatever their names and layout", "fpdb diff --profile code a.py b.py"),
        ],
    },
    VerbHelp {
        verb: "pairs",
        short: &["top", "min_resemblance", "across", "group_by", "passages"],
        formats: OutputFormat::PASSAGES,
        note: "Stored documents count whole: --skip-quotes and --ignore-phrases are for diff and query (query --document NAME \
            asks with a stored document), and ingest --boilerplate marks text that all may share.",
        examples: &[
            ("The 20 pairs that are most alike", "fpdb pairs --top 20"),
            ("Both texts of each pair side by side in a browser", "fpdb pairs --format html -o report"),
            ("Only pairs of this year's documents and earlier ones", "fpdb pairs --new-since 2026-01-01"),
            ("Only pairs of different students", "fpdb pairs --group-by '^submissions/([^/]*)/'"),
        ],
    },
    VerbHelp {
        verb: "apply",
        short: &["write", "remove", "link", "move_to", "yes"],
        formats: OutputFormat::ANSWER,
        note: "Files are written beside their place and renamed. Each act is noted in a log beside the report, or beside the folder of \
            --write, so that the same command goes on after an interruption.",
        examples: &[
            ("Copy the archive without the removable documents", "fpdb apply report.jsonl --write clean/ --yes"),
            (
                "Bring that copy up to date, with the report of a later day",
                "fpdb apply later.jsonl --write clean/ --yes",
            ),
            ("Copy the archive without repeated passages", "fpdb apply passages.jsonl --write cut/ --cut --yes"),
            ("Copy it without the records that a query has found", "fpdb apply hits.jsonl --write without/ --yes"),
            ("Leave out both", "fpdb apply report.jsonl hits.jsonl --write both/ --yes"),
            ("See which identical files would become links", "fpdb apply report.jsonl --link hard"),
            ("Mark each record as removable or not", "fpdb apply report.jsonl --mark dup --yes"),
        ],
    },
    VerbHelp {
        verb: "dedup",
        short: &["by", "threshold", "keep", "protect", "passages", "dry_run"],
        formats: OutputFormat::PASSAGES,
        note: "A document is removable if one that stays holds enough of its fingerprints (--threshold) and leaves no long \
            stretch of it unmatched (--max-novel). Documents that are worth more are kept: protected ones, preferred ones, \
            then by --keep. The same command goes on with a job that was stopped or killed.",
        examples: &[
            ("List documents that another one contains", "fpdb dedup --by containment"),
            ("See in a browser what would be lost with each", "fpdb dedup --by containment --format html -o report"),
            ("List passages that occur in an earlier document", "fpdb dedup --passages --min-length 200"),
            (
                "Remove the documents that dedup lists from the database",
                "fpdb dedup --format json -o report.jsonl && fpdb rm --report report.jsonl",
            ),
        ],
    },
    VerbHelp {
        verb: "serve",
        short: &["listen", "key_file", "new_key", "rights", "config"],
        formats: OutputFormat::TEXT,
        note: "SIGTERM and Ctrl-C finish the requests under way, commit, and end. The log is lines of JSON on standard error. The routes \
            are described at /openapi.json and in docs/serve.md.",
        examples: &[
            ("Serve to this machine: http://127.0.0.1:7788/", "fpdb serve --db archive.db"),
            ("Make a key, and its line for the key file", "fpdb serve --new-key ann --rights read"),
            (
                "Serve to others, behind a proxy that does TLS",
                "fpdb serve --listen 0.0.0.0:7788 --key-file keys --host archive.example",
            ),
        ],
    },
    VerbHelp {
        verb: "list",
        short: &[],
        formats: OutputFormat::ROWS,
        note: "",
        examples: &[
            ("All documents", "fpdb list"),
            ("The documents below a folder, as a table", "fpdb list archive/2026/ --format csv"),
        ],
    },
    VerbHelp {
        verb: "show",
        short: &["ids", "text"],
        formats: OutputFormat::ROWS,
        note: "",
        examples: &[
            ("All facts about a document", "fpdb show archive/a.txt"),
            ("Its number", "fpdb show archive/a.txt --format json | jq .id"),
            ("The text that was extracted from it", "fpdb show --text archive/b.pdf | less"),
        ],
    },
    VerbHelp {
        verb: "stats",
        short: &["hashes"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Documents, profile and size", "fpdb stats"),
            ("How many documents share fingerprints", "fpdb stats --hashes"),
        ],
    },
    VerbHelp {
        verb: "rm",
        short: &["prefixes", "fields", "yes"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Remove a document, and free its space", "fpdb rm archive/a.txt && fpdb compact"),
            ("Count the documents of a folder; with --yes remove them", "fpdb rm --prefix archive/2019/"),
            ("Remove documents with this value in their metadata", "fpdb rm --where label=spam --yes"),
            (
                "Remove the documents that a list names, stored or not",
                "xargs -rd '\\n' fpdb rm --ignore-missing -- < names.txt",
            ),
        ],
    },
    VerbHelp {
        verb: "mv",
        short: &[],
        formats: OutputFormat::ANSWER,
        note: "All documents are renamed in one commit, or none.",
        examples: &[
            ("Follow a folder that was moved", "mv old/root new/root && fpdb mv old/root new/root"),
            ("Rename one document", "fpdb mv draft.txt final.txt"),
            ("Put all documents below a folder of names", "fpdb mv . archive-2026"),
        ],
    },
    VerbHelp {
        verb: "compact",
        short: &[],
        formats: OutputFormat::ANSWER,
        note: "Prints the expected time and disk space first. It can be stopped: the next `fpdb compact` continues, if nothing was \
               added or removed in between. Queries are answered meanwhile.",
        examples: &[
            ("Make one run of all postings, and free the space of removed documents", "fpdb compact"),
            ("The same for another database", "fpdb compact --db archive.db"),
        ],
    },
    VerbHelp {
        verb: "verify",
        short: &["repair"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[("Check everything", "fpdb verify"), ("Rebuild damaged parts", "fpdb verify --repair")],
    },
    VerbHelp {
        verb: "backup",
        short: &["list", "verify", "keep", "quick"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Copy the database; again: only what has changed since", "fpdb backup /mnt/backups"),
            ("Keep only the newest seven", "fpdb backup --keep 7 /mnt/backups"),
            ("List the backups", "fpdb backup --list /mnt/backups"),
        ],
    },
    VerbHelp {
        verb: "restore",
        short: &["number", "at"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Create a database from the newest backup", "fpdb restore --db restored.db /mnt/backups"),
            ("Create one from an older backup", "fpdb restore --db restored.db --number 3 /mnt/backups"),
        ],
    },
    VerbHelp {
        verb: "merge",
        short: &["on_change", "reread", "dry_run"],
        formats: OutputFormat::ANSWER,
        note: "",
        examples: &[
            ("Add the documents of two databases", "fpdb merge part1.db part2.db"),
            ("Keep the stored version of each document", "fpdb merge --on-change keep other.db"),
            (
                "Give the documents another profile, in a new database",
                "fpdb init --db new.db --profile words && fpdb merge --db new.db --reread old.db",
            ),
        ],
    },
    VerbHelp {
        verb: "assemble",
        short: &["memory"],
        formats: OutputFormat::ANSWER,
        note: "The build is checked first: every file against its checksum, and all counts against each other. Once it is in the \
            database its folder is removed. On the file system of the database nothing is copied.",
        examples: &[
            ("Make a database of a build", "fpdb assemble --db archive.db /shared/build-1"),
            ("Check the database afterwards", "fpdb assemble --db a.db build && fpdb verify --db a.db"),
        ],
    },
    VerbHelp {
        verb: "completions",
        short: &[],
        formats: OutputFormat::TEXT,
        note: "The script asks the program while you type, so it knows stored names. Print it anew after an update of fpdb, \
            or load it when the shell starts, as in the examples.",
        examples: &[
            ("In ~/.bashrc", "source <(fpdb completions bash)"),
            ("In ~/.zshrc, after compinit", "source <(fpdb completions zsh)"),
            ("For fish", "fpdb completions fish > ~/.config/fish/completions/fpdb.fish"),
        ],
    },
    VerbHelp {
        verb: "man",
        short: &["dir"],
        formats: OutputFormat::TEXT,
        note: "",
        examples: &[
            ("Read a page", "fpdb man query | man -l -"),
            ("Install all pages", "fpdb man --dir ~/.local/share/man/man1"),
        ],
    },
    VerbHelp {
        verb: "help",
        short: &[],
        formats: OutputFormat::TEXT,
        note: "",
        examples: &[
            ("Explain every flag of a command", "fpdb help query"),
            ("List the limits of the input", "fpdb help limits"),
        ],
    },
];

/// The examples, as the end of a help text.
pub(super) fn examples(examples: &[(&str, &str)]) -> String {
    let lines = examples.iter().map(|(does, run)| format!("\n  # {does}\n  {run}"));
    format!("Examples:{}", lines.collect::<String>())
}
