//! Joined archives, entries in unusual forms, and records that their crawler cut short.

use super::hostile::tar_of;
use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, gzip};

/// The failures of an ingest of all files.
fn failures(folder: &Folder) -> Vec<String> {
    let run = folder.run(&["ingest", "--profile", "prose", ".", "--format", "json"]);
    let failed = run.json()[0]["failed"].as_array().unwrap().clone();
    failed.iter().map(|failure| format!("{}: {}", failure["name"], failure["error"]).replace('"', "")).collect()
}

#[test]
fn archives_that_are_joined_are_read_and_copied_to_their_end() {
    let first = tar_of(&[("a.txt", prose(1).as_bytes()), ("b.txt", prose(2).as_bytes())]);
    let second = tar_of(&[("c.txt", prose(1).as_bytes()), ("d.txt", prose(3).as_bytes())]);
    let joined = [&first[..], &[0; 4096], &second, &[0; 512]].concat();
    let folder = Folder::new();
    folder.write("a.tar", &joined);
    assert_eq!(failures(&folder), [""; 0]);
    assert_eq!(names(&folder), ["a.tar!a.txt", "a.tar!b.txt", "a.tar!c.txt", "a.tar!d.txt"]);
    folder.ok(&["dedup", "--by", "exact", "--format", "json", "-o", "report.jsonl"]);
    folder.ok(&["apply", "report.jsonl", "--write", "clean", "--yes"]);
    let clean = Folder::new();
    clean.write("a.tar", std::fs::read(folder.path().join("clean/a.tar")).unwrap());
    assert_eq!(failures(&clean), [""; 0]);
    assert_eq!(names(&clean), ["a.tar!a.txt", "a.tar!b.txt", "a.tar!d.txt"]);

    let folder = Folder::new();
    folder.write("joined.tgz", [gzip(&first), gzip(&second)].concat());
    folder.write("late.tar", [&joined[..], b"not a header"].concat());
    folder.write("odd.tar", [&first[..], b"\0\0", &second].concat());
    folder.write("open.tar", &joined[..joined.len() - 512 - 1024]);
    folder.write("text.tar", [&first[..], &b"x".repeat(512)].concat());
    let failed = failures(&folder);
    assert_eq!(failed.len(), 4, "{failed:?}");
    assert!(failed[0].starts_with("late.tar: ") && failed[0].contains("are no archive: "), "{failed:?}");
    assert!(failed[1].starts_with("odd.tar: "), "{failed:?}");
    assert!(failed[1].contains("the bytes after its end are no archive"), "{failed:?}");
    assert!(failed[2].contains("the block that marks its end is missing"), "{failed:?}");
    assert!(failed[3].starts_with("text.tar: ") && failed[3].contains("are no archive"), "{failed:?}");
    let joined: Vec<_> = names(&folder).into_iter().filter(|name| name.starts_with("joined")).collect();
    assert_eq!(joined.len(), 4, "{joined:?}");
}

#[test]
fn a_sparse_file_in_an_extended_header_fails_by_its_name() {
    let mut tar = tar::Builder::new(Vec::new());
    let fields: [(&str, &[u8]); 3] =
        [("GNU.sparse.major", b"1"), ("GNU.sparse.name", b"dir/a.txt"), ("GNU.sparse.realsize", b"999999")];
    tar.append_pax_extensions(fields).unwrap();
    for (name, text) in [("dir/GNUSparseFile.7/a.txt", prose(1)), ("b.txt", prose(2))] {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let folder = Folder::new();
    folder.write("a.tar", tar.into_inner().unwrap());
    let failed = failures(&folder);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].starts_with("a.tar!dir/a.txt: ") && failed[0].contains("sparse file"), "{failed:?}");
    assert_eq!(names(&folder), ["a.tar!b.txt"]);
}

#[test]
fn a_record_that_was_cut_short_ends_within_its_encoding() {
    let text = prose(1);
    let chunked = format!("{:x}\r\n{text}\r\n", text.len() + 1000).into_bytes();
    let packed = gzip(text.as_bytes());
    let packed = packed[..packed.len() - 9].to_vec();
    let record = |id: &str, truncated: bool, header: &str, body: &[u8]| {
        let response = [format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n").as_bytes(), body].concat();
        let truncated = if truncated { "WARC-Truncated: length\r\n" } else { "" };
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <{id}>\r\nContent-Type: application/http\r\n\
             {truncated}Content-Length: {}\r\n\r\n",
            response.len()
        );
        [head.as_bytes(), &response, b"\r\n\r\n"].concat()
    };
    let (chunks, gzipped) = ("Transfer-Encoding: chunked", "Content-Encoding: gzip");
    let folder = Folder::new();
    let records = [
        record("cut-chunks", true, chunks, &chunked),
        record("cut-gzip", true, gzipped, &packed),
        record("bad-chunks", false, chunks, &chunked),
        record("bad-gzip", false, gzipped, &packed),
        record("good", false, "X: y", text.as_bytes()),
    ];
    folder.write("a.warc", records.concat());
    let failed = failures(&folder);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(failed[0].starts_with("a.warc#bad-chunks") && failed[1].starts_with("a.warc#bad-gzip"), "{failed:?}");
    assert_eq!(names(&folder), ["a.warc#cut-chunks", "a.warc#cut-gzip", "a.warc#good"]);
}
