//! Documents that are removed for good: `rm --keep-out` and `rm --readmit`.

use std::fs;

use fpdb::Profile;

use crate::assemble::build_of;
use crate::bad_input::prose;
use crate::support::{Folder, names, zip};

fn mail(from: &str, number: usize) -> String {
    format!("From a@b.c Sat Jan  3 01:05:34 1996\nFrom: {from}\nSubject: {number}\n\n{}\n\n", prose(number))
}

/// The skipped documents of an ingest, by their reason.
fn kept_out(folder: &Folder, arguments: &[&str]) -> u64 {
    let report = folder.ok(&[&["ingest", "--format", "json"], arguments].concat()).json().remove(0);
    let skipped = report["skipped"].as_array().unwrap().iter();
    let listed = skipped.filter(|skip| skip["reason"].as_str().unwrap().contains("--keep-out")).count() as u64;
    assert_eq!(report["kept_out"].as_u64().unwrap_or(0), listed, "{report}");
    listed
}

#[test]
fn skipped_files_that_an_answer_does_not_list_are_told() {
    let folder = Folder::new();
    let members: Vec<(String, &[u8])> = (0..1002).map(|number| (format!("{number}.bin"), &[0; 9][..])).collect();
    folder.write("all.zip", zip(members));
    let run = folder.ok(&["ingest", "--profile", "prose", "--format", "json", "all.zip"]);
    assert_eq!((&run.json()[0]["skips"], run.json()[0]["skipped"].as_array().unwrap().len()), (&1002.into(), 1000));
    assert!(run.stderr.contains("2 more skipped files are not listed in the answer; --verbose names all"), "{run:?}");
}

/// Copies of a content that is kept out stay, but none of them brings the removed file back.
#[test]
fn a_removed_file_does_not_come_back_while_copies_are_stored() {
    let folder = Folder::new();
    folder.write("a/p.txt", prose(3));
    folder.write("b/q.txt", prose(3));
    folder.write("b/z.txt", prose(4));
    folder.ok(&["ingest", "-q", "--profile", "prose", "a", "b"]);
    folder.ok(&["rm", "-q", "--keep-out", "a/p.txt"]);
    assert_eq!(kept_out(&folder, &["a", "b"]), 1);
    assert_eq!(names(&folder), ["b/q.txt", "b/z.txt"]);
    // A file that leaves while the removed one is on the disk is not taken for it.
    fs::remove_file(folder.path().join("b/q.txt")).unwrap();
    assert_eq!(kept_out(&folder, &["--prune", "a", "b"]), 1);
    assert_eq!(names(&folder), ["b/z.txt"]);
    assert_eq!(kept_out(&folder, &["a", "b"]), 1);
}

