//! Documents that cannot be read, or hold nothing: each is reported, and the run continues.

use std::path::Path;
use std::process::Command;

use fpdb::{Database, IngestOptions, Profile, SkipReason, Source, Task};
use insta::assert_snapshot;

use super::{folder_with_database, prose, tell, told};
use crate::support::{Folder, Run, gzip, zip};

/// A new database of the profile `prose`, empty.
fn empty_database() -> Folder {
    let folder = Folder::new();
    folder.ok(&["init", "--profile", "prose"]);
    folder
}

/// The names of the stored documents.
fn stored(folder: &Folder) -> Vec<String> {
    folder.ok(&["list", "--format", "json"]).json().iter().map(|d| d["name"].as_str().unwrap().to_owned()).collect()
}

/// Ingests, and returns the result without the line of rates and times.
fn tell_ingest(folder: &Folder, arguments: &[&str]) -> String {
    let mut run = folder.run(&[&["ingest"], arguments].concat());
    run.stdout = run.stdout.lines().filter(|line| !line.contains(" s, ")).map(|line| format!("{line}\n")).collect();
    told(folder, &run)
}

#[test]
fn a_missing_path_is_reported_and_the_others_are_stored() {
    let folder = empty_database();
    folder.write("a.txt", prose(1));
    folder.write("z.txt", prose(2));
    assert_snapshot!(tell_ingest(&folder, &["a.txt", "missing.txt", "z.txt"]), @"
    status 2
    --- stdout
    2 documents added, 1 failed
    --- stderr
    error: cannot read missing.txt: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
    assert_eq!(stored(&folder), ["a.txt", "z.txt"]);
    let run = folder.run(&["ingest", "missing.txt", "--format", "json"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.json()[0]["failed"][0]["name"], "missing.txt");
    assert_snapshot!(tell(&folder, &["query", "missing.txt", "--no-passages", "a.txt", "--top", "1"]), @"
    status 2
    --- stdout
    a.txt  1.1 KiB, 938 symbols, 79 fingerprints at window 20
      79 of 79 fingerprints found (100.0%), in 1 document
      containment  of document  resemblance  document
           100.0%       100.0%       100.0%  a.txt  (identical)
    --- stderr
    error: cannot read missing.txt: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
}

#[test]
fn what_may_not_be_read_is_reported() {
    let folder = empty_database();
    folder.write("docs/a.txt", prose(1));
    folder.write("docs/z.txt", prose(2));
    // The test uses a file as a folder, because permissions do not stop root.
    let run = folder.run(&["ingest", "docs/a.txt/b", "docs"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("error: cannot read docs/a.txt/b: "), "{}", run.stderr);
    assert_eq!(stored(&folder), ["docs/a.txt", "docs/z.txt"]);
    {
        use std::os::unix::fs::PermissionsExt;
        let secret = folder.write("docs/secret.txt", prose(3));
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o0)).unwrap();
        if std::fs::read(&secret).is_ok() {
            return eprintln!("skipped: permissions do not bind this user");
        }
        assert_snapshot!(tell_ingest(&folder, &["docs"]), @"
        status 2
        --- stdout
        0 documents added, 2 unchanged, 1 failed
        --- stderr
        error: cannot read docs/secret.txt: Permission denied (os error 13)
        hint: check the permissions of the file and of the folders above it
        ");
    }
}

#[test]
fn messages_about_records_fit_records() {
    let folder = empty_database();
    let nuls = "\\u0000ab".repeat(40);
    folder.write("r.jsonl", format!("{{\"text\":\"{nuls}\"}}\n{{\"text\":\"... ***\"}}\n"));
    let run = folder.run(&["ingest", "-v", "r.jsonl"]);
    assert!(run.stderr.contains("skipped r.jsonl:1: binary data: there are NUL bytes near its beginning\n"), "{run:?}");
    assert!(run.stderr.contains("empty records and punctuation: r.jsonl:2\n"), "{run:?}");
    assert!(!run.stderr.contains("file"), "{run:?}");
}

#[test]
fn archives_that_are_not_read_and_documents_without_text_are_named() {
    let folder = empty_database();
    let archive = |begin: &[u8]| [begin, &b"\x00\x04\xf3\x01\x9c"[..].repeat(80)].concat();
    folder.write("docs/a.txt", prose(1));
    folder.write("docs/b.7z", archive(b"7z\xbc\xaf\x27\x1c"));
    folder.write("docs/c.rar", archive(b"Rar!\x1a\x07"));
    folder.write("docs/essay.doc", archive(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"));
    folder.write("docs/mail.MSG", archive(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"));
    folder.write("docs/all.pst", archive(b"!BDN"));
    folder.write("docs/notes.rtf", "{\\rtf1\\ansi Some notes}");
    folder.write("docs/Thumbs.db", archive(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"));
    folder.write("docs/dots.txt", "... *** ...");
    folder.write("docs/empty.txt", "");
    folder.write("docs/picture.html", "<html><body><img src='a.png' alt='a picture'></body></html>");
    assert_snapshot!(tell_ingest(&folder, &["docs"]), @"
    status 0
    --- stdout
    4 documents added, 7 skipped (--verbose names them)
    --- stderr
    2 archives of kinds that fpdb does not read were skipped: docs/b.7z, docs/c.rar
    hint: unpack them and ingest what comes out
    2 office documents of kinds that fpdb does not read were skipped: docs/essay.doc, docs/notes.rtf
    hint: save them as DOCX, PDF or text and ingest what comes out: `libreoffice --headless --convert-to docx FILE`
    2 files of Outlook were skipped: docs/all.pst, docs/mail.MSG
    hint: save the mails in them as .eml and ingest what comes out
    2 documents have no text to compare, such as scanned pages, empty records and punctuation: docs/dots.txt, docs/picture.html
    ");
    for name in ["more/c.rar", "more/d.rar", "more/e.rar"] {
        folder.write(name, archive(b"Rar!\x1a\x07"));
    }
    let run = folder.run(&["ingest", "docs/b.7z", "more", "--format", "json"]);
    let summary = run.json().remove(0);
    let counts = ["failures", "skips", "unread_archives"].map(|field| summary[field].as_u64());
    assert_eq!(
        (run.status, counts, &summary["without_text"]),
        (2, [Some(1), Some(3), Some(3)], &serde_json::Value::Null)
    );
    assert!(
        run.stderr.contains("error: docs/b.7z: not a text document: a 7z archive, which is not read\n"),
        "{run:#?}"
    );
    let told = "3 archives of kinds that fpdb does not read were skipped: more/c.rar, more/d.rar, more/e.rar\n";
    assert!(run.stderr.contains(told), "{run:#?}");
}

/// Documents without a fingerprint are in no pair, so they are named.
#[test]
fn documents_too_short_to_compare_are_named() {
    let folder = empty_database();
    for student in ["ann", "bob", "eve"] {
        folder.write(&format!("hw/{student}/scan.txt"), "Page 1");
        folder.write(&format!("hw/{student}/empty.txt"), "");
    }
    folder.write("hw/ann/essay.txt", prose(1));
    assert_snapshot!(tell_ingest(&folder, &["hw"]), @"
    status 0
    --- stdout
    7 documents added, 4 identical to another document
    --- stderr
    3 documents have too little text to compare: hw/ann/scan.txt, hw/bob/scan.txt, hw/eve/scan.txt
    ");
    let listed = |flags: &[&str]| folder.ok(&[&["list", "--format", "csv"], flags].concat()).stdout.lines().count() - 1;
    assert_eq!((listed(&[]), listed(&["--too-short"]), listed(&["--too-short", "hw/ann"])), (7, 6, 2));
    let told = |flags: &[&str]| folder.ok(&[&["pairs"], flags].concat()).stderr;
    assert_snapshot!(told(&[]), @"3 documents have no text or too little to compare: hw/ann/scan.txt, hw/bob/scan.txt, hw/eve/scan.txt");
    assert_snapshot!(told(&["--submission-by", "hw"]), @"2 submissions have no text or too little to compare: hw/bob, hw/eve");
    folder.write("dots.txt", "... *** ...");
    folder.write("scan.txt", "Page 2");
    assert_snapshot!(tell_ingest(&folder, &["dots.txt", "scan.txt"]), @"
    status 0
    --- stdout
    2 documents added
    --- stderr
    2 documents cannot be compared: 1 has no text to compare, such as scanned pages, empty records and punctuation, and 1 has too little: dots.txt, scan.txt
    ");
    assert_snapshot!(told(&["--submission-by", "hw"]), @"
    2 documents are in no submission (--submission-by hw) and stand for themselves
    4 submissions or other documents have no text or too little to compare: hw/bob, hw/eve, dots.txt, ... (--verbose lists them)
    ");
    let summary = folder.ok(&["ingest", "hw", "dots.txt", "--format", "json"]).json().remove(0);
    assert_eq!(summary.get("too_short"), None);
    let run = folder.ok(&["ingest", "--db", "other", "hw", "scan.txt", "--format", "json"]);
    assert_eq!(run.json()[0]["too_short"], 4);
    assert!(run.stderr.contains("hw/eve/scan.txt, ... (`fpdb list --too-short` lists them)\n"), "{run:?}");
}

/// Many empty texts show that something went wrong before the ingest, so they are counted. Empty files are
/// not.
#[test]
fn empty_records_count_as_documents_without_text() {
    let folder = empty_database();
    folder.write("r.jsonl", format!("{}\n{}", serde_json::json!({ "text": prose(1) }), "{\"text\":\"\"}\n".repeat(3)));
    folder.write("all.zip", zip([("a/__init__.py", ""), ("a/b.jsonl", "{\"text\":\"\"}\n")]));
    let run = folder.ok(&["ingest", "r.jsonl", "all.zip", "--format", "json"]);
    assert_eq!(run.json()[0]["without_text"], 4);
    let told = "4 documents have no text to compare, such as scanned pages, empty records and punctuation: ";
    assert!(run.stderr.contains(told), "{run:#?}");
    let run = folder.ok(&["pairs"]);
    assert!(run.stderr.contains("4 documents have no text or too little to compare: "), "{run:#?}");
}

/// The library itself distinguishes these cases, so each host has the same summary.
#[test]
fn a_file_that_is_no_document_is_a_failure_if_it_is_named_and_skipped_if_it_is_met() {
    let folder = Folder::new();
    let binary = b"\0\x01\x02".repeat(100);
    for name in ["docs/met.bin", "named.bin", "listed.bin"] {
        folder.write(name, &binary);
    }
    folder.write("named.bin.gz", gzip(&binary));
    folder.write("members.jsonl", "{\"text\":null}\n{\"text\":\"a text\"}\n");
    let path = |name: &str| folder.path().join(name);
    let database = Database::create(path("db"), Profile::named("prose").unwrap()).unwrap();
    let named =
        ["docs", "named.bin", "named.bin.gz", "members.jsonl", "docs/met.bin"].map(|name| Source::Path(path(name)));
    let sources = [&named[..], &[Source::Listed(path("listed.bin"))]].concat();
    let summary = database.ingest_sources(&sources, &IngestOptions::default(), &Task::new()).unwrap();
    let last = |name: &str| name.rsplit('/').next().unwrap().to_owned();
    let failed: Vec<_> = summary.failed.iter().map(|failure| last(&failure.name)).collect();
    assert_eq!((summary.failures, &failed[..]), (3, &["named.bin", "named.bin.gz", "met.bin"].map(str::to_owned)[..]));
    assert!(summary.failed[0].error.starts_with("not a text document: "), "{summary:?}");
    let skipped: Vec<_> = summary.skipped.iter().map(|skipped| (last(&skipped.name), &skipped.reason)).collect();
    let expected = [
        ("met.bin", SkipReason::Binary),
        ("members.jsonl:1", SkipReason::NullText),
        ("listed.bin", SkipReason::Binary),
    ];
    let expected: Vec<_> = expected.iter().map(|(name, reason)| ((*name).to_owned(), reason)).collect();
    assert_eq!((summary.skips, skipped), (3, expected));
}

/// If the name of a file promises a format and its bytes are something else, the file is reported, even in a
/// folder.
#[test]
fn a_file_whose_name_promises_a_document_fails_if_it_is_none() {
    let folder = empty_database();
    // Writes random data: with NULs, or without them if `from` is 1.
    let random = |seed: u8, from: u8| -> Vec<u8> {
        let mut state = u32::from(seed);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..900).map(|_| next().max(from)).collect()
    };
    let promising = ["a.docx", "b.odt", "c.pdf", "d.epub", "e.PDF"];
    let (mut docs, mut tar) = (Vec::new(), tar::Builder::new(Vec::new()));
    for (seed, name) in (1..).zip(promising) {
        let from = u8::from(name == "e.PDF" || name == "b.odt");
        let bytes = random(seed, from);
        folder.write(&format!("bad/{name}"), &bytes);
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, &bytes[..]).unwrap();
        docs.push(format!("bad/{name}"));
    }
    folder.write("bad/all.tar", tar.into_inner().unwrap());
    docs.extend(promising.iter().map(|name| format!("bad/all.tar!{name}")));
    docs.push("bad/packed.docx".into());
    folder.write("bad/packed.docx", [&b"Rar!\x1a\x07"[..], &random(9, 0)].concat());
    for other in ["h.png", "i", ".DS_Store", "j.rst.bak", "k.htmlx", "._a.docx", "~$a.docx"] {
        folder.write(&format!("bad/{other}"), random(20, 0));
    }
    folder.write("bad/student/text.pdf", prose(1));
    docs.sort_unstable();
    let names = |failed: &[serde_json::Value]| {
        let mut names: Vec<_> = failed.iter().map(|failure| failure["name"].as_str().unwrap().to_owned()).collect();
        names.sort_unstable();
        names
    };
    let run = folder.run(&["ingest", "bad", "--format", "json", "--failures", "failures.jsonl"]);
    let summary = run.json().remove(0);
    assert_eq!((run.status, names(summary["failed"].as_array().unwrap())), (2, docs.clone()), "{run:#?}");
    assert_eq!((&summary["documents"], &summary["skips"]), (&1.into(), &7.into()), "{run:#?}");
    let listed = std::fs::read_to_string(folder.path().join("failures.jsonl")).unwrap();
    let listed: Vec<_> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(names(&listed), docs);
    let told = "error: bad/packed.docx: this is not a readable docx document: a rar archive, which is not read";
    assert!(run.stderr.contains(told), "{run:#?}");
    for more in [&[][..], &["--submission-by", "bad"], &["--format", "html", "-o", "report"]] {
        let run = folder.run(&[&["query", "bad"], more].concat());
        assert_eq!(run.status, 2, "{run:#?}");
        for name in &docs {
            assert!(run.stderr.contains(&format!("error: {name}: ")), "{name} {run:#?}");
        }
    }
}

#[test]
fn a_binary_file_is_left_out_of_text_and_taken_by_bytes() {
    let folder = empty_database();
    folder.write("docs/a.txt", prose(1));
    folder.write("docs/picture", [b"GIF89a\0\x01\0\x02".repeat(60).as_slice(), prose(2).as_bytes()].concat());
    assert_snapshot!(tell_ingest(&folder, &["docs"]), @"
    status 0
    --- stdout
    1 document added, 1 skipped (--verbose names them)
    ");
    assert_eq!(stored(&folder), ["docs/a.txt"]);
    // The file is a failure if the user names it.
    assert_snapshot!(tell_ingest(&folder, &["docs/picture"]), @"
    status 2
    --- stdout
    0 documents added, 1 failed
    --- stderr
    error: docs/picture: not a text document: binary data: there are NUL bytes near its beginning
    hint: a database made with `--profile bytes` takes any file; --exclude GLOB leaves files out
    ");
    let query = folder.run(&["query", "docs/picture"]);
    assert_eq!(query.status, 2);
    assert!(query.stderr.contains("docs/picture: not a text document: binary data"), "{query:?}");

    folder.ok(&["ingest", "--profile", "bytes", "--db", "bytes", "docs"]);
    let answer = &folder.ok(&["query", "--db", "bytes", "docs/picture", "--format", "json"]).json()[0];
    assert_eq!(answer["matches"][0]["document"], "docs/picture");
    assert_eq!(answer["matches"][0]["identical"], true);
}

#[test]
fn an_empty_document_and_a_short_one_are_stored_and_found_by_their_digest() {
    let folder = empty_database();
    folder.write("empty.txt", "");
    folder.write("other-empty.txt", "");
    folder.write("short.txt", "Twenty-four symbols, not 25");
    let run = folder.ok(&["ingest", "empty.txt", "other-empty.txt", "short.txt", "--format", "json"]).json();
    assert_eq!((&run[0]["added"], &run[0]["identical"], &run[0]["fingerprints"]), (&3.into(), &1.into(), &0.into()));
    let shown = folder.ok(&["show", "empty.txt", "short.txt", "--format", "json"]).json();
    assert_eq!(shown[0]["identical_to"], serde_json::json!(["other-empty.txt"]));
    assert_eq!((&shown[1]["symbols"], &shown[1]["fingerprints"]), (&22.into(), &0.into()));

    assert_eq!((&shown[0]["lines"], &shown[1]["lines"]), (&0.into(), &1.into()), "a last line needs no newline");

    // A document without fingerprints is reported, and identical bytes are found nevertheless.
    folder.write("copy.txt", "Twenty-four symbols, not 25");
    for (query, copies) in [("copy.txt", &["short.txt"][..]), ("empty.txt", &["empty.txt", "other-empty.txt"])] {
        let answer = &folder.ok(&["query", query, "--format", "json"]).json()[0];
        assert_eq!((&answer["looked_up"], &answer["corpus_containment"]), (&0.into(), &1.0.into()));
        let found: Vec<&str> =
            answer["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap()).collect();
        assert_eq!(found, copies, "{query} is stored, under these names");
        assert!(answer["matches"].as_array().unwrap().iter().all(|found| found["identical"] == true));
    }
    folder.write("new.txt", "something else");
    assert_snapshot!(tell(&folder, &["query", "new.txt"]), @"
    status 0
    --- stdout
    new.txt  14 bytes, 13 symbols, 0 fingerprints at window 20
      too short: it has fewer than 25 symbols (k), so only identical documents match
      no match
    ");
}

#[test]
fn a_file_that_vanishes_is_reported() {
    let folder = empty_database();
    folder.write("a.txt", prose(1));
    folder.write("list", "a.txt\nb.txt\n");
    assert_snapshot!(tell_ingest(&folder, &["--files-from", "list"]), @"
    status 2
    --- stdout
    1 document added, 1 failed
    --- stderr
    error: cannot read b.txt: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
    assert_eq!(stored(&folder), ["a.txt"]);
    assert_snapshot!(tell(&folder, &["ingest", "--files-from", "no-such-list"]), @"
    status 2
    --- stderr
    error: cannot read the list of files no-such-list: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
}

#[test]
fn links_are_skipped_below_folders_and_followed_where_named() {
    use std::os::unix::fs::symlink;
    let folder = empty_database();
    folder.write("docs/a.txt", prose(1));
    folder.write("elsewhere/c.txt", prose(3));
    symlink("gone.txt", folder.path().join("docs/dangling.txt")).unwrap();
    symlink("../elsewhere", folder.path().join("docs/elsewhere")).unwrap();
    symlink("../docs", folder.path().join("docs/loop")).unwrap();
    assert_snapshot!(tell_ingest(&folder, &["docs", "-v"]), @"
    status 0
    --- stdout
    1 document added, 3 skipped (--verbose names them)
    --- stderr
    added docs/a.txt (text)
    skipped docs/dangling.txt: a symbolic link, which is not followed
    skipped docs/elsewhere: a symbolic link, which is not followed
    skipped docs/loop: a symbolic link, which is not followed
    3 symbolic links were not followed (--follow follows them)
    ");
    assert_snapshot!(tell_ingest(&folder, &["docs/dangling.txt"]), @"
    status 2
    --- stdout
    0 documents added, 1 failed
    --- stderr
    error: cannot read docs/dangling.txt: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    ");
    assert_snapshot!(tell_ingest(&folder, &["--follow", "docs"]), @"
    status 2
    --- stdout
    1 document added, 1 unchanged, 2 failed
    --- stderr
    error: cannot read docs/dangling.txt: No such file or directory (os error 2)
    hint: check the spelling; relative paths start at the current folder
    error: docs/loop is a loop: it leads back to docs
    hint: remove the link, or run without --follow
    ");
    assert_eq!(stored(&folder), ["docs/a.txt", "docs/elsewhere/c.txt"]);
    // A link that the user names is followed, to a file or a folder.
    symlink("elsewhere", folder.path().join("link")).unwrap();
    symlink("elsewhere/c.txt", folder.path().join("link.txt")).unwrap();
    folder.ok(&["ingest", "link", "link.txt"]);
    assert_eq!(stored(&folder)[2..], ["link/c.txt", "link.txt"]);
}

#[test]
fn pipes_and_devices_that_a_walk_comes_across_are_no_documents() {
    let folder = empty_database();
    folder.write("docs/a.txt", prose(1));
    let pipe = folder.path().join("docs/pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: no mkfifo");
    }
    assert_snapshot!(tell_ingest(&folder, &["docs", "-v"]), @"
    status 0
    --- stdout
    1 document added, 1 skipped (--verbose names them)
    --- stderr
    added docs/a.txt (text)
    skipped docs/pipe: neither a file nor a folder
    ");
    // A pipe that the user names is read; a device is not.
    assert_snapshot!(tell_ingest(&folder, &["/dev/zero"]), @"
    status 2
    --- stdout
    0 documents added, 1 failed
    --- stderr
    error: /dev/zero is not a regular file
    hint: name a file; devices and sockets are not read, and `-` is standard input
    ");
    assert_snapshot!(tell(&folder, &["query", "/dev/zero"]), @"
    status 2
    --- stderr
    error: /dev/zero is not a regular file
    hint: name a file; devices and sockets are not read, and `-` is standard input
    ");
    assert_eq!(folder.run(&["query", "docs"]).status, 0, "a folder stands for the documents in it");
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = empty_database();
    folder.write("docs/a.txt", prose(1));
    let path = Path::new("docs").join(OsStr::from_bytes(b"caf\xe9.txt"));
    std::fs::write(folder.path().join(&path), prose(2)).unwrap();
    assert_snapshot!(tell_ingest(&folder, &["docs"]), @"
    status 2
    --- stdout
    1 document added, 1 failed
    --- stderr
    error: docs/caf�.txt: the path docs/caf�.txt is not valid UTF-8
    hint: rename it: a document is named by its path, and names are text
    ");
    assert_eq!(stored(&folder), ["docs/a.txt"]);
    // A file that globs leave out needs no name.
    for glob in [["--exclude", "caf*"], ["--include", "a.txt"]] {
        let run = folder.ok(&[&["ingest", "docs", "--format", "json"], &glob[..]].concat());
        assert_eq!((&run.json()[0]["left_out"], &run.json()[0]["failures"]), (&1.into(), &0.into()), "{run:?}");
    }
    let mut list = path.as_os_str().as_bytes().to_vec();
    list.extend(b"\ndocs/a.txt\n");
    folder.write("list", list);
    for arguments in [&["ingest", "--files-from", "list"][..], &["query", "docs/a.txt"]] {
        let mut command = folder.command(arguments);
        command.arg(&path);
        let run = Run::of(&command.output().unwrap());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains("docs/caf\u{fffd}.txt is not valid UTF-8"), "{run:?}");
        assert!(!run.stderr.contains("panicked") && !run.stdout.is_empty(), "{run:?}");
    }
}

#[test]
fn undecodable_bytes_are_dropped_and_counted() {
    let folder = empty_database();
    let text = format!("caf\u{e9} {}", prose(1));
    let (front, back) = text.split_at(500);
    folder.write("broken.txt", [front.as_bytes(), b"\xff\xff", back.as_bytes()].concat());
    folder.write("whole.txt", &text);
    let report = &folder.ok(&["ingest", "broken.txt", "--format", "json"]).json()[0];
    let shown = &folder.ok(&["show", "broken.txt", "--format", "json"]).json()[0];
    assert_eq!(report["undecodable"], shown["undecodable"]);
    // The text on both sides is found in any encoding.
    let answer = &folder.ok(&["query", "whole.txt", "--format", "json"]).json()[0];
    assert!(answer["matches"][0]["containment"].as_f64().unwrap() > 0.8, "{answer}");
}

#[test]
fn queries_that_fail_do_not_keep_the_others_from_being_answered() {
    let folder = folder_with_database();
    folder.write("bad", b"\0binary\0");
    let run = folder.run(&["query", "bad", "a.txt", "missing", "b.txt", "--format", "json"]);
    assert_eq!(run.status, 2);
    let names: Vec<_> = run.json().iter().map(|line| line["query"]["name"].clone()).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
}
