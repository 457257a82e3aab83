//! Judged: if a file has changed since its ingest, it may hold texts that the report has not judged. Such a
//! file is neither copied nor marked.

use std::fs;

use fpdb::{Database, IngestOptions, Profile, Progress, Source, StopToken, Task};
use serde_json::Value;

use super::{apply, files, report, text};
use crate::support::{Folder, gzip, names, zip};

fn lines(seeds: impl IntoIterator<Item = u64>) -> String {
    seeds.into_iter().map(|seed| format!("{{\"text\":\"{}\"}}\n", text(seed))).collect()
}

/// Two containers with a duplicate between them, and files that no line of the report concerns.
fn start(folder: &Folder, aged: bool) {
    folder.write("in/a.jsonl", lines([1, 2]));
    folder.write("in/b.jsonl", lines([2, 3]));
    folder.write("in/c.jsonl", lines([4, 5]));
    folder.write("in/d.txt", text(6));
    folder.write("in/e.zip", zip([("x.txt", text(7)), ("y.txt", text(8))]));
    for name in ["a.jsonl", "b.jsonl", "c.jsonl", "d.txt", "e.zip"].iter().filter(|_| aged) {
        folder.age(&format!("in/{name}"));
    }
    assert_eq!(report(folder).len(), 1);
}

