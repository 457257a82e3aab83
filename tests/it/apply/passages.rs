//! Repeated passages are cut out of each format, or marked: exactly the passages that the report lists.

use std::fs;
use std::sync::Arc;

use parquet::basic::Compression as Codec;
use parquet::data_type::{ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row, RowAccessor};
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use super::{apply, files, text};
use crate::support::{Folder, zip};

/// Ten texts: three begin with the same, two end with the same, and the last is a copy of the first.
fn texts() -> Vec<String> {
    let quoted = |seed: u64| format!("“{}” — é\n", text(seed));
    let parts: [&[u64]; 10] = [&[0], &[50, 1], &[50, 2], &[3, 51], &[4], &[50, 5, 51], &[6], &[7], &[8], &[0]];
    parts.iter().map(|parts| parts.iter().map(|&seed| quoted(seed)).collect()).collect()
}

/// The report of passages, without its summary.
fn report(folder: &Folder) -> Vec<Value> {
    if !folder.path().join(".fpdb").exists() {
        folder.ok(&["init", "--profile", "words", "--words", "unicode"]);
    }
    folder.ok(&["ingest", "-q", "in"]);
    folder.ok(&["dedup", "--passages", "--min-length", "20", "--format", "json", "-o", "report.jsonl", "-q"]);
    let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    let mut rows: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.pop();
    rows
}

/// A document without the spans that the report lists of it.
fn without(rows: &[Value], document: &str, text: &str) -> String {
    let mut left = text.as_bytes().to_vec();
    for row in rows.iter().rev().filter(|row| row["document"] == document) {
        let offset = |field: &str| row[field].as_u64().unwrap() as usize;
        left.drain(offset("start")..offset("end"));
    }
    String::from_utf8(left).unwrap()
}

/// Checks that the copy has no repeated passage.
fn is_clean(folder: &Folder) {
    folder.ok(&["--db", "again", "ingest", "-q", "--profile", "words", "clean"]);
    let flags = ["--db", "again", "dedup", "--passages", "--min-length", "20", "--format", "json"];
    assert_eq!(folder.ok(&flags).json().pop().unwrap()["repeats"], 0);
}

