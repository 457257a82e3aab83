//! JSON lines: one object per line. One or more of its fields are the text of the document.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use memchr::{memchr, memchr2};
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::bad_beginning::{BadBeginning, is_without_field, lacking, no_field};
use super::json_values::for_each_value;
use super::lines::{Line, LineReader, without_newline};
use super::text_path::{Reached, TextPath, most_text};
use super::{Member, MemberContent, Members, RecordFields};
use crate::input::decompress::meter::Meter;
use crate::recognise::Hint;
use fpdb_host::bounded::without_byte_order_mark;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;

const FORMAT: &str = "JSON lines";

/// If this many lines at the start are not records, the file is not JSON lines.
const BAD_LINES_AT_START: usize = 100;

pub(super) fn read(
    input: &mut dyn Read,
    fields: &RecordFields,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    let limits = &meter.limits;
    let paths = fields.text_paths();
    let mut lines = LineReader::new(input);
    // Empty lines have numbers, but do not count.
    let (mut number, mut counted, mut good) = (0u64, 0u64, 0u64);
    let mut bad = BadBeginning::default();
    loop {
        let start = lines.place();
        let Some(line) = lines.next(limits.record_bytes).map_err(|error| meter.error(FORMAT, error))? else { break };
        number += 1;
        let suffix = format!(":{number}");
        let record = match line {
            Line::TooLong => Err(Error::Document(DocumentError::RecordTooLarge { limit: limits.record_bytes })),
            Line::Whole(line) => {
                let line = without_newline(line);
                let line = if number == 1 { without_byte_order_mark(line) } else { line };
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let record = parse(line, (fields, &paths), limits.json_depth);
                if good == 0 && record.as_ref().map_or_else(is_without_field, LineRecord::is_lacking) {
                    bad.note_fields(line);
                }
                record
            }
        };
        if record.as_ref().is_ok_and(|record| record.reached.is_found) {
            good += 1;
            bad.tell(members)?;
        }
        counted += 1;
        match record {
            Ok(LineRecord { reached: Reached { texts: Some(text), .. }, metadata }) => {
                let (hint, content) = (Hint::of_record(&text), MemberContent::Record(text));
                members.member(Member { suffix, hint, modified: None, metadata, content })?;
                members.extent(start..lines.place());
            }
            Ok(record) if good > 0 || !record.is_lacking() => members.skipped(suffix, SkipReason::NullText)?,
            Err(error) if good > 0 => members.failed(suffix, error)?,
            missing => {
                bad.failed.push((suffix, missing.err()));
                if bad.failed.len() == BAD_LINES_AT_START {
                    return Err(bad.refusal(&paths, members)?);
                }
            }
        }
    }
    // A single line proves nothing about others.
    let is_enough = bad.failed.len() > 1 || counted == 1 && !bad.failed.is_empty();
    match is_enough && bad.all_without_field() {
        true => Err(bad.refusal(&paths, members)?),
        // No record so far has all fields of the path.
        false if good == 0 => bad
            .failed
            .drain(..)
            .try_for_each(|(suffix, error)| members.failed(suffix, error.unwrap_or_else(|| lacking(&paths)))),
        false => bad.tell(members),
    }
}

/// The fields of a line that become a document.
#[derive(Debug, PartialEq, Eq)]
struct LineRecord {
    /// The text is UTF-8, except for unpaired surrogates.
    reached: Reached,
    metadata: Vec<(String, String)>,
}

impl LineRecord {
    /// True if objects in the record lack a field of the text's path, and no object has the whole path.
    fn is_lacking(&self) -> bool {
        self.reached.is_lacking && !self.reached.is_found
    }
}

fn parse(line: &[u8], (fields, paths): (&RecordFields, &[(&str, TextPath)]), most: u32) -> Result<LineRecord> {
    if depth(line) > most {
        return Err(Error::Document(DocumentError::JsonTooDeep { limit: most }));
    }
    // The parser accepts zero bytes in a text, but only damage brings them into JSON.
    if memchr(0, line).is_some() {
        let source = serde_json::Error::custom("there are NUL bytes in it").into();
        return Err(Error::Document(DocumentError::NotARecord { format: "JSON", source }));
    }
    let mut from = serde_json::Deserializer::from_slice(line);
    let found = RecordSeed { fields, paths }.deserialize(&mut from).and_then(|found| from.end().map(|()| found));
    let found = found.map_err(|error| {
        not_text(line, paths)
            .unwrap_or_else(|| Error::Document(DocumentError::NotARecord { format: "JSON", source: error.into() }))
    })?;
    let mut all = Reached::default();
    for (reached, (field, _)) in found.reached.into_iter().zip(paths) {
        all.add(reached.ok_or_else(|| no_field(field))?);
    }
    Ok(LineRecord { reached: all, metadata: found.metadata })
}

