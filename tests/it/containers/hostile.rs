//! Hostile containers: each limit has a name, is reported once, and does not affect the rest of the run.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use super::{names, sample};
use crate::bad_input::prose;
use crate::support::{Folder, Run, gzip, zip};

pub(super) fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        // The name is set as bytes, because it would be refused as a path.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn ingest(folder: &Folder, flags: &[&str]) -> (Run, Vec<String>) {
    let run = folder.run(&[&["ingest", "--profile", "prose", ".", "--format", "json"], flags].concat());
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    let failed = run.json()[0]["failed"].as_array().unwrap().clone();
    let told =
        |failure: &Value| format!("{}: {}", failure["name"].as_str().unwrap(), failure["error"].as_str().unwrap());
    let failed = failed.iter().map(told).collect();
    (run, failed)
}

#[test]
fn bombs_end_in_a_failure_of_the_member_and_the_run_goes_on() {
    let zeros = vec![0; 80 << 20];
    let bomb = gzip(&zeros);
    let folder = Folder::new();
    folder.write("a.gz", &bomb);
    folder.write(
        "b.zip",
        zip([("a.txt", prose(1).as_bytes()), ("bomb.txt", &zeros[..]), ("z.txt", prose(2).as_bytes())]),
    );
    folder.write("c.tar", tar_of(&[("bomb.gz", &bomb), ("z.txt", prose(3).as_bytes())]));
    folder.write("d.zip", zip([("in.zip", zip([("bomb.txt", &zeros)])), ("z.txt", prose(4).into_bytes())]));
    folder.write("z.txt", prose(5));
    let (run, failed) = ingest(&folder, &["--as", "text"]);
    assert_eq!(run.status, 2);
    let error = "it decompresses to more than 250 times its size";
    let bombs = ["a.gz", "b.zip!bomb.txt", "c.tar!bomb.gz", "d.zip!in.zip!bomb.txt"];
    assert_eq!(failed, bombs.map(|name| format!("{name}: {error}")));
    assert!(run.stderr.contains("--limit expansion="), "{run:?}");
    // All bytes to which one file decompresses also count together, so nothing after the bomb is read from
    // it.
    let stored = names(&folder);
    assert_eq!(stored, ["b.zip!a.txt", "c.tar!z.txt", "z.txt"], "{run:?}");
    let (_, failed) = ingest(&folder, &["--as", "text", "--limit", "expansion=1000000"]);
    assert!(failed.is_empty(), "{failed:?}");
}

/// Without the limit of names, a long address would be stored with each of many small members.
#[test]
fn members_inherit_the_beginning_of_a_long_address() {
    let folder = Folder::new();
    let (archive, url) = (zip([("a.txt", prose(1))]), format!("http://x/{}", "\u{e4}".repeat(5000)));
    let record = |content: &[u8]| {
        let header =
            format!("WARC/1.0\nWARC-Type: resource\nWARC-Target-URI: {url}\nContent-Length: {}\n\n", content.len());
        [header.as_bytes(), content, b"\n\n"].concat()
    };
    folder.write("a.warc", [record(prose(2).as_bytes()), record(&archive)].concat());
    let kept = format!("subject: {}\n", "s".repeat(5000));
    let attached = "Content-Type: text/csv\nContent-Disposition: attachment; filename=b.csv\n\n";
    let mail = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nwords\n--B\n";
    folder.write("b.eml", format!("From: a@b\n{kept}{mail}{attached}{}\n--B--\n", prose(3)));
    let (run, failed) = ingest(&folder, &["--attachments", "--keep-fields", "subject"]);
    assert!(failed.is_empty(), "{run:?}");
    let documents = folder.ok(&["list", "--format", "json"]).json();
    let mut lengths: Vec<(&str, usize)> = Vec::new();
    for document in &documents {
        let value = document["metadata"].as_object().unwrap().values().next().unwrap().as_str().unwrap();
        lengths.push((document["name"].as_str().unwrap(), value.len()));
    }
    // The limit falls within a character of two bytes.
    let expected = [("a.warc#1", url.len()), ("a.warc#2!a.txt", 4095 + 3), ("b.eml", 5000), ("b.eml!b.csv", 4096 + 3)];
    assert_eq!(lengths, expected);
}