fn left(lines: &[Value]) -> Vec<(&str, &str)> {
    let left = lines.iter().filter(|line| line["act"] == "leave");
    left.map(|line| {
        let name = line["source"].as_str().unwrap().rsplit('/').next().unwrap();
        (name, line["reason"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn what_came_after_the_ingest_is_in_no_copy() {
    let grown = "it is not as it was ingested: the database does not hold 1 of its 3 documents as they are now";
    let edited = "it has changed since it was ingested";
    let emptied = "it has changed since it was ingested: it holds no document now";
    let cases: [(&str, Vec<u8>, &str); 7] = [
        // A survivor, a removable record, and a record that the report does not name.
        ("a.jsonl", lines([1, 2, 9]).into(), grown),
        ("b.jsonl", lines([2, 3, 3]).into(), grown),
        ("c.jsonl", lines([4, 5, 5]).into(), grown),
        (
            "c.jsonl",
            lines([5, 4]).into(),
            "it is not as it was ingested: the database does not hold 2 of its 2 documents as they are now",
        ),
        ("c.jsonl", Vec::new(), emptied),
        ("d.txt", text(10).into(), edited),
        ("e.zip", zip([("x.txt", text(7)), ("y.txt", text(8)), ("z.txt", text(1))]), grown),
    ];
    for (name, content, why) in cases {
        for aged in [false, true] {
            let folder = Folder::new();
            start(&folder, aged);
            folder.write(&format!("in/{name}"), &content);
            for flags in [&["--write", "clean"][..], &["--write", "clean", "--yes"]] {
                let (run, lines, summary) = apply(&folder, flags);
                assert_eq!((run.status, left(&lines)), (2, vec![(name, why)]), "{flags:?} {run:#?}");
                assert_eq!(summary["failed"], 1, "{run:#?}");
                assert!(run.stderr.contains("if a file has changed, ingest and dedup again"), "{run:#?}");
            }
            assert!(!folder.path().join("clean/in").join(name).exists());
            assert_eq!(files(&folder.path().join("clean")).len(), 4);
            if why == emptied {
                // An ingest keeps the documents of an empty file.
                continue;
            }
            // After a new ingest, a new report judges the file.
            report(&folder);
            let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
            assert_eq!(run.status, 0, "{run:#?}");
        }
    }
}

#[test]
fn what_came_after_the_ingest_gets_no_mark() {
    for flags in [&["--mark", "dup", "--yes"][..], &["--mark", "dup", "--write", "clean", "--yes"]] {
        let folder = Folder::new();
        start(&folder, true);
        folder.write("in/c.jsonl", lines([4, 5, 5]));
        let (run, lines, _) = apply(&folder, flags);
        assert_eq!((run.status, left(&lines).len(), left(&lines)[0].0), (2, 1, "c.jsonl"), "{run:#?}");
        assert!(!fs::read_to_string(folder.path().join("in/c.jsonl")).unwrap().contains("dup"));
        // Marks do not change the texts, so the same command can run again.
        let (run, lines, _) = apply(&folder, flags);
        assert_eq!((run.status, left(&lines).len()), (2, 1), "{run:#?}");
    }
    // A text without records gets no mark, whatever it is now.
    let folder = Folder::new();
    start(&folder, true);
    folder.write("in/d.txt", text(10));
    let (run, ..) = apply(&folder, &["--mark", "dup", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
}

/// A new time alone is no change, and neither are fewer records.
#[test]
fn files_with_the_same_contents_are_copied() {
    let folder = Folder::new();
    start(&folder, true);
    for name in ["a.jsonl", "b.jsonl", "c.jsonl", "d.txt", "e.zip"] {
        let path = folder.path().join("in").join(name);
        fs::write(&path, fs::read(&path).unwrap()).unwrap();
    }
    folder.write("in/c.jsonl", lines([4]));
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["failed"]), (0, &1.into(), &0.into()), "{run:#?}");
    // A removed document is no change of its file.
    folder.write("in/c.jsonl", lines([4, 5]));
    folder.age("in/c.jsonl");
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["rm", "-q", "in/c.jsonl:2"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
}

/// A removed document is no change of its file, even if the file was ingested just after its last change.
#[test]
fn a_removed_document_is_told_from_a_new_one() {
    for aged in [false, true] {
        let folder = Folder::new();
        start(&folder, aged);
        // The content of the last removed document is stored elsewhere too.
        folder.write("more/f.jsonl", lines([8, 20]));
        folder.ok(&["ingest", "-q", "more"]);
        folder.ok(&["rm", "-q", "in/a.jsonl:1", "in/c.jsonl:2", "in/e.zip!y.txt"]);
        let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!(run.status, 0, "{aged} {run:#?}");
        assert_eq!(fs::read_to_string(folder.path().join("clean/in/c.jsonl")).unwrap(), lines([4, 5]));
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{aged} {run:#?}");
        if aged {
            continue;
        }
        // A changed record of the same length is not the removed one, and a new time shows a new version.
        let path = folder.path().join("in/c.jsonl");
        let ingested = path.metadata().unwrap().modified().unwrap();
        let set_time = |time| fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let of_length = |seed, length: usize| format!("{{\"text\":\"{}\"}}\n", &text(seed).repeat(2)[..length]);
        let [first, second] = [4, 5].map(|seed| text(seed).len());
        folder.write("in/c.jsonl", of_length(9, first) + &lines([5]));
        set_time(ingested);
        let (run, found, _) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, left(&found).len()), (2, 1), "{aged} {run:#?}");
        folder.write("in/c.jsonl", lines([4]) + &of_length(9, second));
        set_time(ingested + std::time::Duration::from_secs(1));
        let (run, found, _) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, left(&found).len()), (2, 1), "{aged} {run:#?}");
    }
}

/// An earlier version of fpdb could copy a changed file. The check counts the documents that the database
/// does not hold.
#[test]
fn the_check_of_a_copy_counts_what_nobody_has_judged() {
    let cases = [
        ("c.jsonl", lines([4, 5, 9])),
        ("c.jsonl", lines([4, 5, 5])),
        ("a.jsonl", lines([1, 2, 9])),
        ("d.txt", text(10)),
    ];
    for (name, content) in cases {
        let folder = Folder::new();
        start(&folder, true);
        apply(&folder, &["--write", "clean", "--yes"]);
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{run:#?}");
        folder.write(&format!("clean/in/{name}"), &content);
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, &summary["unjudged"]), (2, &1.into()), "{run:#?}");
        assert!(run.stderr.contains("1 document in the copy is not in the database"), "{run:#?}");
    }
}

fn picture() -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &(0..=255).cycle().take(30_000).collect::<Vec<u8>>()[..]].concat()
}

/// An ingest skips pictures and refuses false texts. Such members do not count as documents that the database
/// lacks.
#[test]
fn members_that_an_ingest_does_not_take_are_no_change() {
    let members = |more: &[u64]| {
        let texts = [7, 8].iter().chain(more).map(|&seed| (format!("{seed}.txt"), text(seed).into_bytes()));
        zip(texts.chain([("a.png".to_owned(), picture()), ("b.txt".to_owned(), picture())]))
    };
    let touch = |folder: &Folder| {
        let path = folder.path().join("in/p.zip");
        fs::write(&path, fs::read(&path).unwrap()).unwrap();
    };
    for (aged, then) in [(false, ""), (true, "touch"), (true, "mv"), (true, "merge")] {
        let folder = Folder::new();
        folder.write("in/p.zip", members(&[]));
        folder.write("in/q.txt", text(7));
        if aged {
            folder.age("in/p.zip");
        }
        folder.run(&["ingest", "-q", "--profile", "words", "in"]);
        match then {
            "touch" => touch(&folder),
            "mv" => _ = folder.ok(&["mv", "in/p.zip", "in/r.zip"]),
            "merge" => {
                folder.ok(&["init", "-q", "--profile", "words", "--db", "other"]);
                folder.ok(&["merge", "-q", ".fpdb", "--db", "other"]);
                fs::remove_dir_all(folder.path().join(".fpdb")).unwrap();
                fs::rename(folder.path().join("other"), folder.path().join(".fpdb")).unwrap();
            }
            _ => {}
        }
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, &summary["applied"]), (0, &1.into()), "{then} {run:#?}");
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{then} {run:#?}");
        folder.write("in/p.zip", members(&[9]));
        let (run, lines, _) = apply(&folder, &["--write", "clean", "--yes"]);
        let why = "it is not as it was ingested: the database does not hold 1 of its 3 documents as they are now";
        assert_eq!((run.status, left(&lines)), (2, vec![("p.zip", why)]), "{then} {run:#?}");
    }
}

