//! Below: one report of all documents in a folder or an archive.

use std::collections::BTreeSet;

use super::files::{overview, part};
use super::{COPIES, corpus, files};
use crate::support::{Folder, zip};

/// A late submission is a folder or an archive. Its files are the queries of one report, with their texts.
#[test]
fn a_folder_and_an_archive_are_one_report_of_their_documents() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("late/eve/one.txt", COPIES[0].1);
    folder.write("late/eve/two.txt", COPIES[1].1);
    folder.write("late/eve/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    folder.write("late.zip", zip([("fay/three.txt", COPIES[1].1)]));
    let run = folder.ok(&["query", "late/eve", "late.zip", "late/eve/one.txt", "--format", "html", "-o", "report"]);
    assert!(run.stderr.starts_with("1 file is no document and was skipped"), "{run:?}");
    let report = files(&folder.path().join("report"));
    let shown = overview(&report["index.html"]);
    // One of the files is named twice.
    assert_eq!(shown.compared, 3);
    let queries: BTreeSet<&str> = shown.pairs.iter().map(|pair| shown.documents[pair.a].name.as_str()).collect();
    assert_eq!(queries, BTreeSet::from(["late.zip!fay/three.txt", "late/eve/one.txt", "late/eve/two.txt"]));
    for (number, document) in (1..).zip(&shown.documents) {
        let text = match document.name.as_str() {
            "late/eve/one.txt" => COPIES[0].1,
            "late/eve/two.txt" | "late.zip!fay/three.txt" => COPIES[1].1,
            _ => continue,
        };
        assert_eq!(part::<super::data::TextData>(&report, &format!("text-{number}")).text, text);
    }
    // Each file has the same answer as if it were queried alone.
    let names = ["late/eve/one.txt", "late/eve/two.txt", "late.zip!fay/three.txt"];
    folder.ok(&[&["query"], &names[..], &["--format", "html", "-o", "each"]].concat());
    assert_eq!(files(&folder.path().join("each")), report);
    let empty = folder.ok(&["query", "late/eve/one.txt", "nothing", "--format", "html", "-o", "other"].map(|word| {
        std::fs::create_dir_all(folder.path().join("nothing")).unwrap();
        word
    }));
    assert!(empty.stderr.contains("no document in nothing"), "{empty:?}");
}