#[test]
fn many_small_members_are_a_bomb_together() {
    let zeros = vec![b'x'; 20 << 20];
    let folder = Folder::new();
    folder.write("a.zip", zip((0..5).map(|number| (format!("{number}.txt"), &zeros))));
    folder.write("z.txt", prose(1));
    let (_, failed) = ingest(&folder, &[]);
    assert_eq!(failed, ["a.zip!3.txt: it decompresses to more than 250 times its size"]);
    assert_eq!(names(&folder), ["a.zip!0.txt", "a.zip!1.txt", "a.zip!2.txt", "z.txt"]);
}

#[test]
fn every_limit_has_a_flag() {
    let mut nested = prose(1).into_bytes();
    for _ in 0..9 {
        nested = gzip(&nested);
    }
    let folder = Folder::new();
    folder.write("nested.gz", &nested);
    folder.write("deep.jsonl", format!("{{\"a\":{}1{},\"text\":\"x\"}}\n", "[".repeat(80), "]".repeat(80)));
    folder.write("many.zip", std::fs::read(sample("texts.zip")).unwrap());
    folder.write("large.txt", prose(2));
    let (_, failed) = ingest(&folder, &[]);
    assert_eq!(
        failed,
        [
            "deep.jsonl:1: the JSON has more than 64 arrays and objects within each other",
            "nested.gz: more than 8 containers and compressions lie within each other",
        ]
    );
    let (_, failed) = ingest(&folder, &["--limit", "json-depth=100", "--limit", "nesting=9"]);
    assert!(failed.is_empty(), "{failed:?}");

    let databases = Folder::new();
    let limited = |flags: &[&str], file: &str| {
        let database = databases.path().join(flags.concat());
        let mut failed = ingest(&folder, &[&["--db", database.to_str().unwrap()], flags].concat()).1;
        failed.retain(|failure| failure.starts_with(file));
        failed
    };
    assert_eq!(limited(&["--limit", "members=2"], "many"), ["many.zip: the file has more than 2 members"]);
    assert_eq!(
        limited(&["--limit", "expanded-size=5000"], "many"),
        ["many.zip!texts/fed51.txt: the file decompresses to more than 5000 bytes"],
        "told of once, and then no more"
    );
    assert_eq!(limited(&["--limit", "document-size=2000"], "many").len(), 5);
    assert_eq!(
        limited(&["--limit", "document-size=900"], "large"),
        ["large.txt: the document has more than 900 bytes"]
    );
    assert_eq!(limited(&["--limit", "record-size=100"], "deep"), ["deep.jsonl:1: the record has more than 100 bytes"]);

    folder.write("page.html", format!("<html><p>{}", prose(3)));
    folder.write("book.epub", std::fs::read(sample("sample.epub")).unwrap());
    let page = limited(&["--limit", "whole-size=900"], "page");
    assert!(page.len() == 1 && page[0].contains("more than 900 bytes, the most that is read whole"), "{page:?}");
    let book = limited(&["--limit", "unpacked-size=900"], "book");
    assert!(book.len() == 1 && book[0].contains("unpacks to more than"), "{book:?}");
    // This limit is a multiple of the document's size, above the bytes that any small document may have.
    let relations: &[u8] = br#"<Relationships><Relationship Target="word/document.xml"
        Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"#;
    let body = format!("<d><p><t>{}</t></p></d>", " ".repeat(20 << 20));
    let parts =
        [("[Content_Types].xml", &b"<Types/>"[..]), ("_rels/.rels", relations), ("word/document.xml", body.as_bytes())];
    folder.write("wide.docx", zip(parts));
    assert!(limited(&["--limit", "unpacking=2"], "wide")[0].contains("unpacks to more than"));
    assert!(limited(&["--limit", "unpacking=100000"], "wide").is_empty());
}

