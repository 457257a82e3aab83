//! Damaged containers: cut short, wrong checksums. A damaged member fails by name, and the run continues.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use serde_json::Value;

use super::{TEXTS, folder_with, list, names, sample};
use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip, zip};

/// Ingests a folder with damaged files, and returns each failed name with its error.
fn failures(folder: &Folder) -> Vec<(String, String)> {
    let run = folder.run(&["ingest", "--profile", "prose", ".", "--format", "json"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let failed = run.json()[0]["failed"].as_array().unwrap().clone();
    failed.iter().map(|failure| (text(&failure["name"]), text(&failure["error"]))).collect()
}

#[test]
fn a_wrong_checksum_fails_the_document() {
    for (name, at) in [("fed01.txt.gz", 8), ("fed01.txt.zst", 4), ("fed01.txt.xz", 40), ("fed01.txt.bz2", 40)] {
        let folder = Folder::new();
        let mut bytes = std::fs::read(sample(name)).unwrap();
        let at = bytes.len() - at;
        bytes[at] ^= 1;
        folder.write(name, bytes);
        folder.write("good.txt", prose(1));
        let failed = failures(&folder);
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(failed[0].0, name);
        assert!(failed[0].1.contains(" data cannot be decoded: "), "{failed:?}");
        assert_eq!(names(&folder), ["good.txt"]);
    }
}

#[test]
fn a_wrong_checksum_in_an_archive_fails_the_member() {
    let mut bytes = std::fs::read(sample("stored.zip")).unwrap();
    let text = std::fs::read(sample("texts/fed10.txt")).unwrap();
    let at = bytes.windows(50).position(|window| window == &text[..50]).unwrap();
    bytes[at + 7] ^= 1;
    let folder = Folder::new();
    folder.write("stored.zip", bytes);
    let failed = failures(&folder);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, "stored.zip!texts/fed10.txt");
    assert_eq!(names(&folder).len(), 4);
    // The container was not read whole, so the next run reads it again.
    assert_eq!(failures(&folder).len(), 1);
}

#[test]
fn the_checksum_after_an_archive_fails_the_archive() {
    let mut bytes = std::fs::read(sample("pax.tar.gz")).unwrap();
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    let folder = Folder::new();
    folder.write("pax.tar.gz", bytes);
    let failed = failures(&folder);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, "pax.tar.gz");
    assert!(failed[0].1.starts_with("the gzip data cannot be decoded: "), "{failed:?}");
    assert_eq!(names(&folder).len(), 4, "its members were good");
}

#[test]
fn what_is_cut_short_fails_and_what_comes_before_it_does_not() {
    for name in [
        "texts.tar",
        "pax.tar.gz",
        "texts.tar.zst",
        "texts.warc",
        "texts.warc.gz",
        "texts.jsonl.gz",
        "texts.jsonl.zst",
        "texts.wet.gz",
        "texts.arc",
    ] {
        let bytes = std::fs::read(sample(name)).unwrap();
        let (mut least, mut most) = (usize::MAX, 0);
        for tenth in 1..10 {
            let folder = Folder::new();
            folder.write(name, &bytes[..bytes.len() * tenth / 10]);
            folder.write("z.txt", prose(1));
            let run = folder.run(&["ingest", "--profile", "prose", ".", "--format", "json"]);
            assert!(!run.stderr.contains("panicked"), "{run:?}");
            let stored = names(&folder);
            assert_eq!(stored.last().map(String::as_str), Some("z.txt"), "{name} at {tenth}: the rest goes on");
            let failed = run.json()[0]["failed"].as_array().unwrap().len();
            // A tar that is cut within its final padding is whole.
            let padding = name == "texts.tar" && tenth >= 6;
            assert!(failed == 1 || (padding && failed == 0), "{name} at {tenth}: {run:?}");
            (least, most) = (least.min(stored.len()), most.max(stored.len()));
        }
        // The texts are so small that a frame of zstd is one block.
        assert!(least < most || name.ends_with(".zst"), "{name}: {least} to {most}");
    }
    // Without their end, these containers have no directory.
    for name in ["texts.zip", "zstd.parquet", "nested.zip"] {
        let bytes = std::fs::read(sample(name)).unwrap();
        let folder = Folder::new();
        folder.write(name, &bytes[..bytes.len() * 2 / 3]);
        let failed = failures(&folder);
        assert_eq!((failed.len(), failed[0].0.as_str()), (1, name), "{failed:?}");
    }
}