#[test]
fn passages_are_cut_out_of_files_compressed_or_not() {
    let folder = Folder::new();
    let texts = texts();
    for (number, text) in texts.iter().enumerate() {
        match number % 3 {
            0 => folder.write(&format!("in/{number}.txt"), text),
            2 => folder.write(&format!("in/{number}.md.zst"), zstd::encode_all(text.as_bytes(), 3).unwrap()),
            _ => folder.write(&format!("in/{number}.txt"), text),
        };
    }
    let rows = report(&folder);
    assert_eq!(rows.len(), 4, "{rows:#?}");
    let before = files(folder.path());
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut"]);
    assert_eq!((run.status, &summary["applied"], &summary["passages"]), (0, &json!(3), &json!(true)), "{run:#?}");
    assert_eq!(files(folder.path()), before, "a dry run");
    let (run, lines, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((run.status, &summary["applied"], &summary["left"]), (0, &json!(3), &json!(0)), "{run:#?}");
    let acts = |act: &str| lines.iter().filter(|line| line["act"] == act).count();
    // Nothing is left of the last text, a copy of the first.
    assert_eq!((acts("cut"), acts("omit")), (2, 1));
    assert!(!folder.path().join("clean/in/9.txt").exists());
    for (number, text) in texts.iter().enumerate().take(9) {
        let (name, copy) = match number % 3 {
            2 => {
                let copy = fs::read(folder.path().join(format!("clean/in/{number}.md.zst"))).unwrap();
                (format!("in/{number}.md.zst"), zstd::decode_all(&copy[..]).unwrap())
            }
            _ => (format!("in/{number}.txt"), fs::read(folder.path().join(format!("clean/in/{number}.txt"))).unwrap()),
        };
        assert_eq!(String::from_utf8(copy).unwrap(), without(&rows, &name, text), "{name}");
    }
    is_clean(&folder);
    // The same command again has nothing to do.
    let (_, _, again) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((&again["done_before"], &again["applied"]), (&json!(9), &json!(3)));
}

#[test]
fn passages_are_cut_out_of_json_lines_and_every_other_byte_stays() {
    let folder = Folder::new();
    let texts = texts();
    let line = |text: &str| format!("{{ \"n\" : 1.50, \"text\":{}, \"d\":{{\"text\":[null]}}}}\r\n", json!(text));
    let all: String = texts.iter().map(|text| line(text)).collect();
    folder.write("in/a.jsonl", &all);
    folder.write("in/b.jsonl.gz", super::formats::gzip(all.as_bytes()));
    let rows = report(&folder);
    let (run, _, _) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    for (name, copy) in [
        ("a.jsonl", fs::read(folder.path().join("clean/in/a.jsonl")).unwrap()),
        ("b.jsonl.gz", super::formats::gunzip(&fs::read(folder.path().join("clean/in/b.jsonl.gz")).unwrap())),
    ] {
        let cut = |(number, text): (usize, &String)| line(&without(&rows, &format!("in/{name}:{}", number + 1), text));
        // The copy leaves out records of which only punctuation remains.
        let cut = texts.iter().enumerate().map(cut);
        let expected: String = cut.filter(|line| line.matches(char::is_alphanumeric).count() > 40).collect();
        assert_eq!(String::from_utf8(copy).unwrap(), expected, "{name}");
    }
    // The first file has all text of the second.
    assert!(rows.iter().any(|row| row["document"] == "in/b.jsonl.gz:5"));
    is_clean(&folder);

    let (run, _, _) = apply(&folder, &["--mark", "repeats", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let marked = fs::read_to_string(folder.path().join("in/a.jsonl")).unwrap();
    for (number, line) in marked.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        let of = rows.iter().filter(|row| row["document"] == format!("in/a.jsonl:{}", number + 1));
        assert_eq!(record["repeats"], of.map(|row| json!([row["start"], row["end"]])).collect::<Value>(), "{line}");
        assert_eq!(record["text"], json!(texts[number]));
    }
}

#[test]
fn passages_are_cut_out_of_a_column_of_parquet() {
    let folder = Folder::new();
    let texts = texts();
    let schema = "message m { required int64 n; optional byte_array text (UTF8); required byte_array other (UTF8); }";
    let properties = WriterProperties::builder().set_compression(Codec::SNAPPY).build();
    let mut file = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
    // Three row groups; the last loses nothing. Each has a row without a text.
    for rows in [&texts[..3], &texts[3..6], &texts[6..9]] {
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i64> = (0..4).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let values: Vec<_> = rows.iter().map(|text| text.as_str().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[1, 0, 1, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&["a".into(), "b".into(), "c".into(), "d".into()], None, None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    folder.write("in/a.parquet", &file);
    let rows = report(&folder);
    assert_eq!(rows.len(), 3, "{rows:#?}");
    let (run, _, _) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let read = |bytes: Vec<u8>| -> Vec<Value> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 3);
        let value = |field: &Field| match field {
            Field::Str(text) => json!(text),
            Field::Null => Value::Null,
            other => json!(other.to_string()),
        };
        let record = |row: Row| row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect();
        reader.get_row_iter(None).unwrap().map(|row| Value::Object(record(row.unwrap()))).collect()
    };
    let before = read(file);
    let after = read(fs::read(folder.path().join("clean/in/a.parquet")).unwrap());
    assert_eq!(before.len(), after.len());
    for (number, (mut before, after)) in before.into_iter().zip(after).enumerate() {
        if let Some(text) = before["text"].as_str() {
            before["text"] = json!(without(&rows, &format!("in/a.parquet:{}", number + 1), text));
        }
        assert_eq!(before, after, "{number}");
    }
    is_clean(&folder);

    let (run, _, _) = apply(&folder, &["--mark", "repeats", "--write", "marked", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let marked = read(fs::read(folder.path().join("marked/in/a.parquet")).unwrap());
    let listed: usize = marked
        .iter()
        .map(|row| serde_json::from_str::<Vec<[u64; 2]>>(row["repeats"].as_str().unwrap()).unwrap().len())
        .sum();
    assert_eq!(listed, rows.len());
}

#[test]
fn what_cannot_lose_a_passage_is_copied_whole_and_named() {
    let folder = Folder::new();
    let texts = texts();
    folder.write("in/0.txt", &texts[1]);
    folder.write("in/1.html", format!("<p>{}</p>", texts[2]));
    folder.write("in/2.zip", zip([("x.txt", &texts[5])]));
    folder.write("in/3.txt", &texts[5]);
    folder.write("in/4.txt", format!("{} own", texts[1]));
    assert_eq!(report(&folder).len(), 5);
    // The first occurrence of the last two repeats has changed.
    folder.write("in/0.txt", "changed");
    let (run, mut lines, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (2, &json!(1)), "{run:#?}");
    lines.sort_by_key(|line| line["source"].to_string());
    let acts: Vec<_> = lines.iter().map(|line| line["act"].as_str().unwrap()).collect();
    assert_eq!(acts, ["leave", "copy", "copy", "cut", "copy"], "{lines:#?}");
    for name in ["1.html", "2.zip", "4.txt"] {
        let path = folder.path().join("in").join(name);
        assert_eq!(fs::read(&path).unwrap(), fs::read(folder.path().join("clean/in").join(name)).unwrap());
    }
    assert!(
        lines[1..3].iter().all(|line| line["reason"].as_str().unwrap().contains("cannot be cut out of this format"))
    );
    assert!(lines[4]["reason"].as_str().unwrap().contains("earlier occurrences of some passages have changed"));
    // One passage of `in/3.txt` stays, so it counts too. Its other passage occurs first in the archive, and
    // is cut.
    assert_eq!(summary["unjustified"], 2);
}

/// Documents of which only spaces and punctuation remain are left out and counted, in each format.
#[test]
fn documents_without_any_text_left_are_left_out() {
    let text_of = |parts: &[u64]| parts.iter().map(|&seed| format!("“{}”!\n", text(seed))).collect::<String>();
    for (parts, lost) in [
        (vec![vec![1, 2], vec![3, 4]], &[][..]),
        (vec![vec![1], vec![2, 1], vec![2, 1], vec![1], vec![1, 2], vec![5, 1]], &[2, 3, 4]),
    ] {
        let texts: Vec<String> = parts.iter().map(|parts| text_of(parts)).collect();
        let lines: String = texts.iter().map(|text| json!({ "text": text }).to_string() + "\n").collect();
        for name in ["a.jsonl", "a.parquet", "files"] {
            let folder = Folder::new();
            match name {
                "a.jsonl" => drop(folder.write("in/a.jsonl", &lines)),
                "a.parquet" => drop(folder.write("in/a.parquet", table(&texts))),
                _ => texts.iter().enumerate().for_each(|(at, text)| drop(folder.write(&format!("in/{at}.txt"), text))),
            }
            let rows = report(&folder);
            for yes in [&["--write", "clean", "--cut"][..], &["--write", "clean", "--cut", "--yes"]] {
                let (run, _, summary) = apply(&folder, yes);
                let counted = summary["without_text"].as_u64().unwrap_or(0) as usize;
                assert_eq!((run.status, counted), (0, lost.len()), "{run:#?}");
                let said = "3 documents have no text left without the passages and are not in the copy\n";
                assert_eq!(run.stderr.contains(said), lost.len() == 3, "{run:#?}");
            }
            let kept = (0..texts.len()).filter(|at| !lost.contains(at));
            let expected = kept.map(|at| {
                let document = if name == "files" { format!("in/{at}.txt") } else { format!("in/{name}:{}", at + 1) };
                without(&rows, &document, &texts[at])
            });
            let copied: Vec<String> = match name {
                "a.jsonl" => {
                    let copy = fs::read_to_string(folder.path().join("clean/in/a.jsonl")).unwrap();
                    let text =
                        |line: &str| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned();
                    copy.lines().map(text).collect()
                }
                "a.parquet" => column(fs::read(folder.path().join("clean/in/a.parquet")).unwrap()),
                _ => files(&folder.path().join("clean"))
                    .into_iter()
                    .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
                    .collect(),
            };
            assert_eq!(copied, expected.collect::<Vec<_>>(), "{name}");
            is_clean(&folder);
        }
    }
}

/// The passages of a compressed file that was not unpacked are ranges of its compressed bytes.
#[test]
fn a_compressed_file_that_was_not_unpacked_stays_whole() {
    let folder = Folder::new();
    let next = |state: &u64| Some(state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
    let noise: Vec<u8> = std::iter::successors(Some(1), next).map(|state| (state >> 56) as u8).take(6000).collect();
    folder.write("in/a.gz", super::formats::gzip(&noise));
    folder.write("in/b.gz", super::formats::gzip(&[&noise[..], b"mine"].concat()));
    folder.ok(&["ingest", "-q", "--profile", "bytes", "--no-expand", "in"]);
    folder.ok(&["dedup", "--passages", "--format", "json", "-o", "report.jsonl", "-q"]);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((&summary["documents"], &summary["whole"]), (&json!(1), &json!(1)), "{run:#?}");
    assert_eq!(files(&folder.path().join("clean/in")), files(&folder.path().join("in")));
}

/// The text that remains may have no symbol, such as the numeric answer to a copied question, or the comment
/// in a copied program.
#[test]
fn text_that_is_no_symbol_is_not_left_out() {
    let (question, program) = (text(1), (0..60).map(|line| format!("a{line} = f{line}(x);\n")).collect::<String>());
    for (profile, ending, texts) in [
        ("words", "txt", [question.clone() + "41", question + "42"]),
        ("code", "c", [program.clone(), program + "// mine\n"]),
    ] {
        let folder = Folder::new();
        texts.iter().enumerate().for_each(|(at, text)| drop(folder.write(&format!("in/{at}.{ending}"), text)));
        folder.ok(&["init", "--profile", profile]);
        report(&folder);
        let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
        let copy = fs::read_to_string(folder.path().join(format!("clean/in/1.{ending}"))).unwrap();
        assert!(copy.len() < texts[1].len() / 4 && (copy.contains("42") || copy.contains("mine")), "{copy}: {run:#?}");
        assert!(summary.get("without_text").is_none(), "{run:#?}");
    }
}

/// A table with a column of numbers and one of these texts, in row groups of two rows. One group loses all
/// rows.
fn table(texts: &[String]) -> Vec<u8> {
    let schema =
        Arc::new(parse_message_type("message m { required int64 n; optional byte_array text (UTF8); }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    for (at, rows) in texts.chunks(2).enumerate() {
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i64> = (0..rows.len()).map(|row| (at * 2 + row) as i64).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let values: Vec<_> = rows.iter().map(|text| text.as_str().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&vec![1; rows.len()]), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// The texts of a table. Checks that the numbers of its rows ascend.
fn column(table: Vec<u8>) -> Vec<String> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(table)).unwrap();
    let rows: Vec<Row> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let numbers: Vec<i64> = rows.iter().map(|row| row.get_long(0).unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    rows.iter().map(|row| row.get_string(1).unwrap().clone()).collect()
}

#[test]
fn passages_stay_if_their_first_occurrences_are_not_in_the_copy() {
    let folder = Folder::new();
    let texts = texts();
    folder.write("in/0/a.txt", &texts[1]);
    folder.write("in/1.txt", &texts[2]);
    assert_eq!(report(&folder).len(), 1);
    // A file stands where the copy needs a folder.
    folder.write("clean/in/0", "in the way");
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((run.status, &summary["failed"], &summary["unjustified"]), (2, &json!(1), &json!(1)), "{run:#?}");
    assert_eq!(fs::read_to_string(folder.path().join("clean/in/1.txt")).unwrap(), texts[2]);
}

#[test]
fn a_report_with_passages_beyond_the_end_of_a_document_is_refused() {
    let folder = Folder::new();
    let texts = texts();
    folder.write("in/0.txt", &texts[1]);
    folder.write("in/1.txt", &texts[2]);
    let row = report(&folder).remove(0);
    let path = folder.path().join("report.jsonl");
    let report = fs::read_to_string(&path).unwrap();
    let end = format!("\"end\":{}", row["end"]);
    assert!(report.contains(&end), "{report}");
    fs::write(&path, report.replace(&end, "\"end\":100000")).unwrap();
    let (run, ..) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert!(run.status == 2 && run.stderr.contains("a passage ends beyond its document, in/1.txt"), "{run:#?}");
    assert!(!folder.path().join("clean/in/1.txt").exists());
}

#[test]
fn halves_of_surrogate_pairs_beside_a_passage_stay() {
    // With many halves the text is read in another encoding, in which a letter is two.
    for halves in ["\\ud83d ".to_owned(), "\\ud83d ".repeat(40)] {
        let folder = Folder::new();
        let own = |seed: u64| format!("{halves}{}", text(seed));
        let lines =
            [3, 4].map(|seed| format!("{{\"text\":\"{} {} caf\u{e9} {}\"}}\n", own(seed), text(50), text(seed + 10)));
        folder.write("in/a.jsonl", lines.concat());
        folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
        folder.ok(&["dedup", "--passages", "--min-length", "100", "--format", "json", "-o", "report.jsonl", "-q"]);
        let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
        assert_eq!((run.status, &summary["applied"]), (0, &json!(1)), "{run:#?}");
        let copy = fs::read_to_string(folder.path().join("clean/in/a.jsonl")).unwrap();
        let (first, second) = copy.split_once('\n').unwrap();
        assert_eq!(first, lines[0].trim_end());
        assert!(second.starts_with(&format!("{{\"text\":\"{}", own(4))) && second.len() < first.len(), "{second}");
        assert!(!second.contains(text(50).trim()), "{second}");
    }
}

/// Letters that are alike by chance lengthen a passage. A word that is only partly in it stays whole.
#[test]
fn words_beside_a_passage_stay_whole() {
    let shared = format!("{}end.", text(50));
    let stays = [
        ("The source: ", ", and so on"),
        ("One more thing stands here: ", ", the end"),
        // The last letter, the marks and the next ones are alike.
        ("Bien s\u{fb}re: ", ", ainsi"),
        ("語", "を読む"),
    ];
    let texts: Vec<String> = stays.iter().map(|(before, after)| format!("{before}{shared}{after}")).collect();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let folder = Folder::new();
    for (at, text) in texts.iter().enumerate() {
        folder.write(&format!("in/{at}.txt"), text);
    }
    let around =
        |shared: &str| [format!("Some of it is there: {shared}, then"), format!("We did wire: {shared}, to me")];
    let [in_wide, in_record] = around(&shared);
    folder.write("in/wide.txt", [&[0xff, 0xfe][..], &wide(&in_wide)].concat());
    folder.write("in/x.jsonl", json!({"text": in_record}).to_string() + "\n");
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    folder.ok(&["dedup", "--passages", "--min-length", "100", "--format", "json", "-o", "report.jsonl", "-q"]);
    let report = fs::read_to_string(folder.path().join("report.jsonl")).unwrap();
    let rows: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().any(|row| row["document"] == "in/1.txt" && row["start"] == 25), "{rows:#?}");
    let (run, ..) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!(run.status, 0, "{run:#?}");
    let copy = |name: &str| fs::read(folder.path().join("clean/in").join(name)).unwrap();
    for (at, (before, after)) in stays.iter().enumerate().skip(1) {
        let left = String::from_utf8(copy(&format!("{at}.txt"))).unwrap();
        assert_eq!(left, format!("{before}.{after}"), "{at}");
    }
    let [in_wide, in_record] = around(".");
    assert_eq!(copy("wide.txt")[2..], wide(&in_wide));
    assert_eq!(copy("x.jsonl"), (json!({"text": in_record}).to_string() + "\n").into_bytes());
}

#[test]
fn characters_stay_whole_where_passages_are_made_of_bytes() {
    let folder = Folder::new();
    // é and è begin with the same byte, and so do ш and ѐ. So a repeated run of bytes can end inside a
    // character.
    let shared = text(50);
    for (number, (before, after)) in [("é", "é"), ("è", "è"), ("ш", "ш"), ("ѐ", "ѐ")].into_iter().enumerate() {
        folder.write(
            &format!("in/{number}.txt"),
            format!("{}{before}{shared}{after}{}", text(number as u64), text(9 + number as u64)),
        );
    }
    folder.ok(&["ingest", "-q", "--unit", "byte", "-k", "16", "-w", "16", "in"]);
    folder.ok(&["dedup", "--passages", "--min-length", "100", "--format", "json", "-o", "report.jsonl", "-q"]);
    let (run, _, summary) = apply(&folder, &["--write", "clean", "--cut", "--yes"]);
    assert_eq!((run.status, &summary["applied"]), (0, &json!(3)), "{run:#?}");
    // The first word of the passage begins with the letter that stays.
    let word = shared.split_inclusive(' ').next().unwrap();
    for (number, letter) in ["é", "è", "ш", "ѐ"].into_iter().enumerate().skip(1) {
        let around = format!("{letter}{word}{letter}");
        let copy = fs::read(folder.path().join(format!("clean/in/{number}.txt"))).unwrap();
        let copy = String::from_utf8(copy).expect("whole characters");
        let expected = format!("{}{around}{}", text(number as u64), text(9 + number as u64));
        assert!(copy.len() - expected.len() < 4, "{copy}\n{expected}");
        assert!(around.chars().all(|letter| copy.contains(letter)), "{copy}");
    }
}

#[test]
fn reports_of_passages_and_of_documents_are_told_apart() {
    let folder = Folder::new();
    texts().iter().enumerate().for_each(|(number, text)| drop(folder.write(&format!("in/{number}.txt"), text)));
    report(&folder);
    for flags in [&["--write", "x"][..], &["--remove"], &["--link", "sym"], &["--move", "x"]] {
        let (run, ..) = apply(&folder, flags);
        assert!(run.status == 2 && run.stderr.contains("lists passages"), "{run:#?}");
    }
    folder.ok(&["dedup", "--format", "json", "-o", "report.jsonl", "-q"]);
    let (run, ..) = apply(&folder, &["--write", "x", "--cut"]);
    assert!(run.status == 2 && run.stderr.contains("no passages to be cut out"), "{run:#?}");
}
