//! Ways in which a content that was removed for good could return.

use fpdb::Profile;

use super::mail;
use crate::assemble::build_of;
use crate::bad_input::prose;
use crate::support::{Folder, gzip, names, zip};

/// A content that is kept out, a change of its copies, and what is stored after that.
struct Return {
    what: &'static str,
    files: &'static [&'static str],
    /// The names that are removed for good.
    removed: &'static str,
    change: fn(&Folder),
    stored: &'static [&'static str],
}

/// The lines of a JSONL file. `S` is the content that is kept out.
fn lines(contents: &str) -> String {
    let text = |content| if content == 'S' { prose(1) } else { prose(content as usize) };
    contents.chars().map(|content| format!("{}\n", serde_json::json!({ "text": text(content) }))).collect()
}

fn mails(contents: &str) -> String {
    contents.chars().map(|content| mail("a@b.example", if content == 'S' { 1 } else { content as usize })).collect()
}

/// Writes a file with the content that is kept out (`S`), in the form that its name tells.
fn write(folder: &Folder, name: &str, contents: &str) {
    match name.rsplit('.').next().unwrap() {
        "txt" => folder.write(name, if contents == "S" { prose(1) } else { prose(contents.len() + 50) }),
        "gz" => folder.write(name, gzip(prose(1))),
        "zip" => folder.write(name, zip(contents.chars().map(|content| (format!("{content}.txt"), prose(1))))),
        "jsonl" => folder.write(name, lines(contents)),
        _ => folder.write(name, mails(contents)),
    };
    folder.age(name);
}

fn remove(folder: &Folder, name: &str) {
    std::fs::remove_file(folder.path().join(name)).unwrap();
}