/// The cut member is binary, so its reader drops the readable part instead of reporting the damage.
#[test]
fn a_container_cut_within_a_binary_member_fails_and_keeps_what_was_not_reached() {
    let binary = [0, 1, 2, 3].repeat(1 << 18);
    let texts = [("a.txt", prose(1).into_bytes()), ("b.bin", binary), ("c.txt", prose(2).into_bytes())];
    let mut archive = tar::Builder::new(Vec::new());
    let (mut crawl, mut mailbox) = (Vec::new(), Vec::new());
    for (name, text) in &texts {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, &text[..]).unwrap();
        let head =
            format!("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{name}>\r\nContent-Type: text/plain\r\n");
        crawl.extend(format!("{head}Content-Length: {}\r\n\r\n", text.len()).bytes());
        crawl.extend([&text[..], b"\r\n\r\n"].concat());
        let head = format!("From a@b.c Mon Jan  1 00:00:00 2024\nMessage-ID: <{name}>\nSubject: {name}\n\n");
        mailbox.extend([head.as_bytes(), text, b"\n\n"].concat());
    }
    let archive = archive.into_inner().unwrap();
    let mut nested = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(archive.len() as u64);
    nested.append_data(&mut header, "in.tar", &archive[..]).unwrap();
    for (name, whole, failing) in [
        ("x.tar", archive.clone(), "x.tar"),
        ("x.tar.gz", gzip(&archive), "x.tar.gz"),
        ("x.tar", nested.into_inner().unwrap(), "x.tar!in.tar"),
        ("x.warc", crawl.clone(), "x.warc"),
        // A mail is read whole, so its reader reports the damage.
        ("x.mbox.gz", gzip(&mailbox), "x.mbox.gz#2"),
    ] {
        let folder = Folder::new();
        folder.write(&format!("files/{name}"), &whole);
        // A binary mail is a failure.
        let status = if name == "x.mbox.gz" { 2 } else { 0 };
        assert_eq!(folder.run(&["ingest", "--profile", "prose", "files"]).status, status);
        let stored = names(&folder);
        assert!(stored.len() > 1, "{name}: {stored:?}");
        let cut = &whole[..whole.len() / 2];
        folder.write(&format!("files/{name}"), cut);
        let run = folder.run(&["ingest", "files", "--prune", "--format", "json"]);
        let failed = run.json()[0]["failed"].as_array().unwrap().clone();
        // Mails after a damaged one were not reached. This is a failure of its own.
        let further = usize::from(name == "x.mbox.gz");
        assert_eq!((run.status, failed.len()), (2, 1 + further), "{name}: {run:?}");
        assert_eq!(failed[0]["name"], format!("files/{failing}"), "{name}: {run:?}");
        assert_eq!(names(&folder), stored, "{name}");
        // An ingest of the unchanged file, an ingest of a stream, and a query report the same.
        assert_eq!(folder.run(&["ingest", "files"]).status, 2, "{name}");
        let input = std::fs::File::open(folder.path().join("files").join(name)).unwrap();
        let run =
            folder.command(&["ingest", "-", "--name", &format!("y{}", &name[1..])]).stdin(input).output().unwrap();
        assert_eq!(Run::of(&run).status, 2, "{name}: {:?}", Run::of(&run));
        let run = folder.run(&["query", "--below", "files"]);
        assert_eq!(run.status, 2, "{name}: {run:?}");
    }
}