#[test]
fn names_of_members_lead_nowhere() {
    let folder = Folder::new();
    let hostile = [
        ("../../etc/passwd", "etc/passwd"),
        ("/tmp/fpdb-was-here", "tmp/fpdb-was-here"),
        ("a\n\u{1b}[31m.txt", "a\u{fffd}\u{fffd}[31m.txt"),
        ("./b//c.txt", "b/c.txt"),
    ];
    let texts: Vec<String> = (0..4).map(prose).collect();
    let members: Vec<(&str, &[u8])> =
        hostile.iter().zip(&texts).map(|(names, text)| (names.0, text.as_bytes())).collect();
    folder.write("a.tar", tar_of(&members));
    folder.write("b.zip", zip(members));
    let (run, failed) = ingest(&folder, &[]);
    assert!(failed.is_empty() && run.status == 0, "{run:?}");
    let expected: Vec<String> = ["a.tar", "b.zip"]
        .iter()
        .flat_map(|container| hostile.iter().map(move |(_, name)| format!("{container}!{name}")))
        .collect();
    assert_eq!(names(&folder), expected);
    assert!(!std::path::Path::new("/tmp/fpdb-was-here").exists());
}

/// The peak memory of a run of the program, in MiB. 0 if the system does not report it.
fn memory(folder: &Folder, arguments: &[&str]) -> u64 {
    let mut child = folder.command(arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        peak = peak.max(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    peak / 1024
}

#[test]
fn large_records_do_not_wait_in_memory() {
    let folder = Folder::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "so it goes, and on it goes ".repeat(600_000));
    let mut file = std::fs::File::create(folder.path().join("a.jsonl")).unwrap();
    for _ in 0..12 {
        file.write_all(line.as_bytes()).unwrap();
    }
    drop((file, line));
    let arguments = ["ingest", "-q", "--profile", "prose", "--memory", "8MiB", "--threads", "4", "a.jsonl"];
    let peak = memory(&folder, &arguments);
    assert!(peak < 120, "{peak} MiB at the most, for records of 16");
    assert_eq!(names(&folder).len(), 12);
}

#[test]
fn a_value_that_many_rows_share_counts_for_each() {
    let schema = Arc::new(parse_message_type("message rows { required binary text (UTF8); }").unwrap());
    let properties = WriterProperties::builder()
        .set_dictionary_page_size_limit(1 << 30)
        .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties.into()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let value = ByteArray::from("x".repeat(10 << 20).into_bytes());
    column.typed::<ByteArrayType>().write_batch(&vec![value; 100], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let folder = Folder::new();
    let bytes = file.into_inner().unwrap();
    assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
    folder.write("a.parquet", bytes);
    let (_, failed) = ingest(&folder, &[]);
    assert_eq!(failed, ["a.parquet: it decompresses to more than 250 times its size"]);
}

#[test]
fn members_that_would_share_a_name_or_have_none_fail() {
    let folder = Folder::new();
    let texts: Vec<String> = (0..6).map(prose).collect();
    let names_in = ["b.txt", "../b.txt", "..", "a\u{1}", "a\u{2}", "c.txt"];
    let members: Vec<(&str, &[u8])> =
        names_in.iter().zip(&texts).map(|(name, text)| (*name, text.as_bytes())).collect();
    folder.write("b.tar", tar_of(&members));
    folder.write("a.zip", zip(members));
    let (run, failed) = ingest(&folder, &[]);
    assert_eq!(run.status, 2);
    let taken = "another member of the archive has this name too, once both are tidied";
    assert_eq!(
        failed,
        [
            format!("a.zip!b.txt: {taken}"),
            "a.zip!..: its name in the archive is not a file name".to_owned(),
            format!("a.zip!a\u{fffd}: {taken}"),
            "b.tar!..: its name in the archive is not a file name".to_owned(),
        ]
    );
    // In a tar, a later member replaces an earlier one with the same name.
    let expected = ["a.zip!b.txt", "a.zip!a\u{fffd}", "a.zip!c.txt", "b.tar!b.txt", "b.tar!a\u{fffd}", "b.tar!c.txt"];
    assert_eq!(names(&folder), expected);
}

#[test]
fn a_large_member_passes_through_in_little_memory() {
    // 96 MiB of numbers, which do not compress well.
    let mut text = String::with_capacity(97 << 20);
    let mut number = 1u64;
    while text.len() < 96 << 20 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(&format!("{number:x} "));
    }
    let folder = Folder::new();
    folder.write("large.tar", tar_of(&[("large.txt", text.as_bytes())]));
    drop(text);
    let peak =
        memory(&folder, &["ingest", "-q", "--profile", "text", "--memory", "8MiB", "--threads", "1", "large.tar"]);
    // The peak is 0 if the system does not report it.
    assert!(peak < 90, "{peak} MiB at the most, for a member of 96");
    assert_eq!(names(&folder), ["large.tar!large.txt"]);
}

/// A table with the column `text` and these values. `levels`: the definition and repetition levels of a list.
fn table_of(schema: &str, values: &[ByteArray], levels: Option<(&[i16], &[i16])>) -> Vec<u8> {
    encoded_table(schema, values, levels, Encoding::PLAIN)
}

/// Like [`table_of`], with this encoding of values outside the dictionary.
fn encoded_table(schema: &str, values: &[ByteArray], levels: Option<(&[i16], &[i16])>, encoding: Encoding) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY);
    let properties = properties.set_encoding(encoding).set_dictionary_enabled(levels.is_some());
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let (defined, repeated) = levels.unzip();
    column.typed::<ByteArrayType>().write_batch(values, defined, repeated).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// A run of equal values takes little space in a file, whatever its length.