fn move_file(folder: &Folder, from: &str, to: &str) {
    let to = folder.path().join(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(folder.path().join(from), to).unwrap();
}

fn ingest(folder: &Folder, flags: &[&str]) {
    folder.ok(&[&["ingest", "-q", "--profile", "prose"], flags].concat());
}

const RETURNS: &[Return] = &[
    Return {
        what: "the same ingest, while a copy is stored",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S", "b/c.zip xy", "b/g.gz S", "b/l.jsonl S", "b/m.mbox So"],
        removed: "a/p.txt",
        change: |folder| {
            ingest(folder, &["a"]);
            ingest(folder, &["b", "a"]);
            let path = folder.path().join("a/p.txt");
            ingest(folder, &[path.to_str().unwrap()]);
            ingest(folder, &["--prune", "a", "b"]);
            ingest(folder, &["--on-change", "both", "--store-text", "a", "b"]);
        },
        stored: &[
            "a/o.txt",
            "b/c.zip!x.txt",
            "b/c.zip!y.txt",
            "b/g.gz",
            "b/l.jsonl:1",
            "b/m.mbox#1",
            "b/m.mbox#2",
            "b/q.txt",
        ],
    },
    Return {
        what: "the last copy goes",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S", "b/z.txt zzz"],
        removed: "a/p.txt",
        change: |folder| {
            remove(folder, "b/q.txt");
            ingest(folder, &["--prune", "a", "b"]);
        },
        stored: &["a/o.txt", "b/z.txt"],
    },
    Return {
        what: "the last copy goes and the file is moved",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S", "b/z.txt zzz"],
        removed: "a/p.txt",
        change: |folder| {
            remove(folder, "b/q.txt");
            move_file(folder, "a/p.txt", "a/moved.txt");
            ingest(folder, &["a", "b"]);
            assert!(names(folder).contains(&"b/q.txt".to_owned()));
            ingest(folder, &["--prune", "a", "b"]);
        },
        stored: &["a/o.txt", "b/z.txt"],
    },
    Return {
        what: "the last copy, a compressed file, goes",
        files: &["a/p.gz S", "a/o.txt oo", "b/q.gz S", "b/z.txt zzz"],
        removed: "a/p.gz",
        change: |folder| {
            remove(folder, "b/q.gz");
            ingest(folder, &["--prune", "a", "b"]);
            move_file(folder, "a/p.gz", "a/moved.gz");
            ingest(folder, &["--prune", "a", "b"]);
        },
        stored: &["a/o.txt", "b/z.txt"],
    },
    Return {
        what: "the names of members",
        files: &["a/c.zip xyz"],
        removed: "a/c.zip!x.txt",
        change: |folder| {
            for contents in ["zyx", "xy", "yx"] {
                write(folder, "a/c.zip", contents);
                ingest(folder, &["a"]);
            }
        },
        stored: &["a/c.zip!y.txt"],
    },
    Return {
        what: "lines enter and leave",
        files: &["a/l.jsonl aSbSc"],
        removed: "a/l.jsonl:2",
        change: |folder| {
            for contents in ["SbSc", "bSSc", "daSbSc", "aSbSSc", "SSaaS", "abS"] {
                write(folder, "a/l.jsonl", contents);
                ingest(folder, &["a"]);
                let listed = folder.ok(&["list", "--format", "json"]).json();
                let secret = listed.iter().filter(|document| document["bytes"] == prose(1).len());
                assert_eq!(secret.count(), 1, "{contents}: {listed:?}");
            }
        },
        stored: &["a/l.jsonl:1", "a/l.jsonl:2", "a/l.jsonl:3"],
    },
    Return {
        what: "a line shifts, and the copy is elsewhere",
        files: &["a/l.jsonl aSb", "b/q.txt S"],
        removed: "a/l.jsonl:2",
        change: |folder| {
            write(folder, "a/l.jsonl", "xaSbS");
            ingest(folder, &["a"]);
        },
        stored: &["a/l.jsonl:1", "a/l.jsonl:2", "a/l.jsonl:4", "b/q.txt"],
    },
    Return {
        what: "mails enter and leave",
        files: &["a/m.mbox aSbS"],
        removed: "a/m.mbox#4",
        change: |folder| {
            write(folder, "a/m.mbox", "SbS");
            ingest(folder, &["a"]);
            assert_eq!(names(folder).len(), 2);
            write(folder, "a/m.mbox", "xaSbS");
            ingest(folder, &["a"]);
        },
        stored: &["a/m.mbox#1", "a/m.mbox#2", "a/m.mbox#3", "a/m.mbox#4"],
    },
    Return {
        what: "standard input, a merge, a build and a backup",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S"],
        removed: "a/p.txt",
        change: |folder| {
            let secret = std::fs::File::open(folder.path().join("a/p.txt")).unwrap();
            let mut run = folder.command(&["ingest", "-q", "--name", "a/p.txt", "-"]);
            assert!(run.stdin(secret).status().unwrap().success());
            ingest(folder, &["--db", "other", "a", "b"]);
            folder.ok(&["merge", "-q", "other"]);
            folder.ok(&["merge", "-q", "--reread", "other"]);
            folder.ok(&["backup", "-q", "saved"]);
            std::fs::remove_dir_all(folder.path().join(".fpdb")).unwrap();
            folder.ok(&["restore", "-q", "saved", "--db", ".fpdb"]);
            ingest(folder, &["a", "b"]);
            build_of(
                &folder.path().join("build"),
                &Profile::named("prose").unwrap(),
                [("a/p.txt".into(), prose(1).into())],
            );
            folder.ok(&["assemble", "-q", "build"]);
        },
        stored: &["a/o.txt", "b/q.txt"],
    },
    Return {
        what: "the names of another database",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S"],
        removed: "a/p.txt",
        change: |folder| {
            write(folder, "c/r.txt", "S");
            ingest(folder, &["--db", "other", "b", "c"]);
            folder.ok(&["rm", "-q", "--db", "other", "--keep-out", "c/r.txt"]);
            folder.ok(&["merge", "-q", "other"]);
            ingest(folder, &["c"]);
        },
        stored: &["a/o.txt", "b/q.txt"],
    },
    Return {
        what: "new names",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S"],
        removed: "a/p.txt",
        change: |folder| {
            let run = folder.run(&["mv", "b/q.txt", "a/p.txt"]);
            assert!(run.status == 2 && run.stderr.contains("removed for good"), "{run:?}");
            std::fs::rename(folder.path().join("a"), folder.path().join("c")).unwrap();
            folder.ok(&["mv", "-q", "a", "c"]);
            ingest(folder, &["c"]);
        },
        stored: &["b/q.txt", "c/o.txt"],
    },
    Return {
        what: "a change and its undoing",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S"],
        removed: "a/p.txt",
        change: |folder| {
            write(folder, "a/p.txt", "other");
            ingest(folder, &["a"]);
            assert_eq!(names(folder).len(), 3);
            write(folder, "a/p.txt", "S");
            ingest(folder, &["a"]);
        },
        stored: &["a/o.txt", "b/q.txt"],
    },
    Return {
        what: "a copy under a name of its own",
        files: &["a/p.txt S", "a/o.txt oo", "b/q.txt S"],
        removed: "a/p.txt",
        change: |folder| {
            write(folder, "b/copy.txt", "S");
            ingest(folder, &["a", "b"]);
        },
        stored: &["a/o.txt", "b/copy.txt", "b/q.txt"],
    },
];

#[test]
fn a_content_does_not_return_under_its_own_name() {
    let mut returned = Vec::new();
    for Return { what, files, removed, change, stored } in RETURNS {
        let folder = Folder::new();
        for file in *files {
            let (name, contents) = file.split_once(' ').unwrap();
            write(&folder, name, contents);
        }
        let folders: Vec<&str> = ["a", "b"].into_iter().filter(|name| folder.path().join(name).exists()).collect();
        ingest(&folder, &folders);
        folder.ok(&["rm", "-q", "--keep-out", removed]);
        assert!(!names(&folder).contains(&(*removed).to_owned()), "{what}");
        change(&folder);
        let found = names(&folder);
        if found != *stored {
            returned.push((what, found, stored));
        }
        folder.ok(&["verify"]);
    }
    assert!(returned.is_empty(), "{returned:#?}");
}
