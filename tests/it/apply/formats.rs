//! Each format: a file is written without some of its members, and all others keep their bytes or values.

use std::fs::{self, File};
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parquet::basic::Compression as Codec;
use parquet::data_type::{ByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Row;
use parquet::schema::parser::parse_message_type;

use super::{apply, report, text};
use crate::support::{Folder, zip};

/// Ten records with seven texts: the records 7, 8 and 9 are removable.
const TEXTS: [u64; 10] = [0, 1, 2, 3, 4, 5, 6, 1, 3, 6];

fn record(number: usize) -> String {
    // The copy keeps the writer's spaces, order and escapes.
    format!("{{ \"n\" : {number}, \"text\":\"{}\", \"deep\":{{\"x\":[1.50, null]}}}}\r\n", text(TEXTS[number]))
}

/// Writes one container, copies it without removable documents, and returns the copy.
fn copied(name: &str, bytes: &[u8], removable: usize) -> Vec<u8> {
    let folder = Folder::new();
    folder.write(&format!("in/{name}"), bytes);
    assert_eq!(report(&folder).len(), removable, "{name}");
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{name}: {run:#?}");
    assert_eq!((&summary["applied"], &lines[0]["act"]), (&removable.into(), &"write".into()), "{name}");
    let copy = fs::read(folder.path().join("clean/in").join(name)).unwrap();
    // The copy has no duplicates.
    folder.ok(&["--db", "again", "ingest", "-q", "--profile", "words", "clean"]);
    let summary = folder.ok(&["--db", "again", "dedup", "--format", "json"]).json().pop().unwrap();
    assert_eq!(summary["removable"], 0, "{name}");
    copy
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder =
        flate2::GzBuilder::new().filename("inside").mtime(77).write(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut all).unwrap();
    all
}

/// The name of a member of an archive may look like the name of a record with its field.
#[test]
fn names_of_members_are_no_fields() {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, number) in [("a.txt", 1), ("b:3?x", 1), ("c:4?x", 2), ("d.txt", 2), ("e.txt", 3)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text(number).len() as u64);
        tar.append_data(&mut header, name, text(number).as_bytes()).unwrap();
    }
    let copy = copied("a.tar", &tar.into_inner().unwrap(), 2);
    let mut copy = tar::Archive::new(&copy[..]);
    let names: Vec<_> = copy.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().into_owned()).collect();
    assert_eq!(names, ["a.txt", "c:4?x", "e.txt"].map(Path::new));
}

/// Earlier versions kept backslashes in the names of zip members. A tar keeps them, so it replaces the zip at
/// first.
#[test]
fn members_stored_with_backslashes_are_found_in_their_zip() {
    let members = [("ann\\a.txt", 1), ("bob\\a.txt", 1), ("bob\\b.txt", 2), ("bob\\c.txt", 3)];
    let mut tar = tar::Builder::new(Vec::new());
    for (name, number) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(text(number).len() as u64);
        tar.append_data(&mut header, name, text(number).as_bytes()).unwrap();
    }
    let folder = Folder::new();
    folder.write("in/old.zip", tar.into_inner().unwrap());
    assert_eq!(report(&folder).len(), 1);
    folder.write("in/old.zip", zip(members.map(|(name, number)| (name, text(number)))));
    assert_eq!(folder.ok(&["show", "--text", "in/old.zip!bob\\b.txt"]).stdout, text(2));
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!((&summary["applied"], &lines[0]["act"]), (&1.into(), &"write".into()), "{run:#?}");
    let copy = File::open(folder.path().join("clean/in/old.zip")).unwrap();
    let copy = zip::ZipArchive::new(copy).unwrap();
    let mut names: Vec<_> = copy.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, ["ann\\a.txt", "bob\\b.txt", "bob\\c.txt"]);
    // Looks up several texts at a time.
    let repeats = folder.ok(&["dedup", "--passages", "--format", "json"]).json();
    assert_eq!(repeats.last().unwrap()["uncompared"], 0, "{repeats:?}");
}

