//! Texts in lists of a record, such as the messages of a chat: joined by blank lines, with offsets into the
//! joined text.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;

use super::{list, names};
use crate::bad_input::prose;
use crate::support::Folder;

/// Three chats: of two messages, without messages, and with a message that is null.
fn chats() -> [Option<Vec<Option<String>>>; 3] {
    let said = |number| Some(format!("é {}", prose(number)));
    [Some(vec![said(1), said(2)]), None, Some(vec![None, said(3), said(1)])]
}

fn joined(chat: &[Option<String>]) -> String {
    chat.iter().flatten().cloned().collect::<Vec<_>>().join("\n\n")
}

fn json_lines() -> String {
    let message = |content| json!({"role": "user", "content": content});
    let line = |(number, chat): (usize, Option<Vec<Option<String>>>)| {
        let messages = chat.map(|chat| chat.into_iter().map(message).collect::<Vec<_>>());
        json!({"id": format!("c{number}"), "messages": messages}).to_string() + "\n"
    };
    chats().into_iter().enumerate().map(line).collect()
}

fn table() -> Vec<u8> {
    let schema = "message rows {
        required binary id (UTF8);
        optional group messages (LIST) { repeated group list { optional group element {
            optional binary role (UTF8);
            optional binary content (UTF8);
        } } }
    }";
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(parse_message_type(schema).unwrap()), Default::default())
            .unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut levels = (Vec::new(), Vec::new(), Vec::new());
    let mut contents = Vec::new();
    for chat in chats() {
        let Some(chat) = chat else {
            levels.0.push(0);
            levels.1.push(0);
            levels.2.push(0);
            continue;
        };
        for (at, content) in chat.into_iter().enumerate() {
            levels.0.push(4);
            levels.1.push(if content.is_some() { 4 } else { 3 });
            levels.2.push(i16::from(at > 0));
            contents.extend(content.map(|content| ByteArray::from(content.into_bytes())));
        }
    }
    let roles = vec![ByteArray::from("user"); levels.0.iter().filter(|level| **level == 4).count()];
    let ids = ["c0", "c1", "c2"].map(ByteArray::from).to_vec();
    let columns = [
        (ids, None, None),
        (roles, Some(&levels.0[..]), Some(&levels.2[..])),
        (contents, Some(&levels.1[..]), Some(&levels.2[..])),
    ];
    for (values, defined, repeated) in columns {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, defined, repeated).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn messages_of_chats_are_one_text_with_offsets_into_it() {
    for (file, bytes) in [("chats.jsonl", json_lines().into_bytes()), ("chats.parquet", table())] {
        let folder = Folder::new();
        folder.write(file, bytes);
        folder.write("query.txt", format!("They said: {}", prose(2)));
        let run = folder.ok(&["ingest", "--profile", "prose", "--text-field", "messages[].content", file]);
        assert!(run.stdout.starts_with("2 documents added"), "{run:?}");
        assert_eq!(names(&folder), [format!("{file}:1"), format!("{file}:3")]);
        let texts = [0, 2].map(|at: usize| joined(chats()[at].as_ref().unwrap()));
        for (document, (text, id)) in list(&folder).iter().zip(texts.iter().zip(["c0", "c2"])) {
            assert_eq!(
                (document["bytes"].as_u64(), document["metadata"]["id"].as_str()),
                (Some(text.len() as u64), Some(id))
            );
        }
        // The file is read again for the passage, whose place is in the joined text.
        let answer = folder.ok(&["query", "query.txt", "--format", "json"]).json().remove(0);
        let found = &answer["matches"][0];
        assert_eq!(found["document"], format!("{file}:1"), "{answer}");
        let passage = &found["passages"][0];
        assert_eq!(passage["exact"], true);
        let offset = |field: &str| passage["document"][field].as_u64().unwrap() as usize;
        let shared = &texts[0][offset("start")..offset("end")];
        assert!(prose(2).contains(shared) && shared.len() + 20 > prose(2).trim().len(), "{shared}");
        // A second run knows the documents.
        assert!(folder.ok(&["ingest", file]).stdout.starts_with("0 documents added, 2 unchanged"));

        // The repeated message cannot be cut out of a list. So the file is copied whole, and a note gives the
        // reason.
        let flags = ["dedup", "--passages", "--min-length", "50", "--format", "json", "-q", "-o", "report.jsonl"];
        folder.ok(&flags);
        let run = folder.run(&["apply", "report.jsonl", "--write", "copy", "--cut", "--yes", "--format", "json"]);
        assert!(run.stdout.contains("its texts are joined of several values, as in chats"), "{run:?}");
        assert_eq!(run.json().pop().unwrap()["whole"], 1);
        assert!(run.stderr.contains("1 file left whole: passages are cut out of"), "{run:?}");
        let copied = folder.path().join("copy").join(file);
        assert_eq!(std::fs::read(copied).unwrap(), std::fs::read(folder.path().join(file)).unwrap());
    }
}