#[test]
fn a_small_table_takes_no_more_memory_than_is_allowed() {
    let list = "message m { optional group text (LIST) { repeated group list { optional binary element (UTF8); } } }";
    let text = "message m { required binary text (UTF8); }";
    let elements = 200_000;
    let mut repeated = vec![1; elements];
    repeated[0] = 0;
    let folder = Folder::new();
    // One row of many elements without a value, and many rows of one element.
    folder.write("row.parquet", table_of(list, &[], Some((&vec![2; elements], &repeated))));
    folder.write("rows.parquet", table_of(list, &[], Some((&vec![2; 20_000], &vec![0; 20_000]))));
    // Elements that share one long value.
    let (long, shared) = (ByteArray::from("long ".repeat(4_000).into_bytes()), 2_000);
    repeated.truncate(shared);
    folder.write("shared.parquet", table_of(list, &vec![long; shared], Some((&vec![3; shared], &repeated))));
    folder.write("page.parquet", table_of(text, &[ByteArray::from(prose(1).repeat(50_000).into_bytes())], None));
    // Rows that share one long value, each with a copy of it.
    let long = ByteArray::from(prose(3).repeat(100).into_bytes());
    assert!(long.len() > 50_000);
    folder.write("copies.parquet", encoded_table(text, &vec![long; 1_000], None, Encoding::DELTA_BYTE_ARRAY));
    // The header of the first page says that it is an index page.
    let mut index = table_of(text, &[ByteArray::from("a text")], None);
    assert_eq!(index[4..6], [0x15, 0]);
    index[5] = 2;
    folder.write("index.parquet", index);
    folder.write("z.txt", prose(2));
    for file in ["row", "rows", "shared", "page", "copies"] {
        let size = folder.path().join(format!("{file}.parquet")).metadata().unwrap().len();
        assert!(size < 4 << 20, "{file}: {size}");
    }
    let limit = ["--limit", "reading-memory=32MiB", "--limit", "expansion=100000"];
    let flags = [&limit[..], &["--text-field", "text[]", "--exclude", "{page,copies,index}.parquet"]].concat();
    let (run, failed) = ingest(&folder, &flags);
    let told =
        |file: &str| format!("{file}.parquet: reading the Parquet document takes more than 33554432 bytes of memory");
    assert_eq!(failed, [told("row"), told("shared")], "{run:?}");
    assert!(run.stderr.contains("--limit reading-memory="), "{run:?}");
    assert_eq!(names(&folder), ["z.txt"]);
    let flags = [&limit[..], &["--text-field", "text", "--include", "{page,copies,index}.parquet"]].concat();
    let (run, failed) = ingest(&folder, &flags);
    let has_index =
        "index.parquet: the Parquet data cannot be decoded: Parquet error: a column has an index page among its pages";
    assert_eq!(failed, [told("copies"), has_index.into(), told("page")], "{run:?}");
    // With more memory all are read.
    let flags = [&["--limit", "reading-memory=1GiB"][..], &limit[2..], &["--text-field", "text[]"]];
    let (run, failed) = ingest(&folder, &[&flags.concat()[..], &["--exclude", "{page,copies,index}.parquet"]].concat());
    assert_eq!(failed, [""; 0], "{run:?}");
    assert_eq!(names(&folder), ["z.txt", "shared.parquet:1"]);
}