/// The remembered flags say which members an ingest leaves out. These archives are too new for their times to
/// prove that they are unchanged.
#[test]
fn members_that_remembered_globs_leave_out_are_no_change() {
    let members = |b| {
        zip([("a.txt", 7), ("b.txt", b), ("c.tmp", 9), ("drafts/d.txt", 10)].map(|(name, seed)| (name, text(seed))))
    };
    for flags in [
        &["--exclude", "*.tmp", "--exclude", "in/p.zip!drafts/*"][..],
        &["--include", "a.txt", "--include", "b.txt", "--include", "q.txt"],
    ] {
        let folder = Folder::new();
        folder.write("in/p.zip", members(8));
        folder.write("in/q.txt", text(7));
        folder.ok(&[&["ingest", "-q", "--profile", "words"], flags, &["in"]].concat());
        assert_eq!(names(&folder), ["in/p.zip!a.txt", "in/p.zip!b.txt", "in/q.txt"]);
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, &summary["applied"], &summary["failed"]), (0, &1.into(), &0.into()), "{run:#?}");
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{run:#?}");
        // A member that an ingest would take is a change.
        folder.write("in/p.zip", members(11));
        let (run, lines, _) = apply(&folder, &["--write", "other", "--yes"]);
        let why = "it is not as it was ingested: the database does not hold 1 of its 2 documents as they are now";
        assert_eq!((run.status, left(&lines)), (2, vec![("p.zip", why)]), "{run:#?}");
    }
}

/// A glob that names a record means its number in the file. Records of a copy have other numbers.
#[test]
fn a_glob_that_names_a_record_hides_no_other_in_the_copy() {
    let folder = Folder::new();
    let record = |seed| format!("{{\"text\":\"{}\"}}\n", text(seed));
    folder.write("in/p.jsonl", [1, 2, 3].map(record).concat());
    folder.write("in/a.txt", text(1));
    folder.write("in/q.zip", zip([("s.jsonl", [4, 5].map(record).concat()), ("t.txt", text(1))]));
    let globs = ["--exclude", "in/p.jsonl:4", "--exclude", "in/q.zip!s.jsonl:3"];
    folder.ok(&[&["ingest", "-q", "--profile", "words"], &globs[..], &["in"]].concat());
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    apply(&folder, &["--write", "clean", "--yes"]);
    let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
    assert_eq!((run.status, summary.get("unjudged")), (0, None), "{run:#?}");
    folder.write("clean/in/p.jsonl", [2, 3, 6, 7].map(record).concat());
    folder.write("clean/in/q.zip", zip([("s.jsonl", [4, 5, 8].map(record).concat())]));
    let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
    assert_eq!((run.status, &summary["unjudged"]), (2, &3.into()), "{run:#?}");
}

/// A glob that includes a record means the number in the file too. Such a glob includes no other member.
#[test]
fn a_glob_that_includes_a_record_hides_no_other_in_the_copy() {
    for globs in [&["in/q.zip!s.jsonl:*"][..], &["in/q.zip!s.jsonl:[12]", "*.md"]] {
        let folder = Folder::new();
        let members = |seeds| zip([("s.jsonl", lines(seeds)), ("t.txt", text(1))]);
        folder.write("in/q.zip", members(vec![4, 5]));
        folder.write("in/r.zip", zip([("s.jsonl", lines([4]))]));
        let globs = globs.iter().chain(&["in/r.zip!s.jsonl:1"]).flat_map(|glob| ["--include", glob]);
        folder.ok(&["ingest", "-q", "--profile", "words"].into_iter().chain(globs).chain(["in"]).collect::<Vec<_>>());
        assert_eq!(names(&folder), ["in/q.zip!s.jsonl:1", "in/q.zip!s.jsonl:2", "in/r.zip!s.jsonl:1"]);
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        apply(&folder, &["--write", "clean", "--yes"]);
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, summary.get("unjudged")), (0, None), "{run:#?}");
        folder.write("clean/in/q.zip", members(vec![4, 5, 8, 9]));
        let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
        assert_eq!((run.status, &summary["unjudged"]), (2, &2.into()), "{run:#?}");
    }
}