/// In a compressed crawl, each record is compressed as a gzip member of its own.
#[test]
fn a_damaged_record_of_a_compressed_crawl_costs_no_other() {
    let long: String = (100..500).map(prose).collect();
    let texts = [prose(0), prose(1), prose(2), long, prose(4)];
    let member = |(number, text): (usize, &String)| {
        let length = text.len();
        gzip(format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{number}>\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{text}\r\n\r\n"
        ))
    };
    let members: Vec<Vec<u8>> = texts.iter().enumerate().map(member).collect();
    let start = |number: usize| members[..number].concat().len();
    let damaged = |number: usize, before_its_end: usize| {
        let mut bytes = members.concat();
        bytes[start(number + 1) - before_its_end] ^= 1;
        bytes
    };
    // A member of up to 256 KiB is decoded whole before its header is read, so the name of a damaged one is
    // unknown.
    for (number, before_its_end) in [(1, 1), (1, 6), (1, 200), (1, members[1].len()), (3, 6), (3, 2000), (4, 6)] {
        let folder = Folder::new();
        folder.write("a.warc.gz", damaged(number, before_its_end));
        let failed = failures(&folder);
        let name = if number == 3 { "a.warc.gz#3" } else { "a.warc.gz" };
        assert_eq!((failed.len(), failed[0].0.as_str()), (1, name), "{failed:?}");
        assert!(failed[0].1.ends_with(&format!(", in the member at byte {}", start(number))), "{failed:?}");
        let rest = (0..5).filter(|&other| other != number).map(|other| format!("a.warc.gz#{other}"));
        assert_eq!(names(&folder), rest.collect::<Vec<_>>());
        if number < 4 {
            assert_eq!(folder.ok(&["show", "--text", "a.warc.gz#4"]).stdout, texts[4]);
        }
        // The next run reports the same failure, without reading the file again.
        assert_eq!(failures(&folder).len(), 1);
        folder.write("in.zip", zip([("a.warc.gz", &damaged(number, before_its_end)[..])]));
        assert_eq!(failures(&folder).len(), 2);
        assert_eq!(names(&folder).len(), 8);
        let input = std::fs::File::open(folder.path().join("a.warc.gz")).unwrap();
        let run = folder.command(&["ingest", "-", "--name", "b.warc.gz"]).stdin(input).output().unwrap();
        assert_eq!((Run::of(&run).status, names(&folder).len()), (2, 12));
    }
}

/// The name of the file need not show its kind.
#[test]
fn damaged_first_records_cost_no_other() {
    let warc = |number: usize| {
        let text = prose(number);
        let head = "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/plain\r\n";
        gzip(format!("{head}Content-Length: {}\r\n\r\n{text}\r\n\r\n", text.len()))
    };
    let arc = |number: usize| {
        let (text, scheme) = (prose(number), if number == 0 { "filedesc" } else { "http" });
        gzip(format!("{scheme}://a.org/{number} 1.2.3.4 20030609120000 text/plain {}\n{text}\n", text.len()))
    };
    for (name, record) in [("a.gz", &warc as &dyn Fn(usize) -> Vec<u8>), ("a.arc.gz", &arc)] {
        for damaged in 1..3 {
            let mut members: Vec<Vec<u8>> = (0..4).map(record).collect();
            for member in &mut members[..damaged] {
                let place = member.len() - 6;
                member[place] ^= 1;
            }
            let folder = Folder::new();
            folder.write(name, members.concat());
            assert_eq!(failures(&folder).len(), damaged, "{name}");
            let rest: Vec<String> = (damaged + 1..5).map(|number| format!("{name}#{number}")).collect();
            assert_eq!(names(&folder), rest);
            let input = std::fs::File::open(folder.path().join(name)).unwrap();
            let run =
                folder.command(&["ingest", "-", "--name", &format!("b{}", &name[1..])]).stdin(input).output().unwrap();
            assert_eq!((Run::of(&run).status, names(&folder).len()), (2, 2 * rest.len()));
        }
    }
}