#[test]
fn a_document_that_is_kept_out_comes_back_under_no_name() {
    let folder = Folder::new();
    folder.write("in/box.mbox", mail("law@firm.example", 1) + &mail("bob@b.example", 2));
    folder.write("in/secret.txt", prose(3));
    folder.write("in/other.txt", prose(4));
    folder.write("in/all.zip", zip([("x.txt", prose(5).as_bytes()), ("y.txt", prose(6).as_bytes())]));
    folder.ok(&["ingest", "-q", "--profile", "prose", "--keep-fields", "from", "in"]);
    let run = folder.ok(&["rm", "in/secret.txt", "in/all.zip!x.txt", "--keep-out"]);
    assert!(run.stderr.contains("2 documents removed and kept out") && !run.stderr.contains("--exclude"), "{run:?}");
    folder.ok(&["rm", "--where", "from~=@firm", "--keep-out", "--yes"]);
    let rest = ["in/all.zip!y.txt", "in/box.mbox#2", "in/other.txt"];
    assert_eq!(names(&folder), rest);
    // Besides the same files, this ingest finds a mailbox with one more mail in front, a copy, and another
    // archive.
    folder.write("in/box.mbox", mail("eve@e.example", 7) + &mail("law@firm.example", 1) + &mail("bob@b.example", 2));
    folder.write("in/copy.txt", prose(3));
    folder.write("in/more.zip", zip([("z.txt", prose(5).as_bytes())]));
    assert_eq!(kept_out(&folder, &["in"]), 5);
    let rest = ["in/all.zip!y.txt", "in/box.mbox#1", "in/box.mbox#3", "in/other.txt"];
    assert_eq!(names(&folder), rest);
    // If the new content of a file is kept out, the stored version of the file is removed.
    folder.write("in/other.txt", prose(3));
    let run = folder.ok(&["ingest", "in"]);
    let told = "1 document was removed, because its container no longer holds it or its new content is kept out: in/other.txt\n";
    assert!(run.stderr.contains(told), "{run:?}");
    assert_eq!(names(&folder), rest[..3]);
    folder.write("in/other.txt", prose(4));
    // Merges a database that has the content, then verifies and backs up.
    folder.write("new/secret.txt", prose(3));
    folder.write("new/fresh.txt", prose(8));
    folder.ok(&["ingest", "-q", "--db", "new.db", "--profile", "prose", "new"]);
    let planned = folder.ok(&["merge", "--dry-run", "new.db"]).stdout;
    assert!(planned.starts_with("dry run: 1 document added, 1 skipped"), "{planned}");
    folder.ok(&["merge", "new.db"]);
    assert_eq!(names(&folder).iter().filter(|name| name.starts_with("new/")).count(), 1);
    folder.ok(&["verify"]);
    folder.ok(&["backup", "saved"]);
    folder.ok(&["restore", "saved", "--db", "back.db"]);
    let stats = |db: &str| folder.ok(&["stats", "--db", db, "--format", "json"]).json().remove(0)["kept_out"].clone();
    assert_eq!(stats(".fpdb").as_array().unwrap().len(), 3);
    assert_eq!(stats("back.db"), stats(".fpdb"));
    // A merge copies the list, except a content that is stored in the receiving database.
    folder.ok(&["merge", "-q", "--db", "new.db", ".fpdb"]);
    let others = stats(".fpdb")
        .as_array()
        .unwrap()
        .iter()
        .filter(|content| content["names"][0] != "in/secret.txt")
        .cloned()
        .collect();
    assert_eq!(stats("new.db"), serde_json::Value::Array(others));
    assert!(folder.ok(&["list", "--db", "new.db"]).stdout.contains("new/secret.txt"));
    assert!(folder.ok(&["stats"]).stdout.contains("kept out"));
    // One content is allowed again, by any spelling of its path.
    let readmitted = folder.ok(&["rm", "--readmit", "./in//secret.txt", "--format", "json"]).json().remove(0);
    assert_eq!((&readmitted["readmitted"], &readmitted["removed"]), (&1.into(), &0.into()), "{readmitted}");
    assert_eq!(kept_out(&folder, &["in/secret.txt", "in/copy.txt"]), 0);
    assert!(names(&folder).contains(&"in/secret.txt".to_owned()) && names(&folder).contains(&"in/copy.txt".to_owned()));
    let run = folder.run(&["rm", "--readmit", "in/secret.txt"]);
    assert!(
        run.status == 2 && run.stderr.contains("no content with the name or digest in/secret.txt is kept out"),
        "{run:?}"
    );
}

