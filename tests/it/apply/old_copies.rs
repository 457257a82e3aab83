//! Old copies, of files that the database no longer has, stay until they are pruned. Old copies that hold
//! kept-out contents are named.

use std::fs;

use fpdb::apply::{Act, Action, ApplyOptions};
use fpdb::{Database, Task};

use super::formats::gzip;
use super::withdrawn::mail;
use super::{apply, files, text};
use crate::support::Folder;

fn line(number: u64) -> String {
    format!("{{\"text\":\"{}\"}}\n", text(number))
}

fn dedup(folder: &Folder) {
    folder.ok(&["dedup", "-q", "--keep", "first", "--format", "json", "-o", "report.jsonl"]);
}

fn copied(folder: &Folder) -> Vec<String> {
    let files = files(&folder.path().join("clean/in")).into_iter();
    files.map(|(name, _)| name).collect()
}

#[test]
fn an_old_copy_that_holds_what_is_kept_out_is_named_until_it_is_pruned() {
    let folder = Folder::new();
    folder.write("in/x.txt", text(1));
    folder.write("in/sub/x.txt.gz", gzip(text(2).as_bytes()));
    // Nobody removed the attachment.
    folder.write("in/x.eml", mail(3, &[4]));
    folder.write("in/x.jsonl", line(5) + &line(6) + "{\"text\":null,\"note\":1}\n");
    folder.write("in/part.jsonl", line(7) + &line(8));
    folder.write("in/edited.txt", text(9));
    folder.write("in/plain.txt", text(10));
    folder.write("in/stays.txt", text(11));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    dedup(&folder);
    apply(&folder, &["--write", "clean", "--yes"]);
    let removed = ["in/x.txt", "in/sub/x.txt.gz", "in/x.eml", "in/x.jsonl:1", "in/x.jsonl:2", "in/part.jsonl:1"];
    folder.ok(&[&["rm", "-q", "--keep-out", "in/edited.txt"], &removed[..]].concat());
    folder.ok(&["rm", "-q", "in/part.jsonl:2", "in/plain.txt"]);
    folder.write("clean/in/edited.txt", text(9) + "\n" + &text(12));
    dedup(&folder);
    let plan = folder.run(&["apply", "report.jsonl", "--write", "clean"]);
    assert!(
        plan.stdout.contains("its copy stays") && plan.stdout.contains("2 of its contents are kept out"),
        "{plan:#?}"
    );
    let before = files(folder.path());
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    let told = [&summary["pruned"], &summary["stale"], &summary["kept_out_left"], &summary["kept_out_unsearched"]];
    assert_eq!((run.status, told), (2, [&().into(), &7.into(), &6.into(), &().into()]), "{lines:#?}");
    let is_copy = |(name, _): &&(String, Vec<u8>)| name.starts_with("clean/");
    let after = files(folder.path());
    assert!(before.iter().filter(is_copy).eq(after.iter().filter(is_copy)));
    assert!(run.stderr.contains("--prune removes those whose files are no longer stored"), "{run:#?}");
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--prune", "--yes"]);
    assert_eq!((run.status, &summary["pruned"], &summary["kept_out_left"]), (0, &6.into(), &().into()), "{run:#?}");
    assert_eq!(copied(&folder), ["edited.txt", "stays.txt"]);
}

/// A copy is searched as its file was read. If this is not possible, the search counts as incomplete.
#[test]
fn old_copies_are_searched_as_their_files_were_read() {
    let folder = Folder::new();
    folder.write("in/closed.jsonl", line(1));
    folder.write("in/body.jsonl", format!("{{\"text\":\"{}\",\"body\":\"{}\"}}\n", text(3), text(4)));
    folder.write("in/stays.txt", text(11));
    for flags in
        [&["in/closed.jsonl", "--no-expand"][..], &["in/body.jsonl", "--text-field", "body"], &["in/stays.txt"]]
    {
        folder.ok(&[&["ingest", "-q", "--profile", "words"], flags].concat());
    }
    dedup(&folder);
    apply(&folder, &["--write", "clean", "--yes"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/closed.jsonl", "in/body.jsonl:1"]);
    dedup(&folder);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["kept_out_left"]), (2, &2.into()), "{lines:#?}");
}

#[test]
fn an_old_copy_without_passages_cannot_be_searched() {
    let folder = Folder::new();
    folder.write("in/1.txt", text(1) + "\n" + &text(2));
    folder.write("in/2.txt", text(3) + "\n" + &text(1));
    folder.write("in/3.txt", text(4));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let passages = || {
        folder.ok(&["dedup", "--passages", "--min-length", "20", "-q", "--format", "json", "-o", "report.jsonl"]);
        apply(&folder, &["--write", "clean", "--cut", "--yes"])
    };
    assert_eq!(passages().2["applied"], 1);
    folder.ok(&["rm", "-q", "in/3.txt"]);
    let (run, ..) = passages();
    assert_eq!(run.status, 0, "{run:#?}");
    folder.ok(&["rm", "-q", "--keep-out", "in/2.txt"]);
    let (run, lines, summary) = passages();
    assert_eq!((run.status, &summary["kept_out_unsearched"]), (2, &1.into()), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line["reason"].to_string().contains("not all of it can be searched")),
        "{lines:#?}"
    );
}

/// The copy of a file that is left out is edited while the program runs.
#[test]
fn a_copy_that_is_edited_meanwhile_stays_and_is_a_failure() {
    let folder = Folder::new();
    folder.write("in/1.txt", text(1));
    folder.write("in/2.txt", text(1));
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    dedup(&folder);
    let report = folder.path().join("report.jsonl");
    let whole = fs::read_to_string(&report).unwrap();
    // Writes the report without its only removable document.
    let summary = whole.lines().last().unwrap();
    fs::write(&report, format!("{summary}\n")).unwrap();
    apply(&folder, &["--write", "clean", "--yes"]);
    fs::write(&report, whole).unwrap();
    assert_eq!(copied(&folder), ["1.txt", "2.txt"]);
    let database = Database::open(folder.path().join(".fpdb")).unwrap();
    let options = ApplyOptions::new(Action::Write { folder: folder.path().join("clean"), mark: None }).act(true);
    let mut acts = Vec::new();
    let summary = database.apply(&report, &options, &Task::new(), |applied| {
        if acts.is_empty() {
            folder.write("clean/in/2.txt", text(7) + &text(8));
        }
        acts.push(applied.act);
        Ok::<(), fpdb::Error>(())
    });
    assert_eq!((summary.unwrap().failed, acts), (1, vec![Act::Copy, Act::Leave]));
    assert_eq!(copied(&folder), ["1.txt", "2.txt"]);
}