/// A crawl that was compressed as a whole is one gzip member.
#[test]
fn damage_to_a_crawl_in_one_member_costs_no_record_before_it() {
    let record = |number: usize| {
        let text = prose(number);
        let head = format!("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{number}>\r\n");
        format!("{head}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n", text.len())
    };
    let whole = gzip((0..8).map(record).collect::<String>());
    let mut checksum = whole.clone();
    checksum[whole.len() - 6] ^= 1;
    for (bytes, read) in [(checksum, 8), (whole[..whole.len() - 200].to_vec(), 7)] {
        let folder = Folder::new();
        folder.write("a.warc.gz", bytes);
        assert_eq!(failures(&folder).len(), 1);
        assert_eq!(names(&folder).len(), read);
    }
}

/// A server may send a media type or address of a PDF or Word document without a body. As files, these cannot
/// be empty.
#[test]
fn web_records_without_a_body_are_no_failures() {
    let record = |(url, kind): (&str, &str)| {
        let body = format!("HTTP/1.1 302 Found\r\n{kind}Content-Length: 0\r\n\r\n");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    let folder = Folder::new();
    let records = [("http://a.org/b", "Content-Type: application/pdf\r\n"), ("http://a.org/b.docx", "")];
    folder.write("a.warc", records.map(record).concat());
    folder.ok(&["ingest", "-q", "--profile", "prose", "a.warc"]);
    assert_eq!(names(&folder), ["a.warc#1", "a.warc#2"]);
}

/// If a record or its content is damaged, a later error that ends the file is still reported.
#[test]
fn a_damaged_record_hides_no_later_error() {
    let long: String = (100..500).map(prose).collect();
    let record = |kind: &str, length: &str, body: &[u8]| {
        let head = format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{length}\r\n");
        [head.as_bytes(), body, b"\r\n\r\n"].concat()
    };
    let packed = |bytes: &[u8]| gzip(String::from_utf8_lossy(bytes).into_owned());
    let length = |length: usize| format!("Content-Length: {length}\r\n");
    let others = [
        record("request", &length(4), b"none"),
        record("resource", "", b"x"),
        record("resource", &length(9), b"text text"),
    ];
    let mut damaged = packed(&record("resource", &length(long.len()), long.as_bytes()));
    let place = damaged.len() - 2000;
    damaged[place] ^= 1;
    let mut coded = gzip(long.clone());
    let place = coded.len() - 2000;
    coded[place] ^= 1;
    let response =
        [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n", &coded[..]].concat();
    let first = record("resource", &length(prose(1).len()), prose(1).as_bytes());
    let response = record("response\r\nContent-Type: application/http", &length(response.len()), &response);
    for skipped in [0, 1] {
        let rest: Vec<Vec<u8>> = others[1 - skipped..].iter().map(|other| packed(other)).collect();
        let crawl = [packed(&first), damaged.clone(), rest.concat()].concat();
        let uncompressed = [&first[..], &response, &others[1 - skipped..].concat()].concat();
        for (name, bytes) in [("a.warc.gz", crawl), ("a.warc", uncompressed)] {
            let folder = Folder::new();
            folder.write(name, bytes);
            let failed = failures(&folder);
            assert_eq!(failed.len(), 2, "{name}: {failed:?}");
            assert!(failed.iter().any(|(_, error)| error.contains("a record has no length")), "{failed:?}");
            assert_eq!(names(&folder), [format!("{name}#1")]);
        }
    }
}

/// Damaged records count in the numbers of later records.
#[test]
fn a_damaged_record_of_an_older_crawl_costs_no_other() {
    let record = |address: &str, text: &str| {
        gzip(format!("{address} 127.0.0.1 20030609120000 text/plain {}\n{text}\n", text.len()))
    };
    let mut members = vec![record(
        "filedesc://a.arc",
        "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n",
    )];
    members.extend((1..5).map(|number| record(&format!("http://example.org/{number}"), &prose(number))));
    let mut bytes = members.concat();
    bytes[members[..2].concat().len() + members[2].len() / 2] ^= 1;
    let folder = Folder::new();
    folder.write("a.arc.gz", bytes);
    let failed = failures(&folder);
    assert!(failed.len() == 1 && failed[0].1.contains("in the member at byte"), "{failed:?}");
    assert_eq!(names(&folder), ["a.arc.gz#2", "a.arc.gz#4", "a.arc.gz#5"]);
}

#[test]
fn a_name_that_promises_what_the_bytes_do_not_hold_fails() {
    let folder = Folder::new();
    for name in ["a.gz", "a.zst", "a.xz", "a.bz2", "a.zip", "a.tar", "a.parquet", "a.warc", "a.mbox"] {
        folder.write(name, prose(1));
    }
    folder.write("good.txt", prose(2));
    let mut failed: Vec<String> = failures(&folder).into_iter().map(|(name, _)| name).collect();
    failed.sort();
    assert_eq!(failed, ["a.bz2", "a.gz", "a.mbox", "a.parquet", "a.tar", "a.warc", "a.xz", "a.zip", "a.zst"]);
    assert_eq!(names(&folder), ["good.txt"]);
}

#[test]
fn a_member_that_needs_a_password_fails() {
    let folder = folder_with(&["encrypted.zip"]);
    assert_eq!(failures(&folder), [("encrypted.zip!texts/fed01.txt".into(), "it is encrypted".into())]);
}

#[test]
fn bad_records_fail_by_their_line() {
    let folder = Folder::new();
    let good = |number| serde_json::json!({ "text": prose(number) }).to_string();
    folder.write("a.jsonl", format!("{}\nnonsense\n{{\"body\": 1}}\n{{\"text\": null}}\n[]\n{}\n", good(1), good(2)));
    let failed = failures(&folder);
    assert_eq!(
        failed,
        [
            ("a.jsonl:2".to_owned(), "the line is not a JSON record: expected ident at line 1 column 2".to_owned()),
            ("a.jsonl:3".to_owned(), "the record has no field text".to_owned()),
            (
                "a.jsonl:5".to_owned(),
                "the line is not a JSON record: invalid type: sequence, expected an object at line 1 column 0"
                    .to_owned()
            ),
        ]
    );
    assert_eq!(names(&folder), ["a.jsonl:1", "a.jsonl:6"]);
    // If no record has the field, the error names the fields that the records have, even for a file of one
    // record.
    for records in 1..3 {
        let folder = Folder::new();
        let record = serde_json::json!({ "body": prose(1) });
        folder.write("b.jsonl", format!("{record}\n").repeat(records));
        let run = folder.run(&["ingest", "b.jsonl"]);
        let said = [
            "the record has no field `text`; it has body",
            "none of the first 2 records has the field `text`; they have body",
        ];
        assert!(
            run.stderr.contains(&format!("b.jsonl: {}\nhint: try --text-field body; ", said[records - 1])),
            "{run:?}"
        );
    }
    // A file of another kind that is named like JSON lines fails as one file.
    let folder = Folder::new();
    folder.write("log.jsonl", prose(1).replace(' ', "\n"));
    let failed = failures(&folder);
    assert_eq!(failed.len(), 100, "99 lines and the file");
    assert_eq!(failed[99].0, "log.jsonl");
}

#[test]
fn tables_without_the_text_say_so() {
    let folder = folder_with(&["snappy.parquet"]);
    let run = folder.run(&["ingest", "snappy.parquet", "--text-field", "body"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("snappy.parquet: the table has no column `body` of text; it has "), "{run:?}");
    assert!(run.stderr.contains("--text-field"), "{run:?}");
    assert_eq!(TEXTS.len(), 3);
}

#[test]
fn a_reader_that_panics_fails_its_file_and_the_run_goes_on() {
    let mut bytes = std::fs::read(sample("zstd.parquet")).unwrap();
    // This byte, in the header of a page, gives the kind of the page.
    bytes[5] ^= 4;
    let folder = Folder::new();
    folder.write("a.parquet", &bytes);
    folder.write("b.zip", zip([("bad.parquet", bytes), ("good.txt", prose(1).into_bytes())]));
    folder.write("z.txt", prose(2));
    let failed = failures(&folder);
    let told: Vec<&str> = failed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(told, ["a.parquet", "b.zip!bad.parquet"]);
    for (_, error) in &failed {
        assert!(error.starts_with("the reader of this format failed on it: "), "{error}");
    }
    assert_eq!(names(&folder), ["b.zip!good.txt", "z.txt"]);
    // A container that failed is read again by the next run.
    assert_eq!(failures(&folder).len(), 2);
}

#[test]
fn times_that_are_no_dates_are_kept_as_numbers() {
    let schema = "message rows { required int64 id (TIMESTAMP_MILLIS); required binary text (UTF8); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[1000, 1 << 62, 3000], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let texts = [1, 2, 3].map(|number| ByteArray::from(prose(number).into_bytes()));
    column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let folder = Folder::new();
    folder.write("a.parquet", file.into_inner().unwrap());
    folder.write("z.txt", prose(4));
    folder.ok(&["ingest", "--profile", "prose", "."]);
    assert_eq!(names(&folder), ["a.parquet:1", "a.parquet:2", "a.parquet:3", "z.txt"]);
    assert_eq!(super::list(&folder)[1]["metadata"]["id"], (1i64 << 62).to_string().as_str());
}

#[test]
fn zeros_after_gzip_are_padding_and_other_bytes_are_damage() {
    let packed = std::fs::read(sample("fed01.txt.gz")).unwrap();
    let folder = Folder::new();
    folder.write("padded.txt.gz", [&packed[..], &[0; 700]].concat());
    folder.write("padded.tar.gz", [&std::fs::read(sample("pax.tar.gz")).unwrap()[..], &[0; 512]].concat());
    folder.write("stray.txt.gz", [&packed[..], b"and more"].concat());
    let failed = failures(&folder);
    assert_eq!((failed.len(), failed[0].0.as_str()), (1, "stray.txt.gz"), "{failed:?}");
    assert_eq!(names(&folder).len(), 5);
}

#[test]
fn what_cannot_be_read_is_not_called_damaged() {
    let folder = Folder::new();
    let input = std::fs::File::open(folder.path()).unwrap();
    let run = Run::of(&folder.command(&["ingest", "-", "--format", "json"]).stdin(input).output().unwrap());
    assert_eq!(run.status, 2);
    let error = run.json()[0]["failed"][0]["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("cannot read standard input: "), "{error}");
}

#[test]
fn records_that_say_they_are_incomplete_are_marked_or_skipped() {
    let record = |id: &str, header: &str, number: usize| {
        let text = prose(number);
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <{id}>\r\nContent-Type: text/plain\r\n{header}Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let folder = Folder::new();
    let records =
        [("one", "", 1), ("two", "WARC-Truncated: length\r\n", 2), ("three", "WARC-Segment-Number: 1\r\n", 3)];
    folder.write("a.warc", records.map(|(id, header, number)| record(id, header, number)).concat());
    let report = folder.ok(&["ingest", "--profile", "prose", ".", "--format", "json"]).json().remove(0);
    assert_eq!(names(&folder), ["a.warc#one", "a.warc#two"]);
    let documents = list(&folder);
    let truncated: Vec<&Value> = documents.iter().map(|document| &document["metadata"]["truncated"]).collect();
    assert_eq!(truncated, [&Value::Null, &Value::from("length")]);
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1);
    assert_eq!(skipped[0]["reason"], "a record in segments, which are not put together");
}