/// The library finds the next member by the size in the extended header.
#[test]
fn a_sparse_file_with_two_sizes_is_damage() {
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_pax_extensions([("size", &b"512"[..])]).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNUSparse);
    let fields = header.as_gnu_mut().unwrap();
    fields.name[..5].copy_from_slice(b"a.txt");
    fields.sparse[0].offset.copy_from_slice(b"00000000000\0");
    fields.sparse[0].numbytes.copy_from_slice(b"00000001000\0");
    fields.realsize.copy_from_slice(b"00000001000\0");
    header.set_size(0);
    header.set_cksum();
    archive.append(&header, &[0; 512][..]).unwrap();
    let folder = Folder::new();
    folder.write("x.tar", archive.into_inner().unwrap());
    let (run, failed) = ingest(&folder, &[]);
    assert_eq!(failed.len(), 1, "{run:?}");
    assert!(failed[0].ends_with("two headers of a sparse file state different sizes"), "{failed:?}");
}

/// The header of a sparse file can state any size.
#[test]
fn holes_of_sparse_files_are_not_copied() {
    let number = |field: &mut [u8; 12], number: u64| {
        field[0] = 0x80;
        field[4..].copy_from_slice(&number.to_be_bytes());
    };
    let mut archive = tar::Builder::new(Vec::new());
    // The last file is like the others, but has content after its hole.
    for (name, hole, content) in [("a.txt", 1 << 60, ""), (".bin", 1 << 60, ""), ("b.txt", 1 << 20, "the end")] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::GNUSparse);
        let fields = header.as_gnu_mut().unwrap();
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        number(&mut fields.realsize, hole + content.len() as u64);
        number(&mut fields.sparse[0].offset, hole);
        number(&mut fields.sparse[0].numbytes, content.len() as u64);
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content.as_bytes()).unwrap();
    }
    let text = prose(1);
    let mut header = tar::Header::new_gnu();
    header.set_path("z.txt").unwrap();
    header.set_size(text.len() as u64);
    header.set_cksum();
    archive.append(&header, text.as_bytes()).unwrap();
    let folder = Folder::new();
    folder.write("x.tar", archive.into_inner().unwrap());
    for flags in [&[][..], &["--exclude", "*.bin"], &["--include", "z.txt"]] {
        let (run, failed) = ingest(&folder, flags);
        assert!(failed.iter().all(|failed| !failed.starts_with("x.tar: ")), "{run:?}");
        assert!(names(&folder).contains(&"x.tar!z.txt".to_owned()), "{run:?}");
    }
    folder.ok(&["show", "--text", "x.tar!z.txt"]);
}