/// A member whose new content is kept out does not count as missing from its archive.
#[test]
fn only_a_replacing_ingest_removes_the_version_before() {
    for (on_change, stays) in [("keep", true), ("both", true), ("replace", false)] {
        let folder = Folder::new();
        folder.write("in/secret.txt", prose(3));
        folder.write("in/all.zip", zip([("x.txt", prose(1).as_bytes()), ("y.txt", prose(2).as_bytes())]));
        folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
        folder.ok(&["rm", "in/secret.txt", "--keep-out"]);
        let bytes = prose(3);
        folder.write("in/all.zip", zip([("x.txt", bytes.as_bytes()), ("y.txt", prose(2).as_bytes())]));
        folder.age("in/all.zip");
        assert_eq!(kept_out(&folder, &["--on-change", on_change, "--prune", "in"]), 2);
        assert_eq!(names(&folder).contains(&"in/all.zip!x.txt".to_owned()), stays, "{on_change}");
        assert!(names(&folder).contains(&"in/all.zip!y.txt".to_owned()), "{on_change}");
        // A later ingest that replaces reads the archive again.
        folder.ok(&["ingest", "-q", "in"]);
        assert!(!names(&folder).contains(&"in/all.zip!x.txt".to_owned()), "{on_change}");
    }
}

/// The documents of a renamed mailbox keep their numbers although one of its mails is kept out.
#[test]
fn a_renamed_mailbox_is_recognised_without_a_mail_that_is_kept_out() {
    let folder = Folder::new();
    let mails: String = (1..4).map(|number| mail("bob@b.example", number)).collect();
    folder.write("in/a.mbox", &mails);
    folder.age("in/a.mbox");
    folder.write("in/other.txt", prose(9));
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    let numbers = || -> Vec<(String, u64)> {
        let listed = folder.ok(&["list", "in/", "--format", "json"]).json();
        let mut listed: Vec<_> = listed
            .iter()
            .map(|document| (document["name"].as_str().unwrap().to_owned(), document["id"].as_u64().unwrap()))
            .collect();
        listed.sort_unstable();
        listed
    };
    folder.ok(&["rm", "in/a.mbox#2", "--keep-out"]);
    // The mailbox is read again, without the mail.
    assert_eq!(kept_out(&folder, &["in"]), 1);
    let mut expected = numbers();
    assert_eq!(expected.len(), 3);
    for (old, new) in [("a.mbox", "b.mbox"), ("b.mbox", "c.mbox")] {
        std::fs::rename(folder.path().join("in").join(old), folder.path().join("in").join(new)).unwrap();
        let run = folder.ok(&["ingest", "--prune", "--format", "json", "in"]).json().remove(0);
        assert_eq!(run["renamed"], 2, "{run}");
        expected.iter_mut().for_each(|(name, _)| *name = name.replace(old, new));
        assert_eq!(numbers(), expected);
    }
    // With another mail in place of the mail that is kept out, the mailbox is a different one.
    std::fs::remove_file(folder.path().join("in/c.mbox")).unwrap();
    folder.write("in/d.mbox", mails.replace("Subject: 2", "Subject: 8"));
    let run = folder.ok(&["ingest", "--prune", "--format", "json", "in"]).json().remove(0);
    assert!(run.get("renamed").is_none() && run["pruned"] == 2 && run["added"] == 3, "{run}");
}