#[test]
fn json_lines_in_every_compression() {
    let lines: Vec<String> = (0..10).map(record).collect();
    let all = lines.concat().into_bytes();
    let kept = lines[..7].concat().into_bytes();
    assert_eq!(copied("a.jsonl", &all, 3), kept);

    let copy = copied("a.jsonl.gz", &gzip(&all), 3);
    assert_eq!(gunzip(&copy), kept);
    assert_eq!(flate2::read::GzDecoder::new(&copy[..]).header().unwrap().filename(), Some(&b"inside"[..]));

    let copy = copied("a.jsonl.zst", &zstd::encode_all(&all[..], 3).unwrap(), 3);
    assert_eq!(zstd::decode_all(&copy[..]).unwrap(), kept);

    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(&all).unwrap();
    let copy = copied("a.jsonl.xz", &encoder.finish().unwrap(), 3);
    let mut unpacked = Vec::new();
    liblzma::read::XzDecoder::new(&copy[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, kept);

    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(3));
    encoder.write_all(&all).unwrap();
    let copy = copied("a.jsonl.bz2", &encoder.finish().unwrap(), 3);
    assert_eq!(copy[3], b'3', "the size of blocks");
    let mut unpacked = Vec::new();
    bzip2::read::BzDecoder::new(&copy[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, kept);
}

#[test]
fn members_of_gzip_and_frames_of_zstd_stay_as_they_are() {
    // Each part has two records. The last part loses both, and the fourth loses one.
    let pairs: Vec<Vec<u8>> =
        [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]].map(|pair| pair.map(record).concat().into_bytes()).into();
    let frames: Vec<Vec<u8>> = pairs.iter().map(|pair| gzip(pair)).collect();
    let copy = copied("a.jsonl.gz", &frames.concat(), 3);
    let untouched = frames[..3].concat();
    assert!(copy.starts_with(&untouched));
    assert_eq!(gunzip(&copy[untouched.len()..]), record(6).into_bytes());

    let frames: Vec<Vec<u8>> = pairs.iter().map(|pair| zstd::encode_all(&pair[..], 19).unwrap()).collect();
    let copy = copied("a.jsonl.zst", &frames.concat(), 3);
    let untouched = frames[..3].concat();
    assert!(copy.starts_with(&untouched));
    assert_eq!(zstd::decode_all(&copy[untouched.len()..]).unwrap(), record(6).into_bytes());

    // A seek table, which lists the sizes of frames, would no longer be true. Other skippable frames stay.
    let skippable = |end: u32| {
        let words = [0x184D_2A5E, 17, frames[0].len() as u32, pairs[0].len() as u32, 1];
        [&words.map(u32::to_le_bytes).concat()[..], &[0], &end.to_le_bytes()].concat()
    };
    let (table, other) = (skippable(0x8F92_EAB1), skippable(7));
    let with_table = copied("a.jsonl.zst", &[&frames.concat()[..], &other, &table].concat(), 3);
    assert_eq!(with_table, [copy, other].concat());
}

#[test]
fn what_loses_everything_is_not_in_the_copy() {
    let folder = Folder::new();
    folder.write("in/a.txt", text(1));
    let line = format!("{{\"text\":\"{}\"}}\n", text(1));
    folder.write("in/b.jsonl.gz", gzip(line.as_bytes()));
    folder.write("in/c.jsonl", &line);
    folder.write("in/d.jsonl.gz", [gzip(line.as_bytes()), vec![0; 512]].concat());
    assert_eq!(report(&folder).len(), 3);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(fs::read_dir(folder.path().join("clean/in")).unwrap().count(), 1);
}

fn tar(names: &[(String, String)], link: Option<&str>) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in names {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o640);
        header.set_mtime(1_000_000 + content.len() as u64);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    if let Some(target) = link {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Link);
        header.set_size(0);
        builder.append_link(&mut header, "link", target).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(super) fn entries(tar: &[u8]) -> Vec<(String, u64, Vec<u8>)> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), entry.header().mtime().unwrap(), bytes)
    });
    entries.collect()
}

#[test]
fn tar_with_long_names_and_links() {
    let name =
        |n: usize| if n.is_multiple_of(2) { format!("{}/{n}.txt", "long".repeat(40)) } else { format!("{n}.txt") };
    let members: Vec<(String, String)> = (0..10).map(|n| (name(n), text(TEXTS[n]))).collect();
    let whole = tar(&members, None);
    // Without the last three members, the archive equals an archive of the first seven.
    assert_eq!(copied("a.tar", &whole, 3)[..], tar(&members[..7], None)[..]);
    let copy = gunzip(&copied("a.tar.gz", &gzip(&whole), 3));
    assert_eq!(entries(&copy), entries(&tar(&members[..7], None)));

    // A member that is the target of a link stays.
    let folder = Folder::new();
    folder.write("in/a.tar", tar(&members, Some("7.txt")));
    report(&folder);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &2.into(), &1.into()), "{run:#?}");
    assert!(lines[0]["reason"].as_str().unwrap().contains("refer to them"), "{lines:?}");
    let names: Vec<String> =
        entries(&fs::read(folder.path().join("clean/in/a.tar")).unwrap()).into_iter().map(|entry| entry.0).collect();
    assert_eq!(names.len(), 9);
    assert!(names.contains(&"7.txt".to_owned()) && names.contains(&"link".to_owned()));
}