/// The database does not store the bytes of an unreadable member. The member stays in each copy, and the run
/// names it.
#[test]
fn members_that_an_ingest_could_not_read_are_no_change() {
    let broken = "%PDF-1.4\nbroken";
    let mail = |seed, parts: &str| {
        format!(
            "From a@b Sat Jan  3 01:05:34 1996\nFrom: a\nContent-Type: multipart/mixed; boundary=\"x\"\n\n\
             --x\nContent-Type: text/plain\n\n{}\n{parts}--x--\n\n",
            text(seed)
        )
    };
    let attached = format!(
        "--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=\"b.pdf\"\n\n{broken}\n"
    );
    let archive = zip([("a.txt", text(1)), ("b.pdf", broken.into()), ("c.txt", text(2))]);
    let mails = [mail(3, ""), mail(4, &attached)].concat().into_bytes();
    // The number of a record is another one in the copy.
    for (name, content, seed, named) in [("a.zip", archive, 1, "a.zip!b.pdf"), ("m.mbox", mails, 3, "m.mbox#2!b.pdf")] {
        for aged in [false, true] {
            let folder = Folder::new();
            folder.write(&format!("in/{name}"), &content);
            let duplicate = if seed == 1 { text(1).into_bytes() } else { mail(3, "").into_bytes() };
            folder.write(if seed == 1 { "in/0.txt" } else { "in/0.mbox" }, duplicate);
            if aged {
                folder.age(&format!("in/{name}"));
            }
            let run = folder.run(&["ingest", "--profile", "words", "--attachments", "in"]);
            assert!(run.status == 2 && run.stderr.contains(&format!("in/{named}: ")), "{run:#?}");
            folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
            let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
            assert_eq!((run.status, &summary["applied"]), (0, &1.into()), "{name} {aged} {run:#?}");
            let line = lines.iter().find(|line| line["act"] == "write").unwrap();
            let why = format!("1 part of it could not be read and stays as it is: in/{named}");
            assert_eq!(line["reason"], why, "{run:#?}");
            let copy = fs::read(folder.path().join("clean/in").join(name)).unwrap();
            assert!(copy.len() < content.len() && copy.windows(5).any(|at| at == b"b.pdf"), "{run:#?}");
            let (run, _, summary) = apply(&folder, &["--check", "--write", "clean"]);
            assert_eq!((run.status, summary.get("unjudged")), (0, None), "{name} {aged} {run:#?}");
        }
    }
}

/// No line of the report concerns the damaged container.
#[test]
fn a_damaged_container_is_copied_as_it_is_and_named() {
    let folder = Folder::new();
    start(&folder, true);
    let mut damaged = zip([("v.txt", text(20)), ("w.txt", text(21))]);
    let place = damaged.len() / 2;
    damaged[place] ^= 1;
    folder.write("in/f.zip", &damaged);
    folder.age("in/f.zip");
    let run = folder.run(&["ingest", "-q", "in"]);
    assert_eq!(run.status, 2, "{run:#?}");
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    for _ in 0..2 {
        let run = folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
        let line = run.stdout.lines().find(|line| line.contains("/in/f.zip: ")).unwrap_or_else(|| panic!("{run:#?}"));
        assert!(line.contains("(1 part of it could not be read and stays as it is: in/f.zip!"), "{line}");
    }
    assert_eq!(fs::read(folder.path().join("clean/in/f.zip")).unwrap(), damaged);
}

/// A new member is a change, even in an inner archive whose name does not show that it is an archive.
#[test]
fn new_members_of_an_archive_in_an_archive_are_a_change() {
    let folder = Folder::new();
    start(&folder, true);
    let inner = zip([("new.txt", text(9))]);
    let members = [("x.txt", text(7).into_bytes()), ("y.txt", text(8).into_bytes()), ("data", inner)];
    folder.write("in/e.zip", zip(members));
    let (run, lines, _) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, left(&lines).len(), left(&lines)[0].0), (2, 1, "e.zip"), "{run:#?}");
}