/// The name of any copy lets the content in again, also from archives and mails whose files are unchanged.
#[test]
fn each_name_of_a_content_lets_it_in_again() {
    let folder = Folder::new();
    folder.write("in/a.txt", prose(1));
    folder.write("in/b.txt", prose(1));
    folder.write("in/c.zip", zip([("x.txt", prose(2).as_bytes())]));
    let law = mail("law@firm.example", 3);
    folder.write("in/law.eml", law.split_once('\n').unwrap().1);
    for file in ["a.txt", "b.txt", "c.zip", "law.eml"] {
        folder.age(&format!("in/{file}"));
    }
    let ingest = ["--keep-fields", "from", "in"];
    folder.ok(&[&["ingest", "-q", "--profile", "prose"], &ingest[..]].concat());
    let all = names(&folder);
    assert_eq!(all.len(), 4);
    let run = folder.ok(&["rm", "in/a.txt", "--keep-out"]);
    assert!(run.stderr.contains("the same bytes stay in in/b.txt"), "{run:?}");
    let run = folder.ok(&["rm", "--prefix", "in/", "--keep-out", "--yes"]);
    assert!(!run.stderr.contains("stay"), "{run:?}");
    // The archive is unchanged, so it is read once. Each run reports the same.
    for _ in 0..3 {
        assert_eq!(kept_out(&folder, &ingest), 4);
        assert_eq!(names(&folder), [""; 0]);
    }
    // The archive has been moved.
    std::fs::rename(folder.path().join("in/c.zip"), folder.path().join("in/d.zip")).unwrap();
    kept_out(&folder, &ingest);
    let all: Vec<String> = all.iter().map(|name| name.replace("c.zip", "d.zip")).collect();
    for (name, back) in [("in/a.txt", 2), ("in/c.zip!x.txt", 3), ("in/law.eml", 4)] {
        folder.ok(&["rm", "--readmit", name]);
        folder.ok(&[&["ingest", "-q"], &ingest[..]].concat());
        assert_eq!(names(&folder).len(), back, "{name}");
    }
    assert_eq!(names(&folder), all);
}