#[test]
fn containers_within_containers_stay_whole() {
    let folder = Folder::new();
    let lines: String = (0..10).map(record).collect();
    folder.write("in/a.tar", tar(&[("x.jsonl".into(), lines), ("y.txt".into(), text(0))], None));
    assert_eq!(report(&folder).len(), 4);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    // The text beside the inner archive is removable, because it is a member of the outer archive itself.
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &1.into(), &3.into()), "{run:#?}");
    assert!(lines[0]["reason"].as_str().unwrap().contains("containers within it"), "{lines:?}");
}

#[test]
fn zip_keeps_entries_as_they_are_compressed() {
    let zip = |numbers: std::ops::Range<usize>, signed: bool| {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        writer.set_raw_comment(b"comment".to_vec().into_boxed_slice()).unwrap();
        for number in numbers {
            let method = if number.is_multiple_of(3) {
                zip::CompressionMethod::Stored
            } else {
                zip::CompressionMethod::Deflated
            };
            let time = zip::DateTime::from_date_and_time(2001, 2, 3, 4, 5, 6).unwrap();
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(method)
                .last_modified_time(time)
                .unix_permissions(0o751);
            writer.start_file(format!("d/{number}.txt"), options).unwrap();
            writer.write_all(text(TEXTS[number]).as_bytes()).unwrap();
        }
        if signed {
            writer.start_file("META-INF/A.SF", zip::write::SimpleFileOptions::default()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let copy = copied("a.zip", &zip(0..10, false), 3);
    assert_eq!(copy, zip(0..7, false), "the archive is one of the first seven");

    let folder = Folder::new();
    folder.write("in/a.zip", zip(0..10, true));
    report(&folder);
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["left"], &lines[0]["act"]), (2, &3.into(), &"copy".into()), "{run:#?}");
    assert!(lines[0]["reason"].as_str().unwrap().contains("signed"));
    assert_eq!(fs::read(folder.path().join("clean/in/a.zip")).unwrap(), zip(0..10, true));
}

#[test]
fn warc_record_by_record() {
    let record = |number: usize| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", text(TEXTS[number]));
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Payload-Digest: sha1:{number}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
        .into_bytes()
    };
    let info = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 4\r\n\r\na: b\r\n\r\n".to_vec();
    let revisit =
        b"WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Refers-To: <urn:uuid:8>\r\nContent-Length: 0\r\n\r\n\r\n\r\n".to_vec();
    let all: Vec<Vec<u8>> = std::iter::once(info).chain((0..10).map(record)).collect();
    assert_eq!(copied("a.warc", &all.concat(), 3), all[..8].concat());
    // If each record is compressed separately, each remaining record keeps its bytes.
    let members: Vec<Vec<u8>> = all.iter().map(|record| gzip(record)).collect();
    assert_eq!(copied("a.warc.gz", &members.concat(), 3), members[..8].concat());
    // A record to which a revisit refers stays.
    let folder = Folder::new();
    folder.write("in/a.warc", [all.concat(), revisit.clone()].concat());
    report(&folder);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!((run.status, &summary["left"]), (0, &1.into()), "{run:#?}");
    let expected = [all[..8].concat(), all[9].clone(), revisit].concat();
    assert_eq!(fs::read(folder.path().join("clean/in/a.warc")).unwrap(), expected);
}

