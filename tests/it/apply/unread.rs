//! Unread: members that an ingest could not read are in each copy. Such members do not excuse a changed
//! document.

use std::fs;

use super::{apply, text};
use crate::support::{Folder, zip};

/// A document whose bytes can be read, but not its text.
const BROKEN: &str = "%PDF-1.4\nbroken";

fn line(seed: u64) -> String {
    format!("{{\"text\":\"{}\"}}\n", text(seed))
}

/// The same bytes with another text of the same length.
fn edited(lines: &str, seed: u64) -> String {
    lines.replace(&text(seed), &format!("edited{}", &text(seed)[6..]))
}

fn ingest_and_dedup(folder: &Folder) {
    assert_eq!(folder.run(&["ingest", "-q", "--profile", "words", "in"]).status, 2);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
}

fn unjudged(folder: &Folder) -> u64 {
    let (_, _, summary) = apply(folder, &["--check", "--write", "clean"]);
    summary["unjudged"].as_u64().unwrap_or(0)
}

/// The second case has more failed lines than a database lists.
#[test]
fn a_broken_line_excuses_no_other_line() {
    for broken in [1, 6000] {
        let folder = Folder::new();
        let lines = line(1) + &"{\n".repeat(broken) + &line(2) + &line(3);
        folder.write("in/0.txt", text(1));
        folder.write("in/a.jsonl", &lines);
        ingest_and_dedup(&folder);
        let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, unjudged(&folder)), (0, 0), "{run:#?}");
        folder.write("clean/in/a.jsonl", line(2) + &"{\n".repeat(broken) + &line(8) + &line(9));
        assert_eq!(unjudged(&folder), 2, "{broken}");
        folder.write("in/a.jsonl", edited(&lines, 3));
        let (run, found, _) = apply(&folder, &["--write", "other", "--yes"]);
        let why = "it is not as it was ingested: the database does not hold 1 of its 3 documents as they are now";
        assert_eq!((run.status, found.iter().any(|line| line["reason"] == why)), (2, true), "{broken} {run:#?}");
    }
}

/// Records of a copy have other numbers. So the copy may hold as many broken documents as the file, anywhere.
#[test]
fn a_copy_may_hold_as_many_broken_documents_as_its_file() {
    let mail = |seed: u64, attached: &str, name: &str| {
        format!(
            "From a@b Sat Jan  3 01:05:34 1996\nFrom: a\nContent-Type: multipart/mixed; boundary=\"x\"\n\n\
             --x\nContent-Type: text/plain\n\n{}\n--x\nContent-Type: application/octet-stream\n\
             Content-Disposition: attachment; filename=\"{name}\"\n\n{attached}\n--x--\n\n",
            text(seed)
        )
    };
    let folder = Folder::new();
    let all = mail(1, BROKEN, "b.pdf") + &mail(2, BROKEN, "b.pdf") + &mail(3, &text(4), "b.txt");
    folder.write("in/a.mbox", &all);
    assert_eq!(folder.run(&["ingest", "-q", "--profile", "words", "--attachments", "in"]).status, 2);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, unjudged(&folder)), (0, 0), "{run:#?}");
    let other = "%PDF-1.4\nother";
    folder.write("clean/in/a.mbox", mail(8, other, "b.pdf") + &mail(9, other, "b.pdf") + &all);
    // Two mails and two attachments.
    assert_eq!(unjudged(&folder), 4);
}

/// The database lists only the first of the broken members.
#[test]
fn a_removed_document_is_no_change_beside_many_broken_ones() {
    let folder = Folder::new();
    let broken = (0..100).map(|number| (format!("{number}{}.pdf", "x".repeat(240)), BROKEN.to_owned()));
    let all = |a| zip([("a.txt".to_owned(), a), ("b.txt".to_owned(), text(2))].into_iter().chain(broken.clone()));
    let path = folder.write("in/a.zip", all(text(1)));
    ingest_and_dedup(&folder);
    folder.ok(&["rm", "-q", "in/a.zip!b.txt"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, unjudged(&folder)), (0, 0), "{run:#?}");
    // A changed document is reported if it cannot be the removed one.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, all(edited(&text(1), 1))).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    let (run, ..) = apply(&folder, &["--write", "other", "--yes"]);
    assert_eq!(run.status, 2, "{run:#?}");
}
