//! Metadata of documents: tables, kept fields; boilerplate; front-ends.

use super::{folder_with, list, sample};
use crate::bad_input::prose;
use crate::support::Folder;

#[test]
fn a_table_says_what_documents_are() {
    let folder = folder_with(&["texts.zip", "texts/fed01.txt"]);
    folder.write(
        "about.csv",
        "filename,label,created_at,group,team\n./texts/fed01.txt,essay,1787-10-27,a,x\ntexts.zip!texts/fed10.txt,copy,,b,\nnowhere.txt,gone,,,\n",
    );
    let arguments = ["ingest", "--profile", "prose", "--metadata", "about.csv", "texts", "texts.zip"];
    let run = folder.ok(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(run.json()[0]["unmatched"], serde_json::json!(["nowhere.txt"]));
    let human = folder.ok(&arguments);
    let warning = "warning: 1 row of the metadata matches no document: nowhere.txt\n";
    assert!(human.stderr.contains(warning), "{human:?}");
    // A flag without an effect is reported with --quiet too.
    let quiet = folder.ok(&[&["ingest", "-q"], &arguments[1..]].concat());
    assert_eq!(quiet.stderr, warning);
    let metadata =
        |name: &str| list(&folder).into_iter().find(|document| document["name"] == name).unwrap()["metadata"].clone();
    let essay = serde_json::json!({ "label": "essay", "created_at": "1787-10-27", "group": "a", "team": "x" });
    assert_eq!(metadata("texts/fed01.txt"), essay);
    assert_eq!(metadata("texts.zip!texts/fed10.txt"), serde_json::json!({ "label": "copy", "group": "b" }));
    assert_eq!(metadata("texts.zip!texts/fed51.txt"), serde_json::json!({}));

    let found = folder.ok(&["query", "texts/fed01.txt", "--format", "json"]).json();
    let same =
        found[0]["matches"].as_array().unwrap().iter().find(|found| found["document"] == "texts/fed01.txt").unwrap();
    assert_eq!(same["metadata"], essay);
    assert!(folder.ok(&["query", "texts/fed01.txt"]).stdout.contains("texts/fed01.txt  [essay, a]"));
    assert!(folder.ok(&["list", "texts/"]).stdout.contains("texts/fed01.txt  [essay, a]"));
    let page = folder.ok(&["show", "texts/fed01.txt"]).stdout;
    assert!(page.contains("  created_at    1787-10-27\n"), "{page}");

    let pairs = folder.ok(&["pairs", "--no-groups", "--format", "json"]).json();
    let pair = pairs.iter().find(|pair| pair["a"] == "texts/fed01.txt").unwrap();
    assert_eq!((&pair["a_metadata"], pair.get("b_metadata")), (&essay, None), "{pair}");
    assert!(folder.ok(&["pairs", "--no-groups"]).stdout.contains("texts/fed01.txt  [essay, a]  texts.zip!"));
    let csv = folder.ok(&["pairs", "--no-groups", "--format", "csv"]).stdout;
    assert!(csv.lines().any(|row| row.contains(r#""label"":""essay"#) && row.contains(",{},")), "{csv}");

    // Another table changes only the metadata. A run without a table changes no metadata.
    folder.write("new.csv", "filename,label\ntexts/fed01.txt,draft\n");
    let run = folder.ok(&["ingest", "--metadata", "new.csv", "texts", "texts.zip", "--format", "json"]).json();
    assert_eq!((&run[0]["added"], &run[0]["replaced"]), (&0.into(), &0.into()));
    folder.ok(&["ingest", "texts", "texts.zip"]);
    assert_eq!(metadata("texts/fed01.txt"), serde_json::json!({ "label": "draft" }));
    assert_eq!(metadata("texts.zip!texts/fed10.txt"), serde_json::json!({ "label": "copy", "group": "b" }));
}

#[test]
fn a_table_that_is_none_ends_the_run_before_it_begins() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.write("about.csv", "name,label\na.txt,x\n");
    let run = folder.run(&["ingest", "a.txt", "--metadata", "about.csv"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("about.csv is not a metadata table: its header has no column filename"), "{run:?}");
    assert!(!folder.path().join(".fpdb").exists());
}

#[test]
fn fields_of_records_are_kept() {
    for (name, number, tags) in [("texts.jsonl", "1", Some(r#"{"part": [1]}"#)), ("lz4.parquet", "1", None)] {
        let folder = folder_with(&[name]);
        folder.ok(&["ingest", "-q", "--keep-fields", "n,tags", name]);
        let document = &list(&folder)[1];
        assert_eq!(document["metadata"]["n"], number, "{document}");
        assert_eq!(document["metadata"]["id"], "fed10.txt", "{document}");
        assert_eq!(document["metadata"]["tags"].as_str(), tags, "{document}");
        assert_eq!(document["member"], ":2");
    }
}

/// Headers of mails are kept like fields of records, also for mails that are already stored. A note names
/// fields that no document has.
#[test]
fn headers_of_mails_are_kept_and_absent_fields_are_named() {
    let folder = Folder::new();
    let mail = |number: usize, subject: &str| {
        format!("Date: Mon, {number} Mar 1999 12:00:00 +0100\nSUBJECT: {subject}\n\n{}\n", prose(number))
    };
    folder.write(
        "box.mbox",
        format!("From a@b 1999\n{}\nFrom a@b 1999\n{}", mail(1, "one"), mail(2, "=?utf-8?q?zw=C3=B6?=")),
    );
    folder.write("mails/3.eml", mail(3, "three"));
    let metadata = |name: &str| list(&folder).into_iter().find(|one| one["name"] == name).unwrap()["metadata"].clone();
    let kept = |day: usize, subject: &str| serde_json::json!({ "date": format!("1999-03-0{day}T12:00:00+01:00"), "Subject": subject });
    folder.ok(&["ingest", "-q", "box.mbox"]);
    assert_eq!(metadata("box.mbox#1"), serde_json::json!({}));
    let run = folder.ok(&["ingest", "-q", "--keep-fields", "date,Subject,topic", "box.mbox", "mails"]);
    assert_eq!(metadata("box.mbox#1"), kept(1, "one"));
    assert_eq!(metadata("box.mbox#2"), kept(2, "zw\u{f6}"));
    assert_eq!(metadata("mails/3.eml"), kept(3, "three"));
    assert!(
        run.stderr
            .contains("warning: no document that this run read has the field topic (--keep-fields, --id-field)\n"),
        "{run:?}"
    );

    folder.write(
        "a.jsonl",
        format!("{{\"text\": \"{}\", \"url\": null, \"n\": 1}}\n", prose(9).trim().replace('\n', " ")),
    );
    let flags = ["ingest", "--format", "json", "--keep-fields", "url,n,extra", "--id-field", "key", "a.jsonl"];
    let run = folder.ok(&flags);
    assert_eq!(run.json()[0]["absent_fields"], serde_json::json!(["key", "url", "extra"]), "{run:?}");
    // A run that reads no document cannot report absent fields.
    assert_eq!(folder.ok(&flags).json()[0].get("absent_fields"), None);
}

/// The list of fields to keep is part of how a mail file was read. So another list makes the run read the
/// mail again.
#[test]
fn unchanged_mail_files_are_read_again_for_other_fields_only() {
    let folder = Folder::new();
    let write = |name: &str, content: &str| {
        let path = folder.write(name, content);
        let past = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(past).unwrap();
    };
    let mail = |from: &str, text: usize| format!("From: {from}@example.org\nSubject: late\n\n{}\n", prose(text));
    let metadata = || list(&folder).iter().map(|one| one["metadata"].clone()).collect::<Vec<_>>();
    let ingest = |fields: &str| {
        let report = folder.ok(&["ingest", "--format", "json", "--keep-fields", fields, "in"]).json().remove(0);
        let counts = ["added", "replaced", "unchanged"].map(|count| report[count].as_u64().unwrap());
        (counts, report["absent_fields"].clone())
    };
    write("in/a.txt", &prose(1));
    write("in/b.eml", &mail("zoe", 2));
    folder.ok(&["ingest", "-q", "in"]);
    for (fields, expected) in [
        ("subject", serde_json::json!({ "subject": "late" })),
        ("subject,from", serde_json::json!({ "subject": "late", "from": "zoe@example.org" })),
    ] {
        assert_eq!(ingest(fields), ([0, 0, 2], serde_json::Value::Null));
        assert_eq!(metadata(), [serde_json::json!({}), expected], "{fields}");
        // With the same fields, the file is not read, so the test's change with the same size and time is not
        // noticed.
        write("in/b.eml", &mail("ann", 2));
        assert_eq!(ingest(fields), ([0, 0, 2], serde_json::Value::Null));
        write("in/b.eml", &mail("zoe", 2));
    }
    assert_eq!(ingest("subjct"), ([0, 0, 2], serde_json::json!(["subjct"])));
    // A changed mail replaces the stored one, and is then unchanged.
    write("in/b.eml", &mail("zoe", 3).replace("late", "later"));
    assert_eq!(ingest("subject").0, [0, 1, 1]);
    assert_eq!(ingest("subject").0, [0, 0, 2]);
    assert_eq!(metadata()[1]["subject"], "later");
    folder.ok(&["verify"]);
}

#[test]
fn boilerplate_is_never_a_match_and_is_ignored_in_others() {
    let folder = Folder::new();
    let (licence, essay) = (prose(1), prose(2));
    folder.write("licence.txt", &licence);
    folder.write("one/a.txt", format!("{licence}\n{essay}"));
    folder.write("one/b.txt", format!("{licence}\n{}", prose(3)));
    folder.write("q.txt", format!("{licence}\n{essay}"));
    folder.ok(&["ingest", "-q", "--profile", "prose", "one"]);
    let query = |name: &str| folder.ok(&["query", name, "--format", "json"]).json()[0].clone();
    assert_eq!(query("q.txt")["matches"].as_array().unwrap().len(), 2);
    assert_eq!(query("q.txt")["boilerplate"], 0);
    folder.ok(&["ingest", "-q", "--boilerplate", "licence.txt"]);
    let found = query("q.txt");
    let matches = found["matches"].as_array().unwrap();
    assert!(found["boilerplate"].as_u64().unwrap() > 20, "{found}");
    assert_eq!(matches[0]["document"], "one/a.txt", "{found}");
    // A k-gram across the end of the licence is not a k-gram of the licence itself.
    assert!(matches.iter().skip(1).all(|found| found["shared"].as_u64().unwrap() < 3), "{found}");
    // The whole query is boilerplate, so not even the same document matches.
    let found = query("licence.txt");
    assert_eq!((&found["boilerplate"], found["matches"].as_array().unwrap().len()), (&found["looked_up"], 0));
    let pairs = |flags: &[&str]| folder.ok(&[&["pairs", "--format", "json"], flags].concat()).json();
    assert!(pairs(&["--min-shared", "5"]).is_empty(), "{:?}", pairs(&[]));
    // The document stays boilerplate when it is ingested without the flag, until it is removed.
    folder.ok(&["ingest", "-q", "."]);
    assert_eq!(list(&folder)[2]["boilerplate"], true);
    folder.ok(&["rm", "licence.txt"]);
    assert_eq!(query("one/a.txt")["boilerplate"], 0);
    assert_eq!(query("q.txt")["matches"].as_array().unwrap().len(), 2 + 1);
    // A stored document can become boilerplate.
    folder.ok(&["ingest", "-q", "licence.txt"]);
    let run = folder.ok(&["ingest", "--boilerplate", "licence.txt", "--format", "json"]).json();
    assert_eq!((&run[0]["replaced"], &run[0]["made_boilerplate"]), (&1.into(), &1.into()));
    let again = folder.ok(&["ingest", "--boilerplate", "licence.txt"]).stdout;
    assert!(!again.contains("from now on"), "{again}");
    assert!(query("q.txt")["boilerplate"].as_u64().unwrap() > 20);
    folder.ok(&["verify"]);
}

#[test]
fn only_the_paths_of_boilerplate_are_marked() {
    let folder = Folder::new();
    let handout = prose(1);
    for (name, own) in [("hw/ann/a.txt", 2), ("hw/bob/a.txt", 3)] {
        folder.write(name, format!("{handout}\n{}\n{}", prose(own), prose(9)));
    }
    folder.write("hw/handed-out/a.txt", &handout);
    folder.write("hw/handed-out/b.txt", prose(4));
    folder.write("hw/handed-out2.txt", prose(5));
    folder.write("more/licence.txt", prose(6));
    let marked = || -> Vec<String> {
        let listed = list(&folder).into_iter().filter(|document| document["boilerplate"] == true);
        listed.map(|document| document["name"].as_str().unwrap().to_owned()).collect()
    };
    let ingest = ["ingest", "--profile", "prose", "hw", "--boilerplate", "./hw/handed-out", "more"];
    let run = folder.ok(&ingest);
    assert!(run.stdout.starts_with("6 documents added, 3 of these boilerplate, 2 unchanged"), "{run:?}");
    let handed_out = ["hw/handed-out/a.txt", "hw/handed-out/b.txt", "more/licence.txt"];
    assert_eq!(marked(), handed_out);
    assert_eq!(folder.ok(&["pairs", "--min-shared", "5", "--format", "json"]).json().len(), 1);
    assert_eq!(folder.ok(&["stats", "--format", "json"]).json()[0]["boilerplate"], 3);
    assert!(folder.ok(&["stats"]).stdout.contains("documents      6, 3 of them boilerplate\n"));
    // Without the flag, no mark changes, even if files have changed.
    folder.write("hw/handed-out/a.txt", format!("{handout}\n{}", prose(7)));
    folder.write("hw/handed-out/new.txt", prose(8));
    let again = folder.ok(&["ingest", "hw", "--format", "json"]).json();
    assert_eq!(
        (&again[0]["added"], &again[0]["replaced"], &again[0]["boilerplate"]),
        (&1.into(), &1.into(), &1.into())
    );
    let mut now = marked();
    now.sort();
    assert_eq!(now, handed_out);
    assert!(!folder.ok(&["pairs", "--min-shared", "5"]).stderr.contains("all stored documents"));
    folder.ok(&["verify"]);
}

#[test]
fn answers_say_that_all_documents_are_boilerplate() {
    let folder = Folder::new();
    folder.write("hw/a.txt", prose(1));
    folder.write("hw/b.txt", prose(1));
    let run = folder.ok(&["ingest", "--profile", "prose", "--boilerplate", "hw"]);
    assert!(run.stdout.starts_with("2 documents added, 2 of these boilerplate"), "{run:?}");
    for command in [&["pairs"][..], &["query", "hw/a.txt"], &["dedup"], &["dedup", "--passages"]] {
        let run = folder.ok(&[command, &["-q", "--format", "json"]].concat());
        assert!(run.stderr.contains("all stored documents are boilerplate"), "{command:?} {run:?}");
    }
    assert_eq!(folder.run(&["ingest"]).status, 2);
}

#[test]
fn each_document_says_which_front_end_it_got() {
    let folder = Folder::new();
    folder.write("a.txt", prose(1));
    folder.write("b.bin", b"\0\x01\x02".repeat(100));
    let run = folder.ok(&["ingest", "-v", "--profile", "prose", ".", "--format", "json"]);
    assert!(run.stderr.contains("added a.txt (text)\n"), "{run:?}");
    assert!(run.stderr.contains("skipped b.bin: "), "{run:?}");
    let report = &run.json()[0];
    assert_eq!(report["formats"], serde_json::json!({ "text": 1 }));
    assert_eq!(report["skipped"][0]["name"], "b.bin");
    assert_eq!(list(&folder)[0]["format"], "text");
    // With `--as text`, the binary file is read.
    let run = folder.ok(&["ingest", "-v", "--as", "text", "b.bin"]);
    assert!(run.stderr.contains("added b.bin (text)\n"), "{run:?}");
    // The same content in another format replaces the document.
    let run = folder.ok(&["ingest", "-v", "--as", "markdown", "a.txt"]);
    assert!(run.stderr.contains("replaced a.txt (markdown)\n"), "{run:?}");
    let run = folder.ok(&["ingest", "-v", "a.txt"]);
    assert!(run.stderr.contains("unchanged a.txt (markdown)\n"), "{run:?}");
    let run = folder.run(&["ingest", "--as", "cobol", "a.txt"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("expected one of auto, code, text, "), "{run:?}");
    assert!(sample("texts").is_dir());
}

/// A field `group`, as from a class list, keeps documents of one group out of pairs. So `pairs` says this.
#[test]
fn pairs_says_that_groups_are_kept_apart() {
    let folder = Folder::new();
    let record = |group: &str| serde_json::json!({ "text": prose(1), "group": group }).to_string() + "\n";
    folder.write("a.jsonl", ["Monday", "Monday", "Tuesday"].map(record).concat());
    folder.ok(&["ingest", "-q", "--profile", "prose", "--keep-fields", "group", "a.jsonl"]);
    let run = folder.ok(&["pairs"]);
    let told = "2 documents have the same `group` in their metadata as another, and documents of one group are no pair (--no-groups pairs them)";
    assert!(run.stdout.contains("2 pairs") && run.stderr.contains(told), "{run:?}");
    let run = folder.ok(&["pairs", "--no-groups"]);
    assert!(run.stdout.contains("3 pairs") && !run.stderr.contains("group"), "{run:?}");
}