#[test]
fn of_records_of_one_id_the_removable_one_leaves_if_the_other_is_stored() {
    let record = |id: usize, seed: u64| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{}", text(seed));
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{id}>\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        )
    };
    // The second record with the id 2 has a copy, the first one has none. By default, an ingest stores one of them.
    let all = [record(1, 3), record(2, 1), record(2, 3), record(3, 2)].concat();
    let left = [record(1, 3), record(2, 1), record(3, 2)].concat();
    for (on_change, expected, inseparable, status) in [("replace", &all, 1, 2), ("both", &left, 0, 0)] {
        let folder = Folder::new();
        folder.write("in/a.warc", &all);
        folder.ok(&["ingest", "-q", "--profile", "words", "--on-change", on_change, "in"]);
        folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (run, lines, summary) = apply(&folder, &["--write", "clean", "--yes"]);
        assert_eq!((run.status, summary["left"].as_u64()), (status, Some(inseparable)), "{run:#?}");
        assert_eq!(lines[0]["reason"].to_string().contains("come to light"), inseparable > 0, "{run:#?}");
        assert_eq!(fs::read_to_string(folder.path().join("clean/in/a.warc")).unwrap(), *expected);
        folder.ok(&["apply", "report.jsonl", "--check", "--write", "clean"]);
    }
    // A record whose content is kept out leaves, whatever stands before it.
    let folder = Folder::new();
    folder.write("in/a.warc", [record(1, 3), record(2, 1), record(2, 4), record(3, 2)].concat());
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    folder.ok(&["rm", "-q", "--keep-out", "in/a.warc#urn:uuid:2"]);
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    apply(&folder, &["--write", "clean", "--yes"]);
    let copy = fs::read_to_string(folder.path().join("clean/in/a.warc")).unwrap();
    assert!(!copy.contains(text(4).trim()) && copy.contains(text(3).trim()), "{copy}");
}

#[test]
fn mbox_mail_by_mail() {
    let mail = |number: usize| {
        format!(
            "From a@example.org Sat Jan  3 01:05:34 1996\nSubject: {0}\nTo: b\n\n>From me\n{1}\n\n",
            TEXTS[number],
            text(TEXTS[number])
        )
    };
    // The last mail is a copy too.
    let all: String = (0..10).chain([2]).map(mail).collect();
    let kept: String = (0..7).map(mail).collect();
    let folder = Folder::new();
    folder.write("in/a.mbox", &all);
    assert_eq!(report(&folder).len(), 4);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/a.mbox")).unwrap(), kept);
}

const SCHEMA: &str = "message m { optional int64 id; required binary text (UTF8); \
    optional group l (LIST) { repeated group list { optional binary element (UTF8); } } }";

/// The schema that pyarrow writes for these columns, with `large_string` as the type of the text.
const ARROW: &str = "/////xABAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACoAAAAaAAAAAQAAAB0////AAABDBQAAAAY\
    AAAABAAAAAEAAAAQAAAAAQAAAGwAAACg////nP///wAAAQUQAAAAGAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAAyP///xAAFAAIAAAABwAMAAAA\
    EAAQAAAAAAAAFBAAAAAcAAAABAAAAAAAAAAEAAAAdGV4dAAAAAAEAAQABAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABAhAAAAAcAAAABAAA\
    AAAAAAACAAAAaWQAAAgADAAIAAcACAAAAAAAAAFAAAAAAAAAAA==";