/// A part that cannot be read may be new.
#[test]
fn a_changed_file_with_an_unreadable_part_is_neither_copied_nor_marked() {
    let why = "it may have changed since it was ingested: 1 of its parts cannot be read";
    for aged in [true, false] {
        let folder = Folder::new();
        let packed = gzip(lines(10..200));
        folder.write("in/f.jsonl.gz", &packed);
        if aged {
            folder.age("in/f.jsonl.gz");
        }
        start(&folder, aged);
        folder.write("in/c.jsonl", lines([4, 5]) + "{\"body\":\"x\"}\n");
        folder.write("in/f.jsonl.gz", &packed[..packed.len() / 2]);
        for flags in [&["--write", "clean", "--yes"][..], &["--mark", "dup", "--yes"]] {
            let (run, lines, _) = apply(&folder, flags);
            let left = left(&lines);
            assert_eq!((run.status, left.iter().find(|(name, _)| *name == "c.jsonl")), (2, Some(&("c.jsonl", why))));
            assert!(left.iter().any(|(name, _)| *name == "f.jsonl.gz"), "{run:#?}");
        }
        assert!(!folder.path().join("clean/in/c.jsonl").exists());
        assert!(!fs::read_to_string(folder.path().join("in/c.jsonl")).unwrap().contains("dup"));
    }
}

/// The documents of a file that was read by two text fields cannot be compared.
#[test]
fn a_file_ingested_by_two_text_fields_is_copied_only_if_its_time_proves_it() {
    let both = |seed| format!("{{\"text\":\"{}\",\"title\":\"{}\"}}\n", text(seed), text(seed + 20));
    for (aged, status) in [(true, 0), (false, 2)] {
        let folder = Folder::new();
        folder.write("in/m.jsonl", both(21) + &both(22));
        if aged {
            folder.age("in/m.jsonl");
        }
        start(&folder, true);
        folder.ok(&["ingest", "-q", "--text-field", "title", "--on-change", "both", "in/m.jsonl"]);
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
        let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!(run.status, status, "{run:#?}");
        folder.write("in/m.jsonl", both(21) + &both(22) + &both(23));
        let (run, lines, _) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, left(&lines).len(), left(&lines)[0].0), (2, 1, "m.jsonl"), "{run:#?}");
    }
}

/// The database has only some documents of a file whose ingest was interrupted, also after a removal, a
/// renaming or a merge.
#[test]
fn a_file_whose_ingest_was_interrupted_is_not_copied() {
    struct StopAtCommit(StopToken);
    impl Progress for StopAtCommit {
        fn committed(&self, _: u64) {
            self.0.stop();
        }
    }
    let folder = Folder::new();
    let path = folder.write("in/a.jsonl", lines(0..6000));
    folder.age("in/a.jsonl");
    let database = Database::builder().memory(1 << 20).threads(1);
    let database = database.create(folder.path().join(".fpdb"), Profile::named("words").unwrap()).unwrap();
    let stop = StopAtCommit(StopToken::new());
    let task = Task::new().progress(&stop).stop(&stop.0);
    let summary = database.ingest_sources(&[Source::Path(path)], &IngestOptions::default(), &task).unwrap();
    assert!(summary.interrupted && (1..6000).contains(&summary.added), "{summary:?}");
    drop(database);
    folder.ok(&["init", "-q", "--profile", "words", "--db", "merged"]);
    folder.ok(&["merge", "-q", ".fpdb", "--db", "merged"]);
    let first = names(&folder).swap_remove(0);
    folder.ok(&["rm", "-q", &first]);
    let is_refused = |db: &str, name: &str| {
        folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl", "--db", db]);
        let (run, lines, _) = apply(&folder, &["--write", "clean", "--yes", "--db", db]);
        assert_eq!((run.status, left(&lines).len(), left(&lines)[0].0), (2, 1, name), "{run:#?}");
        fs::remove_file(folder.path().join("clean.write.log")).unwrap();
    };
    is_refused(".fpdb", "a.jsonl");
    is_refused("merged", "a.jsonl");
    fs::rename(folder.path().join("in/a.jsonl"), folder.path().join("in/b.jsonl")).unwrap();
    let name = first.rsplit_once(':').unwrap().0;
    folder.ok(&["mv", name, &name.replace("a.jsonl", "b.jsonl")]);
    is_refused(".fpdb", "b.jsonl");
    // The rest is ingested.
    folder.ok(&["ingest", "-q", "in/b.jsonl"]);
    folder.ok(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
}