/// A bit is flipped in the table with the list. The readable part of the list stays, and the repair says that
/// the list may be incomplete.
#[test]
fn a_repair_keeps_the_list_and_says_if_it_may_be_incomplete() {
    let folder = Folder::new();
    for number in 0..3 {
        folder.write(&format!("in/{number}.txt"), prose(number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    folder.ok(&["rm", "-q", "in/1.txt", "--keep-out"]);
    // Opening for writing moves the log into tables.
    folder.ok(&["compact", "-q"]);
    let store = std::fs::read_dir(folder.path().join(".fpdb/store")).unwrap().map(|entry| entry.unwrap().path());
    let tables = store.filter(|path| path.extension().is_some_and(|extension| extension == "sst"));
    let find = |bytes: &[u8]| bytes.windows(8).position(|bytes| bytes == b"kept-out");
    let mut lists: Vec<_> = tables.filter(|path| find(&std::fs::read(path).unwrap()).is_some()).collect();
    assert_eq!(lists.len(), 1);
    let list = lists.remove(0);
    let mut bytes = std::fs::read(&list).unwrap();
    let name = bytes.windows(8).position(|bytes| bytes == b"in/1.txt").unwrap();
    bytes[name] ^= 1;
    std::fs::write(list, bytes).unwrap();
    assert_eq!(folder.run(&["verify"]).status, 2);
    let run = folder.run(&["verify", "--repair"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(!run.stdout.contains("nothing is lost"), "{run:?}");
    assert!(run.stdout.contains("the list of what is kept out may be incomplete: 1 content salvaged"), "{run:?}");
    assert!(run.stdout.contains("remembered flags may be lost: those of "), "{run:?}");
    assert!(run.stderr.contains("`fpdb restore BACKUPS --db OTHER`"), "{run:?}");
    assert_eq!(kept_out(&folder, &["in"]), 1);
    assert_eq!(names(&folder), ["in/0.txt", "in/2.txt"]);
    folder.ok(&["verify"]);
}

/// Cuts the last bytes off the log of the database.
fn cut_log(folder: &Folder) {
    let store = std::fs::read_dir(folder.path().join(".fpdb/store")).unwrap().map(|entry| entry.unwrap().path());
    let log = store.filter(|path| path.extension().is_some_and(|end| end == "log")).max().unwrap();
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() - 10]).unwrap();
}

/// The commit that removed the documents is lost with the end of the log. The list of kept-out contents is
/// not.
#[test]
fn a_repair_does_not_bring_back_what_the_list_keeps_out() {
    let folder = Folder::new();
    for (name, number) in [("a", 1), ("b", 1), ("c", 2), ("d", 3)] {
        folder.write(&format!("in/{name}.txt"), prose(number));
    }
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    folder.ok(&["rm", "-q", "in/a.txt", "in/c.txt", "--keep-out"]);
    // If the repair removes a document, its file is not needed.
    std::fs::remove_file(folder.path().join("in/c.txt")).unwrap();
    cut_log(&folder);
    assert_eq!(folder.run(&["list"]).status, 2);
    let repaired = folder.run(&["verify", "--repair"]);
    assert_eq!(repaired.status, 2, "{repaired:?}");
    // A document with the same bytes as a stored one may have been added again.
    let told = "  1 document had or may have come back, and is removed: its content is kept out\n  \
                the bytes of in/b.txt and of 1 other document are kept out, but stored: `fpdb rm --keep-out NAME` removes a document\n";
    assert!(repaired.stdout.contains(told), "{repaired:?}");
    assert!(repaired.stdout.contains("so at least 1 removed document came back"), "{repaired:?}");
    assert_eq!(names(&folder), ["in/a.txt", "in/b.txt", "in/d.txt"]);
    folder.ok(&["verify"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/a.txt", "in/b.txt"]);
    assert_eq!(kept_out(&folder, &["in"]), 2);
}

/// Contents that another database keeps out were removed there, not here.
#[test]
fn a_repair_after_a_merge_keeps_what_only_the_other_database_removed() {
    // The second database has another profile, so its texts are read again.
    for profile in ["prose", "words"] {
        let folder = Folder::new();
        for number in 0..4 {
            folder.write(&format!("in/{number}.txt"), prose(number));
        }
        folder.write("in/copy.txt", prose(1));
        folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
        folder.ok(&["ingest", "-q", "--db", "other", "--profile", profile, "in"]);
        folder.ok(&["rm", "-q", "--db", "other", "in/0.txt", "in/1.txt", "in/3.txt", "--keep-out"]);
        folder.ok(&["rm", "-q", "in/copy.txt", "in/3.txt"]);
        let stored = names(&folder);
        let flags: &[&str] = if profile == "prose" { &[] } else { &["--reread"] };
        folder.ok(&[&["merge", "-q"], flags, &["other"]].concat());
        assert_eq!(names(&folder), [&["in/0.txt", "in/1.txt", "in/2.txt"][..], &["in/copy.txt"]].concat());
        assert_eq!(stored.len(), 3);
        folder.write("later.txt", prose(5));
        folder.ok(&["ingest", "-q", "later.txt"]);
        cut_log(&folder);
        let repaired = folder.run(&["verify", "--repair"]);
        assert_eq!(repaired.status, 2, "{repaired:?}");
        assert!(!repaired.stdout.contains("its content is kept out"), "{repaired:?}");
        assert!(names(&folder).len() >= 4, "{:?}", names(&folder));
        for name in &stored {
            assert!(names(&folder).contains(name), "{name}");
        }
        assert_eq!(kept_out(&folder, &["in/3.txt"]), 1);
    }
}

/// Nobody removed this document here. So it stays after an edit and its undo, and after `rm` it comes back.
#[test]
fn a_merge_does_not_keep_out_what_only_this_database_has() {
    for name in ["in/1.txt", "in/copy.txt"] {
        let folder = Folder::new();
        for number in 1..4 {
            folder.write(&format!("in/{number}.txt"), prose(number));
        }
        folder.ok(&["ingest", "-q", "--db", "other", "--profile", "prose", "in"]);
        folder.ok(&["rm", "-q", "--db", "other", "in/1.txt", "in/2.txt", "--keep-out"]);
        folder.write(name, prose(1));
        let mut stored = [name, "in/3.txt"];
        stored.sort_unstable();
        folder.ok(&["ingest", "-q", "--profile", "prose", name]);
        let planned = folder.ok(&["merge", "--dry-run", "--format", "json", "other"]);
        assert_eq!(planned.json()[0]["not_kept_out"], 1, "{planned:?}");
        let run = folder.ok(&["merge", "--format", "json", "other"]);
        assert_eq!(run.json()[0]["not_kept_out"], 1, "{run:?}");
        assert!(run.stderr.contains("1 content that other keeps out is stored here and stays: `fpdb rm"), "{run:?}");
        for bytes in [prose(5), prose(1)] {
            folder.write(name, bytes);
            folder.ok(&["ingest", "-q", name]);
            assert_eq!(names(&folder), stored);
        }
        folder.ok(&["rm", "-q", name]);
        assert_eq!(kept_out(&folder, &[name, "in/2.txt"]), 1);
        assert_eq!(names(&folder), stored);
    }
}

/// A document that the merge replaces does not count as staying, even if it left the memory of the dry run.
#[test]
fn a_dry_run_of_a_merge_counts_what_stays_as_the_merge_does() {
    for (flags, later) in [(&[][..], 0), (&["--reread"], 0), (&["--memory", "1MiB"], 600)] {
        let folder = Folder::new();
        for number in 1..4 {
            folder.write(&format!("in/{number}.txt"), prose(number));
        }
        folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
        folder.ok(&["ingest", "-q", "--profile", "prose", "--db", "other", "in"]);
        folder.ok(&["rm", "-q", "--db", "other", "in/1.txt", "in/2.txt", "--keep-out"]);
        folder.write("in/1.txt", prose(5));
        (0..later).for_each(|number| _ = folder.write(&format!("later/{number}.txt"), format!("{number}")));
        folder
            .ok(&[&["ingest", "-q", "--db", "other", "in/1.txt"][..], if later > 0 { &["later"] } else { &[] }]
                .concat());
        let merge = |more: &[&str]| {
            let run = folder.ok(&[&["merge", "other", "--format", "json"], flags, more].concat());
            run.json()[0]["not_kept_out"].clone()
        };
        assert_eq!([merge(&["--dry-run"]), merge(&[])], [1, 1], "{flags:?}");
    }
}

/// The other database keeps out a content and stores a copy of it. A merge brings both.
#[test]
fn a_merge_brings_what_the_other_database_keeps_out_beside_a_copy() {
    let folder = Folder::new();
    folder.write("in/1.txt", prose(1));
    folder.write("in/copy.txt", prose(1));
    folder.ok(&["ingest", "-q", "--db", "other", "--profile", "prose", "in"]);
    folder.ok(&["rm", "-q", "--db", "other", "in/copy.txt", "--keep-out"]);
    folder.ok(&["init", "-q", "--profile", "prose"]);
    let run = folder.ok(&["merge", "--format", "json", "other"]);
    assert_eq!(run.json()[0]["not_kept_out"], serde_json::Value::Null, "{run:?}");
    folder.ok(&["rm", "-q", "in/1.txt"]);
    assert_eq!(kept_out(&folder, &["in"]), 2);
}

/// A merge can bring a list of kept-out contents without any document.
#[test]
fn an_assembly_adds_nothing_that_a_database_without_documents_keeps_out() {
    let folder = Folder::new();
    folder.write("secret.txt", prose(1));
    folder.ok(&["ingest", "-q", "--db", "old", "--profile", "prose", "secret.txt"]);
    folder.ok(&["rm", "-q", "--db", "old", "--keep-out", "secret.txt"]);
    folder.ok(&["init", "-q", "--profile", "prose"]);
    folder.ok(&["merge", "-q", "old"]);
    let documents = [("copy.txt".to_owned(), prose(1).into()), ("other.txt".to_owned(), prose(2).into())];
    build_of(&folder.path().join("build"), &Profile::named("prose").unwrap(), documents);
    let added = folder.ok(&["assemble", "build", "--format", "json"]).json().remove(0);
    assert_eq!((&added["added"], &added["kept_out"]), (&1.into(), &1.into()), "{added}");
    assert_eq!(names(&folder), ["other.txt"]);
    folder.ok(&["verify"]);
}