/// Rows with nulls, lists and empty lists, in groups of four.
fn table(path: &Path) {
    let properties = WriterProperties::builder()
        .set_compression(Codec::ZSTD(Default::default()))
        .set_key_value_metadata(Some(vec![
            KeyValue::new("about".into(), "crawl".to_owned()),
            KeyValue::new("ARROW:schema".into(), ARROW.to_owned()),
        ]))
        .build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    for numbers in [0..4usize, 4..8, 8..10] {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let ids: Vec<i64> = numbers.clone().filter(|n| n % 3 != 0).map(|n| n as i64).collect();
        let defined: Vec<i16> = numbers.clone().map(|n| i16::from(n % 3 != 0)).collect();
        column.typed::<Int64Type>().write_batch(&ids, Some(&defined), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<_> = numbers.clone().map(|n| text(TEXTS[n]).as_str().into()).collect();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for number in numbers {
            // No list, an empty list, a list with a null, and a list of values.
            let levels = [vec![0], vec![1], vec![2], vec![3; number]];
            for (at, &level) in levels[number % 4].iter().enumerate() {
                defined.push(level);
                repeated.push(i16::from(at > 0));
                if level == 3 {
                    values.push(format!("{number}.{at}").as_str().into());
                }
            }
        }
        column.typed::<ByteArrayType>().write_batch(&values, Some(&defined), Some(&repeated)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

#[test]
fn parquet_with_schema_groups_and_metadata() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("in")).unwrap();
    let (path, copy) = (folder.path().join("in/a.parquet"), folder.path().join("clean/in/a.parquet"));
    table(&path);
    assert_eq!(report(&folder).len(), 3);
    let (run, ..) = apply(&folder, &["--write", "clean", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let before = rows(&path);
    assert_eq!(rows(&copy), before[..7]);
    let open = |path: &Path| SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let (old, new) = (open(&path), open(&copy));
    let facts = |reader: &SerializedFileReader<File>| {
        let facts = reader.metadata().file_metadata();
        (facts.schema_descr().root_schema().clone(), facts.key_value_metadata().cloned())
    };
    assert_eq!(facts(&old), facts(&new));
    let groups: Vec<i64> = new.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [4, 3]);
    for column in new.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        assert!(matches!(column.compression(), Codec::ZSTD(_)));
    }
    // The row group that loses nothing keeps its bytes.
    let chunk = |reader: &SerializedFileReader<File>, path: &Path| {
        let column = reader.metadata().row_group(0).column(1).byte_range();
        fs::read(path).unwrap()[column.0 as usize..(column.0 + column.1) as usize].to_vec()
    };
    assert_eq!(chunk(&old, &path), chunk(&new, &copy));

    // With marks, all rows remain.
    let (run, ..) = apply(&folder, &["--mark", "dup", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let marked = rows(&path);
    assert_eq!(marked.len(), 10);
    let arrow = facts(&open(&path)).1.unwrap().remove(1);
    let message = BASE64_STANDARD.decode(arrow.value.unwrap()).unwrap();
    let whole = BASE64_STANDARD.decode(ARROW).unwrap();
    // The new columns stand before the old content of the entry.
    let added = message.len() - (whole.len() - 8);
    assert_eq!((arrow.key.as_str(), &message[added..]), ("ARROW:schema", &whole[8..]));
    assert!(message[..added].windows(12).any(|name| name == b"dup_survivor"));
    for (number, row) in marked.iter().enumerate() {
        let columns: Vec<(String, String)> =
            row.get_column_iter().map(|(name, field)| (name.clone(), field.to_string())).collect();
        let old: Vec<(String, String)> =
            before[number].get_column_iter().map(|(name, field)| (name.clone(), field.to_string())).collect();
        assert_eq!(columns[..3], old[..]);
        let (verdict, survivor) = match number {
            7 => ("\"remove\"", "\"in/a.parquet:2\""),
            8 => ("\"remove\"", "\"in/a.parquet:4\""),
            9 => ("\"remove\"", "\"in/a.parquet:7\""),
            _ => ("\"keep\"", "null"),
        };
        assert_eq!((columns[3].1.as_str(), columns[4].1.as_str()), (verdict, survivor));
    }
}

#[test]
fn records_of_json_lines_are_marked_once() {
    for compressed in [false, true] {
        let folder = Folder::new();
        let lines: String = (0..10).map(record).collect();
        let name = if compressed { "in/a.jsonl.gz" } else { "in/a.jsonl" };
        folder.write(name, if compressed { gzip(lines.as_bytes()) } else { lines.clone().into_bytes() });
        report(&folder);
        for _ in 0..2 {
            let (run, _, summary) = apply(&folder, &["--mark", "dup", "--yes"]);
            assert_eq!((run.status, &summary["applied"]), (0, &3.into()), "{run:#?}");
            let bytes = fs::read(folder.path().join(name)).unwrap();
            let marked = String::from_utf8(if compressed { gunzip(&bytes) } else { bytes }).unwrap();
            for (number, (line, old)) in marked.split_inclusive('\n').zip(lines.split_inclusive('\n')).enumerate() {
                let mark = match number {
                    0..7 => "\"keep\",\"dup_survivor\":null".to_owned(),
                    _ => format!("\"remove\",\"dup_survivor\":\"{}:{}\"", name, TEXTS[number] + 1),
                };
                assert_eq!(line, old.replace("}}\r\n", &format!("}},\"dup\":{mark}}}\r\n")));
            }
        }
        // A mark with the name of an existing field is refused.
        let (run, lines, _) = apply(&folder, &["--write", "clean", "--mark", "n", "--yes"]);
        assert_eq!(run.status, 2, "{run:#?}");
        assert!(lines[0]["reason"].as_str().unwrap().contains("have a field n"), "{lines:?}");
    }
}