fn prompts() -> [(Option<String>, Option<String>); 3] {
    [(Some(prose(4)), Some(format!("é {}", prose(5)))), (None, None), (None, Some(prose(6)))]
}

fn prompts_table() -> Vec<u8> {
    // The order of the columns is not that of the flags.
    let schema = "message rows { optional binary response (UTF8); optional binary prompt (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let [prompts, responses] = [prompts().map(|row| row.0), prompts().map(|row| row.1)];
    for values in [responses, prompts] {
        let levels = values.each_ref().map(|value| i16::from(value.is_some()));
        let values: Vec<ByteArray> =
            values.into_iter().flatten().map(|value| ByteArray::from(value.into_bytes())).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

/// A string is text, whatever it begins with. A column of bytes may hold strings too: bytes in UTF-8 count as
/// text.
#[test]
fn the_text_of_a_record_is_in_no_binary_format() {
    let begins = ["%PDF-1.4 is how", "%!PS is how", "{\\rtf1 is how", "PK\u{3}\u{4} is how", "{\"nbformat\":4, is how"];
    let texts: Vec<String> = begins.iter().map(|begin| format!("{begin} it begins: {}", prose(7))).collect();
    let lines: String = texts.iter().map(|text| json!({"text": text}).to_string() + "\n").collect();
    let table = |kind: &str, texts: &[Vec<u8>]| {
        let schema = Arc::new(parse_message_type(&format!("message rows {{ required binary text {kind}; }}")).unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<ByteArray> = texts.iter().cloned().map(ByteArray::from).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.into_inner().unwrap()
    };
    let bytes: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    let folder = Folder::new();
    folder.write("in/a.jsonl", lines);
    folder.write("in/b.parquet", table("(UTF8)", &bytes));
    folder.write("in/c.parquet", table("", &bytes));
    folder.ok(&["ingest", "-q", "--profile", "prose", "in"]);
    let found = list(&folder);
    assert_eq!(found.len(), 15);
    assert!(found.iter().all(|document| document["format"] == "text"), "{found:?}");
    // Bytes in such a column that are not UTF-8 are a file, whose format its first bytes show.
    folder.write("in/c.parquet", table("", &[b"%!PS is how it begins \xFF".to_vec()]));
    let report = folder.ok(&["ingest", "--format", "json", "in/c.parquet"]).json().remove(0);
    assert_eq!(report["skips"], 1, "{report}");
}

#[test]
fn several_fields_are_one_text_with_offsets_into_it() {
    let lines: String =
        prompts().map(|(prompt, response)| json!({"response": response, "prompt": prompt}).to_string() + "\n").concat();
    for (file, bytes) in [("pairs.jsonl", lines.into_bytes()), ("pairs.parquet", prompts_table())] {
        let folder = Folder::new();
        folder.write(file, bytes);
        folder.write("query.txt", format!("They said: {}", prose(5)));
        folder.ok(&["ingest", "-q", "--text-field", "prompt", "--text-field", "response", file]);
        assert_eq!(names(&folder), [format!("{file}:1"), format!("{file}:3")]);
        let text = format!("{}\n\né {}", prose(4), prose(5));
        assert_eq!(list(&folder)[0]["bytes"].as_u64(), Some(text.len() as u64));
        // The file is read again for the passage.
        let answer = folder.ok(&["query", "query.txt", "--format", "json"]).json().remove(0);
        let passage = &answer["matches"][0]["passages"][0];
        assert_eq!(passage["exact"], true, "{answer}");
        let offset = |field: &str| passage["document"][field].as_u64().unwrap() as usize;
        let shared = &text[offset("start")..offset("end")];
        assert!(prose(5).contains(shared) && shared.len() + 20 > prose(5).trim().len(), "{shared}");
        // The database remembers both fields.
        let run = folder.ok(&["ingest", file]);
        assert!(run.stdout.starts_with("0 documents added, 2 unchanged"), "{run:?}");
        assert!(run.stderr.contains("--text-field=prompt --text-field=response"), "{run:?}");
        // A wrong name is an error even if other fields have texts.
        let run = folder.run(&["ingest", "--text-field", "prompt", "--text-field", "respnse", file]);
        assert!(run.status == 2 && run.stderr.contains("`respnse`"), "{run:?}");
    }
}

#[test]
fn a_path_that_leads_to_no_text_is_an_error() {
    for (file, bytes) in [("chats.jsonl", json_lines().into_bytes()), ("chats.parquet", table())] {
        let folder = Folder::new();
        folder.write(file, bytes);
        for wrong in ["messages[]", "other[].content"] {
            let run = folder.run(&["ingest", "--profile", "prose", "--text-field", wrong, file]);
            assert!(run.status == 2 && run.stderr.contains("field") | run.stderr.contains("column"), "{run:?}");
        }
    }
}

#[test]
fn the_hint_for_chats_names_the_texts_of_the_list() {
    let hint = "hint: try --text-field 'messages[].content'; --no-expand takes the file as one document\n";
    for (file, bytes) in [("chats.jsonl", json_lines().into_bytes()), ("chats.parquet", table())] {
        let folder = Folder::new();
        folder.write(file, bytes);
        for flags in [&[][..], &["--text-field", "messages"]] {
            let run = folder.run(&[&["ingest", file], flags].concat());
            assert!(run.status == 2 && run.stderr.contains(hint), "{flags:?}: {run:?}");
        }
    }
}

/// Some messages are a string, others a list of parts. The same field name finds the texts of all.
#[test]
fn messages_of_parts_are_read_as_those_of_strings_are() {
    let folder = Folder::new();
    let parts = json!([{"type": "text", "text": prose(2)}, {"type": "image_url", "image_url": {"url": "https://x"}}]);
    let messages = json!([{"role": "system", "content": prose(1)}, {"role": "user", "content": parts}]);
    folder.write("chats.jsonl", json!({"id": "c", "messages": messages}).to_string() + "\n");
    folder.write("query.txt", prose(2));
    folder.ok(&["ingest", "-q", "--text-field", "messages[].content", "chats.jsonl"]);
    let answer = folder.ok(&["query", "query.txt", "--format", "json"]).json().remove(0);
    let passage = &answer["matches"][0]["passages"][0];
    assert_eq!((&passage["exact"], &answer["matches"][0]["containment"]), (&true.into(), &json!(1.0)), "{answer}");
    let joined = format!("{}\n\n{}", prose(1), prose(2));
    let offset = |field: &str| passage["document"][field].as_u64().unwrap() as usize;
    assert_eq!(joined[offset("start")..offset("end")].trim_end(), prose(2).trim_end_matches(['.', '\n']));
}