/// The error for a record whose text field is not text, or lacks the lists and objects that its path expects.
fn not_text(line: &[u8], paths: &[(&str, TextPath)]) -> Option<Error> {
    let mut record = BTreeMap::new();
    let read = for_each_value(line, &mut |name, value| {
        if paths.iter().any(|(_, path)| path.root == *name) {
            record.insert(name, value);
        }
        Ok(())
    });
    read.ok()?;
    paths.iter().find_map(|(field, path)| {
        let value = record.get(&*path.root).copied().filter(|value| path.follow(value).is_err())?;
        let place = most_text(&path.root, value).filter(|_| path.steps.is_empty()).map(|(place, _)| place);
        Some(Error::Document(DocumentError::NotText { field: (*field).to_owned(), place }))
    })
}

/// The deepest nesting of arrays and objects in any bytes, which need not be JSON.
fn depth(line: &[u8]) -> u32 {
    let (mut depth, mut most) = (0u32, 0);
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(at) = memchr2(b'"', b'\\', rest) {
                    let escape = rest[at] == b'\\';
                    rest = &rest[(at + 1 + usize::from(escape)).min(rest.len())..];
                    if !escape {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    most
}

struct ParsedRecord {
    /// The text at each path; `None` if the field is missing.
    reached: Vec<Option<Reached>>,
    metadata: Vec<(String, String)>,
}

struct RecordSeed<'a> {
    fields: &'a RecordFields,
    paths: &'a [(&'a str, TextPath)],
}

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = ParsedRecord;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<ParsedRecord, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = ParsedRecord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<ParsedRecord, A::Error> {
        let mut found = ParsedRecord { reached: self.paths.iter().map(|_| None).collect(), metadata: Vec::new() };
        while let Some(Key(key)) = map.next_key()? {
            let begins_here = |(_, path): &(&str, TextPath)| path.root == *key;
            if let Some(at) = self.paths.iter().position(begins_here) {
                if self.paths[at + 1..].iter().any(begins_here) {
                    let value: &RawValue = map.next_value()?;
                    for (reached, path) in
                        found.reached.iter_mut().zip(self.paths).filter(|(_, path)| begins_here(path))
                    {
                        *reached = Some(path.1.follow(value).map_err(A::Error::custom)?);
                    }
                } else {
                    let mut reached = Reached::default();
                    map.next_value_seed(self.paths[at].1.seed(&mut reached))?;
                    found.reached[at] = Some(reached);
                }
            } else if *key == self.fields.id || self.fields.keep.iter().any(|field| *field == *key) {
                let value: &RawValue = map.next_value()?;
                // The last value of a repeated key counts, as for the text.
                found.metadata.retain(|(name, _)| *name != *key);
                found.metadata.extend(plain(value).map(|value| (key.into_owned(), value)));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A value as metadata: a string without its quotes, any other value as written. `None` for null.
fn plain(value: &RawValue) -> Option<String> {
    match value.get() {
        "null" => None,
        text => Some(serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned())),
    }
}

/// A key. It is borrowed if it has no escapes.
#[derive(serde::Deserialize)]
pub(super) struct Key<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> RecordFields {
        RecordFields { keep: vec!["n".into(), "deep".into()], ..RecordFields::default() }
    }

    fn text_of(line: &str) -> String {
        text_at("text", line)
    }

    fn text_at(field: &str, line: &str) -> String {
        match parse(line.as_bytes(), (&fields(), &fields().text(field.into()).text_paths()), 8) {
            Ok(LineRecord { reached: Reached { texts: Some(text), .. }, .. }) => {
                String::from_utf8_lossy(&text).into_owned()
            }
            Ok(_) => "null".into(),
            Err(error) => error.chain(),
        }
    }

    #[test]
    fn the_text_is_decoded() {
        assert_eq!(text_of(r#"{"a": {"text": "no"}, "text": "It\u2019s \"so\"\n\ud83d\ude00"}"#), "It’s \"so\"\n😀");
        assert_eq!(text_of(r#"{"t\u0065xt": "escaped keys too"}"#), "escaped keys too");
        assert_eq!(text_of(r#"{"text": null}"#), "null");
        assert_eq!(text_of(r#"{"text": "half \ud83d of a pair"}"#), "half \u{fffd}\u{fffd}\u{fffd} of a pair");
        for (line, error) in [
            ("{\"body\": \"x\"}", "the record has no field text"),
            ("[1, 2]", "the line is not a JSON record: invalid type: sequence, expected an object at line 1 column 0"),
            ("{\"text\": 7}", "the field text of the record is not text"),
            ("{\"text\": [\"x\"], \"a\": 1}", "the field text of the record is not text"),
            (
                "{\"text\": 7",
                "the line is not a JSON record: invalid type: integer `7`, expected a text at line 1 column 10",
            ),
            ("{\"text\": \"x\"", "the line is not a JSON record: EOF while parsing an object at line 1 column 12"),
            ("{\"a\":[[[[[[[[8]]]]]]]]}", "the JSON has more than 8 arrays and objects within each other"),
        ] {
            assert_eq!(text_of(line), error);
        }
    }

    #[test]
    fn texts_of_lists_are_joined() {
        let chat = r#"{"id": 1, "messages": [{"role": "user", "content": "Wh\u00e4t?"}, {"content": null}, {"role": "tool"},
            {"content": "That.\n", "content_type": "text"}, null, {"content": ""}]}"#;
        assert_eq!(text_at("messages[].content", chat), "Wh\u{e4}t?\n\nThat.\n\n\n");
        assert_eq!(text_at("texts[]", r#"{"texts": ["a", null, "b"]}"#), "a\n\nb");
        assert_eq!(text_at("a.b[][].c", r#"{"a": {"x": 1, "b": [[{"c": "1"}], [], [{"c": "2"}]]}}"#), "1\n\n2");
        // A text may be a list of parts, as in a message with pictures. Any other shape is an error, such as
        // a list of strings where one text is expected.
        let parts = r#"{"m": [{"c": "a"}, {"c": [{"type": "text", "text": "b \ud83d"}, {"type": "image_url", "image_url": {"url": "x"}}, null,
            {"text": "c", "type": "text"}]}, {"c": []}, {"c": [{"text": null}]}]}"#;
        assert_eq!(text_at("m[].c", parts), "a\n\nb \u{fffd}\u{fffd}\u{fffd}\n\nc");
        for wrong in
            [r#"{"m": [{"c": {"text": "a"}}]}"#, r#"{"m": [{"c": [{"text": 7}]}]}"#, r#"{"m": [{"c": ["a"]}]}"#]
        {
            assert_eq!(text_at("m[].c", wrong), "the field m[].c of the record is not text");
        }
        // Records without text, then records of the wrong shape.
        for none in [r#"{"texts": []}"#, r#"{"texts": null}"#, r#"{"texts": [null]}"#] {
            assert_eq!(text_at("texts[]", none), "null");
        }
        for wrong in [r#"{"texts": "a"}"#, r#"{"texts": {"a": "b"}}"#, r#"{"texts": [7]}"#, r#"{"texts": [["a"]]}"#] {
            assert_eq!(text_at("texts[]", wrong), "the field texts[] of the record is not text");
        }
        assert_eq!(text_at("texts[]", r#"{"text": "a"}"#), "the record has no field texts[]");
        // The last value of a repeated key counts.
        assert_eq!(text_at("texts[]", r#"{"texts": ["a"], "texts": ["b"]}"#), "b");
    }

    #[test]
    fn texts_of_fields_are_joined_in_the_order_of_the_fields() {
        let of = |line| text_at("prompt\nanswers[].text\nanswers[].why", line);
        let line = r#"{"answers": [{"why": "w", "text": "1"}, {"text": "2"}], "prompt": "p"}"#;
        assert_eq!(of(line), "p\n\n1\n\n2\n\nw");
        assert_eq!(of(r#"{"answers": [], "prompt": "p"}"#), "p");
        assert_eq!(of(r#"{"answers": [{"text": "1"}], "prompt": null}"#), "1");
        assert_eq!(of(r#"{"answers": null, "prompt": null}"#), "null");
        // The error names the field.
        assert_eq!(of(r#"{"prompt": "p"}"#), "the record has no field answers[].text");
        assert_eq!(of(r#"{"answers": []}"#), "the record has no field prompt");
        assert_eq!(
            of(r#"{"answers": [{"why": 7}], "prompt": "p"}"#),
            "the field answers[].why of the record is not text"
        );
        assert_eq!(of(r#"{"answers": [], "prompt": 7}"#), "the field prompt of the record is not text");
    }

    /// Records members as their names and failures as their messages.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl Members for Told {
        fn member(&mut self, member: Member<'_>) -> Result<()> {
            self.0.push(member.suffix);
            Ok(())
        }

        fn failed(&mut self, suffix: String, error: Error) -> Result<()> {
            self.0.push(format!("{suffix} {}", error.chain()));
            Ok(())
        }

        fn skipped(&mut self, suffix: String, _: SkipReason) -> Result<()> {
            self.0.push(format!("{suffix} null"));
            Ok(())
        }
    }

    /// The events of a file, and the error at its end.
    fn told(file: &str) -> (Vec<String>, String) {
        told_at("text", file)
    }

    fn told_at(field: &str, file: &str) -> (Vec<String>, String) {
        let (stop, mut told) = (fpdb_host::stop::StopToken::new(), Told::default());
        let meter = Meter::new(crate::input::InputLimits::default(), None, &stop, &|_| {});
        let read = read(&mut file.as_bytes(), &fields().text(field.into()), &meter, &mut told);
        (told.0, read.err().map_or(String::new(), |error| error.chain()))
    }

    #[test]
    fn files_without_the_field_of_the_text_fail_as_one() {
        let without = "{\"id\": \"a\", \"body\": \"some text\", \"n\": 1}\n";
        let none = "has the field `text`; they have body, id, n";
        assert_eq!(told(&without.repeat(3)), (vec![], format!("none of the first 3 records {none}")));
        assert_eq!(told(&without.repeat(300)), (vec![], format!("none of the first 100 records {none}")));
        let only = "the record has no field `text`; it has body, id, n".to_owned();
        assert_eq!(told(&format!("\n{without}\n")), (vec![], only));
        // A single line proves nothing about others. Lines with different errors prove nothing either.
        let no_field = "the record has no field text";
        let (text, null) = ("{\"text\": \"\"}\n", "{\"text\": null}\n");
        let rows = [":1 null".to_owned(), format!(":2 {no_field}"), ":3 null".to_owned()];
        assert_eq!(told(&[null, without, null].concat()), (rows.to_vec(), String::new()));
        let mixed = [without, without, text, without, null].concat();
        let rows = [
            format!(":1 {no_field}"),
            format!(":2 {no_field}"),
            ":3".into(),
            format!(":4 {no_field}"),
            ":5 null".into(),
        ];
        assert_eq!(told(&mixed), (rows.to_vec(), String::new()));
        let other = format!("{}{}", without.repeat(98), "{\"text\": 7}\n".repeat(5));
        let (rows, error) = told(&other);
        assert_eq!((rows.len(), error.as_str()), (99, "the field text of the record is not text"));
        assert_eq!(rows[98], ":99 the field text of the record is not text");
    }

    #[test]
    fn files_without_the_fields_of_a_path_fail_as_one() {
        let chat = "{\"id\": 1, \"messages\": [{\"role\": \"user\", \"content\": \"words\"}]}\n";
        let (empty, null) = ("{\"messages\": []}\n", "{\"messages\": null}\n");
        let told = |lines: &[&str]| told_at("messages[].contnt", &lines.concat());
        let (rows, error) = told(&[empty, chat, null, chat]);
        assert_eq!(rows, [":1 null", ":3 null"], "a list without messages has no fields");
        assert_eq!(error, "none of the first 2 records has the field `messages[].contnt`; they have id, messages");
        assert!(told(&[chat; 300]).1.starts_with("none of the first 100 records "));
        assert_eq!(
            told(&[chat]),
            (vec![], "the record has no field `messages[].contnt`; it has id, messages".to_owned())
        );
        assert_eq!(told(&[empty, null]), (vec![":1 null".to_owned(), ":2 null".to_owned()], String::new()));
        // One record with all fields of the path, even if the value is null, shows that the path exists. The
        // other records are then reported one by one.
        for (has, row) in [("7", ":3 the field messages[].contnt of the record is not text"), ("null", ":3 null")] {
            let has = format!("{{\"messages\": [{{\"role\": \"x\"}}, {{\"contnt\": {has}}}]}}\n");
            let (rows, error) = told(&[chat, chat, &has, chat]);
            let fails = row != ":3 null";
            let expected = |line: u32| match fails {
                true => format!(":{line} the record has no field messages[].contnt"),
                false => format!(":{line} null"),
            };
            assert_eq!(rows, [expected(1), expected(2), row.to_owned(), expected(4)]);
            assert_eq!(error, "");
        }
        // A later line shows that the path exists. The lines before it are then reported, in order.
        let text = "{\"messages\": [{\"contnt\": \"a\"}]}\n";
        assert_eq!(told(&[chat, text, chat]), ([":1 null", ":2", ":3 null"].map(String::from).to_vec(), String::new()));
        assert_eq!(
            told_at("texts[]", "{\"texts\": []}\n{\"a\": 1}\n").0,
            [":1 null", ":2 the record has no field texts[]"]
        );
    }

    #[test]
    fn fields_are_kept() {
        let line = br#"{"id": "a\"b", "n": 1.50, "other": 3, "deep": {"x": [1]}, "text": ""}"#;
        let record = parse(line, (&fields(), &fields().text_paths()), 8).unwrap();
        let kept = [("id", "a\"b"), ("n", "1.50"), ("deep", "{\"x\": [1]}")];
        assert_eq!(record.metadata, kept.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(record.reached.texts, Some(Vec::new()));
    }

    #[test]
    fn the_place_with_most_text_is_found() {
        for (value, place) in [
            (r#""a""#, Some("m")),
            (r#"["a", "b"]"#, Some("m[]")),
            (r#"[{"role": "user", "content": "longer"}, {"role": "x"}]"#, Some("m[].content")),
            (r#"[{"from": "human", "value": [{"type": "text", "text": "longer"}]}]"#, Some("m[].value")),
            (r#"[[{"a": "b"}]]"#, None),
            (r#"{"a": "b"}"#, None),
            ("7", None),
            ("[]", None),
        ] {
            let value: &RawValue = serde_json::from_str(value).unwrap();
            assert_eq!(most_text("m", value).map(|(place, _)| place).as_deref(), place, "{value}");
        }
    }

    /// A map of all fields, or a list of all elements, would take many times the memory of the line.
    #[test]
    fn lines_without_the_text_take_little_memory() {
        let fields: String = (0..100_000).map(|n| format!("\"{n}\": \"\", ")).collect();
        let nulls = "null, ".repeat(100_000);
        let long = "x".repeat(10_000);
        let places: String = (0..2000).map(|n| format!("\"{n}\": \"t\", ")).collect();
        for line in [
            format!("{{{fields} \"a\": 1}}"),
            format!("{{{fields} \"text\": 1}}"),
            format!("{{\"a\": [{nulls} null]}}"),
            format!("{{\"text\": [{nulls} 7]}}"),
            format!("{{\"text\": [{{{fields} \"b\": \"a\"}}]}}"),
            format!("{{\"{long}\": [{{{places} \"b\": \"a\"}}]}}"),
        ] {
            let file = format!("{line}\n{line}\n");
            let ((rows, error), peak) = crate::counted_heap::peak(|| told(&file));
            // The reader of lines holds the line, and doubles its buffer as it grows.
            let limit = 4 * line.len() as u64 + (1 << 19);
            assert!(peak < limit, "{peak} > {limit} for {:.40}: {} rows, {:.80}", line, rows.len(), error);
        }
    }

    #[test]
    fn depth_is_that_of_brackets_outside_of_strings() {
        for (line, expected) in
            [("", 0), ("{}", 1), (r#"{"[[[": "\"[[[\\"}"#, 1), ("[[],[[]]]", 3), ("]]][", 1), (r#""\"#, 0)]
        {
            assert_eq!(depth(line.as_bytes()), expected, "{line}");
        }
    }
}
