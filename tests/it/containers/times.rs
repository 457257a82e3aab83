//! Members of archives have the times that their archive records, and one rule decides the age of documents.

use std::io::Write;

use serde_json::Value;
use zip::write::{ExtendedFileOptions, FileOptions};

use crate::bad_input::prose;
use crate::support::{Folder, gzip};

/// A time in the directory of a zip archive, and the same time in seconds since 1970, read as UTC.
const DAY: (u16, u8, u8, u8, u8, u8) = (1999, 3, 1, 12, 30, 8);
const DAY_SECONDS: i64 = 920_291_408;

type Zipped<'a> = (&'a str, &'a [u8], Option<i64>, bool);

/// A zip archive. Each member has a time in an extra field, or the time [`DAY`] if its flag is true, or none.
fn zip(members: &[Zipped<'_>]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for &(name, content, in_utc, has_day) in members {
        let mut options = FileOptions::<ExtendedFileOptions>::default();
        if has_day {
            let (year, month, day, hour, minute, second) = DAY;
            let time = zip::DateTime::from_date_and_time(year, month, day, hour, minute, second).unwrap();
            options = options.last_modified_time(time);
        }
        if let Some(seconds) = in_utc {
            let field = [&[1][..], &i32::try_from(seconds).unwrap().to_le_bytes()].concat();
            options.add_extra_field(0x5455, field, false).unwrap();
        }
        archive.start_file(name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A tar archive; each member has a time in its header, and another in an extended header if there is one.
fn tar(members: &[(&str, &[u8], u64, Option<&str>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for &(name, content, time, extended) in members {
        archive.append_pax_extensions(extended.map(|time| ("mtime", time.as_bytes()))).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mtime(time);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content).unwrap();
    }
    archive.into_inner().unwrap()
}

fn times(folder: &Folder) -> Vec<(String, Option<i64>)> {
    let listed = folder.ok(&["list", "--format", "json"]).json();
    let mut times: Vec<_> =
        listed.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["modified"].as_i64())).collect();
    times.sort();
    times
}

#[test]
fn members_have_the_times_that_their_archive_records() {
    let folder = Folder::new();
    let text: Vec<String> = (0..20).map(prose).collect();
    let rows = format!("{}\n", serde_json::json!({"text": text[0]}));
    let inner = zip(&[("x.txt", text[1].as_bytes(), Some(1_000), false), ("y.txt", text[2].as_bytes(), None, false)]);
    folder.write(
        "a.zip",
        zip(&[
            ("utc.txt", text[3].as_bytes(), Some(1_234_567_890), true),
            ("before.txt", text[4].as_bytes(), Some(-5), false),
            ("day.txt", text[5].as_bytes(), None, true),
            ("none.txt", text[6].as_bytes(), None, false),
            ("nought.txt", text[14].as_bytes(), Some(0), false),
            ("rows.jsonl", rows.as_bytes(), Some(77), false),
            ("inner.zip", &inner, Some(5_000), false),
        ]),
    );
    let old = tar(&[
        ("plain.txt", text[7].as_bytes(), 111, None),
        ("pax.txt", text[8].as_bytes(), 111, Some("222.75")),
        ("zero.txt", text[9].as_bytes(), 0, None),
        ("odd.txt", text[10].as_bytes(), 333, Some("x")),
        ("far.txt", text[15].as_bytes(), 333, Some("999999999999999")),
    ]);
    folder.write("b.tar", &old);
    folder.write("c.tgz", gzip(tar(&[("c.txt", text[11].as_bytes(), 444, None)])));
    folder.write("box.mbox", format!("From -\nFrom: a@x\nSubject: s\n\n{}\n\n", text[12]));
    let files = ["a.zip", "b.tar", "c.tgz", "box.mbox"];
    files.iter().for_each(|name| folder.age(name));
    let of_file = |name: &str| {
        let time = folder.path().join(name).metadata().unwrap().modified().unwrap();
        Some(time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64)
    };
    let expected: Vec<(String, Option<i64>)> = [
        ("a.zip!before.txt", Some(-5)),
        ("a.zip!day.txt", Some(DAY_SECONDS)),
        ("a.zip!inner.zip!x.txt", Some(1_000)),
        // The inner archive has a time, but its member has none.
        ("a.zip!inner.zip!y.txt", Some(5_000)),
        ("a.zip!none.txt", of_file("a.zip")),
        ("a.zip!nought.txt", of_file("a.zip")),
        ("a.zip!rows.jsonl:1", Some(77)),
        ("a.zip!utc.txt", Some(1_234_567_890)),
        ("b.tar!far.txt", of_file("b.tar")),
        ("b.tar!odd.txt", Some(333)),
        ("b.tar!pax.txt", Some(222)),
        ("b.tar!plain.txt", Some(111)),
        ("b.tar!zero.txt", of_file("b.tar")),
        ("box.mbox#1", of_file("box.mbox")),
        ("c.tgz!c.txt", Some(444)),
    ]
    .map(|(name, time)| (name.to_owned(), time))
    .into();
    let ingest = |paths: &[&str]| -> Value {
        folder.ok(&[&["ingest", "--profile", "prose", "--format", "json"], paths].concat()).json().remove(0)
    };
    assert_eq!(ingest(&files)["added"], 15);
    assert_eq!(times(&folder), expected);
    // The archives are not read again, so the run does not notice their false bytes.
    let again = ingest(&files);
    assert_eq!((&again["unchanged"], &again["added"], &again["replaced"]), (&15.into(), &0.into(), &0.into()));
    assert_eq!(times(&folder), expected);
    for name in files {
        let (path, facts) = (folder.path().join(name), folder.path().join(name).metadata().unwrap());
        let time = facts.modified().unwrap();
        folder.write(name, vec![b'?'; usize::try_from(facts.len()).unwrap()]);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(ingest(&files)["unchanged"], 15);
    // An archive with other times and the same texts is read, and only the times change.
    folder.write(
        "b.tar",
        tar(&[("plain.txt", text[7].as_bytes(), 112, None), ("zero.txt", text[9].as_bytes(), 113, None)]),
    );
    folder.age("b.tar");
    let changed = ingest(&["b.tar"]);
    assert_eq!((&changed["unchanged"], &changed["removed"]), (&2.into(), &3.into()), "{changed}");
    assert!(times(&folder).contains(&("b.tar!zero.txt".into(), Some(113))));
    folder.ok(&["verify"]);
}

/// Of copies of one text with times of each kind, dedup keeps the document that a query lists first. A
/// document with a date comes before documents with older files.
#[test]
fn dedup_and_query_agree_on_the_oldest() {
    let text = prose(1);
    let dates = [Some("2001-02-03"), Some("Mon, 1 Mar 1999 12:00:00 +0100"), Some("no date"), None];
    for (number, (first, second)) in dates.iter().flat_map(|one| dates.iter().map(move |two| (one, two))).enumerate() {
        let folder = Folder::new();
        // Times between both dates, and outside them.
        let time = [978_000_000, 1_100_000_000, 0x1000][number % 3];
        folder.write("a.zip", zip(&[("m.txt", text.as_bytes(), Some(time), false)]));
        folder.write("b.txt", &text);
        folder.write("c.txt", &text);
        folder.write("d.jsonl", serde_json::json!({"text": text, "Date": "1998-01-01"}).to_string());
        folder.age("b.txt");
        folder.age("c.txt");
        folder.age("d.jsonl");
        let row = |name: &str, date: &Option<&str>| date.map_or(String::new(), |date| format!("{name},\"{date}\"\n"));
        folder.write("table.csv", format!("filename,date\n{}{}", row("b.txt", first), row("a.zip!m.txt", second)));
        let with_date = number % 2 == 0;
        let keep: &[&str] = if with_date { &["--keep-fields", "Date"] } else { &[] };
        let ingest =
            ["ingest", "-q", "--profile", "prose", "--metadata", "table.csv", "a.zip", "b.txt", "c.txt", "d.jsonl"];
        folder.ok(&[&ingest, keep].concat());
        let query = ["query", "c.txt", "--sort", "oldest", "--format", "json"];
        let listed = folder.ok(&query).json().remove(0);
        let oldest = &listed["matches"][0]["document"];
        let report = folder.ok(&["dedup", "--keep", "oldest", "--format", "json"]).json();
        assert_eq!(report[0]["keep"], *oldest, "{first:?} {second:?} {time}: {listed}");
        let newest = folder.ok(&["dedup", "--keep", "newest", "--format", "json"]).json();
        let is_date = |date: &Option<&str>| date.is_some_and(|date| date != "no date");
        let dated = |name: &serde_json::Value| match name.as_str() {
            Some("b.txt") => is_date(first),
            Some("a.zip!m.txt") => is_date(second),
            name => name == Some("d.jsonl:1") && with_date,
        };
        let any_is_dated = with_date || is_date(first) || is_date(second);
        assert_eq!(dated(oldest), any_is_dated, "{first:?} {second:?} {time}: {listed}");
        assert_eq!(dated(&newest[0]["keep"]), any_is_dated, "{first:?} {second:?} {time}: {newest:?}");
        assert_eq!(oldest == "d.jsonl:1", with_date);
    }
}
