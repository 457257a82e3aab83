//! `--where`: documents by their metadata, in every command that takes it.

use std::collections::BTreeMap;

use fpdb::pairs::PairsOptions;
use fpdb::{Database, DocId, Error, QueryOptions, QuerySource, Task, options_from_json};
use serde_json::{Value, json};

use crate::bad_input::prose;
use crate::support::Folder;

/// Mails of three people on the same and on other subjects, as files and in a mailbox.
fn mails() -> Folder {
    let folder = Folder::new();
    let mail = |from: &str, number: usize, common: usize| {
        format!("From: {from}\nSubject: s{number}\nX-Case: {common}\n\n{}\n\n{}\n", prose(number), prose(common))
    };
    for (at, from) in ["ann@x.org", "bob@x.org", "cy@x.org", "bob@x.org", "ann@x.org", "cy@x.org"].iter().enumerate() {
        folder.write(&format!("in/{at}/m.eml"), mail(from, 10 + at, at % 2));
    }
    let mbox: String =
        [(20, "bob@x.org"), (21, "ann@x.org")].map(|(n, from)| format!("From -\n{}\n", mail(from, n, 0))).concat();
    folder.write("in/box.mbox", mbox);
    folder.write("q.txt", format!("{}\n\n{}", prose(0), prose(1)));
    let fields = ["--keep-fields", "From", "--keep-fields", "x-case"];
    folder.ok(&[&["ingest", "-q", "--profile", "prose", "in"], &fields[..]].concat());
    folder
}

fn metadata(folder: &Folder) -> BTreeMap<String, Value> {
    let listed = folder.ok(&["list", "--format", "json"]).json();
    listed.into_iter().map(|mut one| (one["name"].as_str().unwrap().to_owned(), one["metadata"].take())).collect()
}

/// Flags, and the values that a document must then have.
type Filter = (&'static [&'static str], &'static [(&'static str, &'static str)]);

/// The filters to try.
const FILTERS: [Filter; 6] = [
    (&["--where", "From=bob@x.org"], &[("From", "bob@x.org")]),
    (&["--where", "FROM=bob@x.org"], &[("From", "bob@x.org")]),
    (&["--where", "from=ann@x.org", "--where", "X-Case=0"], &[("From", "ann@x.org"), ("x-case", "0")]),
    (&["--where", "X-CASE=1"], &[("x-case", "1")]),
    (&["--where", "from~=BOB@"], &[("From", "bob@x.org")]),
    (&["--where", "from~=bob", "--where", "from~=x.org"], &[("From", "bob@x.org")]),
];

#[test]
fn query_compares_with_documents_that_have_the_values() {
    let folder = mails();
    let of = metadata(&folder);
    let query = |flags: &[&str]| -> Value {
        folder.ok(&[&["query", "q.txt", "--top", "0", "--format", "json"], flags].concat()).json().remove(0)
    };
    let all = query(&[]);
    assert_eq!(all["matches"].as_array().unwrap().len(), 8);
    assert!(all.get("documents_left_out").is_none());
    for (flags, values) in FILTERS {
        let has =
            |found: &&Value| values.iter().all(|(name, value)| of[found["document"].as_str().unwrap()][name] == *value);
        let (some, answer) = (all["matches"].as_array().unwrap().iter().filter(has).collect::<Vec<_>>(), query(flags));
        assert_eq!(answer["matches"].as_array().unwrap().iter().collect::<Vec<_>>(), some, "{flags:?}");
        assert_eq!(answer["documents_left_out"], 8 - some.len(), "{flags:?}");
        assert_eq!(answer["matching_documents"], some.len());
        assert_eq!(answer["looked_up"], all["looked_up"]);
        // The documents with each value of `x-case` hold half of the query.
        let is_whole = some.iter().any(|found| of[found["document"].as_str().unwrap()]["x-case"] == "0")
            && some.iter().any(|found| of[found["document"].as_str().unwrap()]["x-case"] == "1");
        assert_eq!(answer["found"] == all["found"], is_whole, "{flags:?}");
    }
    let page = folder.ok(&["query", "q.txt", "--where", "from=bob@x.org"]).stdout;
    assert!(page.contains("5 documents left out by --where"), "{page}");
    let by_corpus = folder.ok(&["query", "q.txt", "--by-corpus", "--where", "x-case=1", "--format", "json"]).json();
    assert!(
        by_corpus[0]["corpus_containment"].as_f64().unwrap() < 0.6 && by_corpus[0]["documents"] == 3,
        "{by_corpus:?}"
    );
    // A submission counts if one of its documents has the values.
    let by = query(&["--submission-by", "in", "--where", "from=bob@x.org"]);
    let mut names: Vec<_> =
        by["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["in/1", "in/3", "in/box.mbox#1"], "{by}");
}

/// Options in the form that the service and Python use.
#[test]
fn options_in_json_choose_by_metadata() {
    let folder = mails();
    let database = Database::open(folder.path().join(".fpdb")).unwrap();
    let bob = json!({"metadata": {"FROM": "bob@x.org"}});
    let options = options_from_json(&QueryOptions::default(), bob.clone()).unwrap();
    let ask = |options: &QueryOptions| {
        let answer =
            database.query_with(QuerySource::File(folder.path().join("q.txt")), options, &Task::new()).unwrap();
        let mut ids: Vec<DocId> = answer.matches.iter().map(|found| found.id).collect();
        ids.sort_unstable();
        (ids, answer.documents_left_out)
    };
    let (ids, left_out) = ask(&options);
    assert_eq!((ids.len(), left_out), (3, 5));
    // Both selections apply together.
    let only = vec![ids[2], ids[0], DocId(0)];
    assert_eq!(ask(&options.only(Some(only))), (vec![ids[0], ids[2]], 6));
    let nobody = options_from_json(&QueryOptions::default(), json!({"metadata": {"FROM": "eve"}})).unwrap();
    let refused = database.query_with(QuerySource::File(folder.path().join("q.txt")), &nobody, &Task::new());
    assert!(matches!(refused, Err(Error::NothingFits { .. })), "{refused:?}");
    let options = options_from_json(&PairsOptions::of(database.profile()), bob).unwrap();
    let pairs = database.pairs(&options, &Task::new()).unwrap().pairs;
    assert!(!pairs.is_empty() && pairs.iter().all(|pair| ids.contains(&pair.a_id) || ids.contains(&pair.b_id)));
    // Several comparisons of one key are a list.
    let values = json!({"From": "bob@x.org", "from~": ["bob", "x.org"]});
    let all = PairsOptions::of(database.profile());
    let listed = options_from_json(&all, json!({"metadata": values})).unwrap();
    assert_eq!(listed.metadata.len(), 3);
    assert_eq!(serde_json::to_value(&listed).unwrap()["metadata"], values);
    assert_eq!(serde_json::from_str::<PairsOptions>(&serde_json::to_string(&listed).unwrap()).unwrap(), listed);
    assert_eq!(database.pairs(&listed, &Task::new()).unwrap().pairs, pairs);
    let refused = options_from_json(&all, json!({"metadata": {"From": 5}})).unwrap_err();
    assert!(format!("{refused:?}").contains("a string or a list of strings"), "{refused:?}");
}

#[test]
fn one_document_of_a_pair_has_the_values() {
    let folder = mails();
    let of = metadata(&folder);
    let pairs = |flags: &[&str]| folder.ok(&[&["pairs", "--format", "json"], flags].concat()).json();
    let all = pairs(&[]);
    assert!(all.len() >= 10, "{all:?}");
    for (flags, values) in FILTERS {
        let has = |name: &Value| values.iter().all(|(field, value)| of[name.as_str().unwrap()][field] == *value);
        let some: Vec<Value> = all.iter().filter(|pair| has(&pair["a"]) || has(&pair["b"])).cloned().collect();
        assert!(!some.is_empty() && some.len() < all.len());
        assert_eq!(pairs(flags), some, "{flags:?}");
    }
    folder.write("table.csv", "filename,who\nin/1/m.eml,bob\n");
    folder.ok(&["ingest", "-q", "in", "--metadata", "table.csv"]);
    let all = pairs(&["--submission-by", "in"]);
    let some: Vec<Value> = all.iter().filter(|pair| pair["a"] == "in/1" || pair["b"] == "in/1").cloned().collect();
    assert!(!some.is_empty() && some.len() < all.len());
    assert_eq!(pairs(&["--submission-by", "in", "--where", "who=bob"]), some);
}

#[test]
fn what_list_shows_is_what_rm_removes() {
    let folder = mails();
    let of = metadata(&folder);
    for (flags, values) in FILTERS {
        let expected: Vec<&String> = of
            .iter()
            .filter(|(_, has)| values.iter().all(|(name, value)| has[name] == *value))
            .map(|(name, _)| name)
            .collect();
        let mut listed = folder.ok(&[&["list", "--format", "json"], flags].concat()).json();
        listed.sort_by_key(|one| one["name"].as_str().unwrap().to_owned());
        assert_eq!(listed.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>(), expected, "{flags:?}");
        let counted = folder.ok(&[&["rm", "--format", "json"], flags].concat()).json();
        assert_eq!(counted[0]["selected"], expected.len(), "{flags:?}");
    }
    // In a document with both spellings, each spelling is a separate key.
    folder.write("two.jsonl", "{\"text\":\"a\",\"Key\":\"1\",\"key\":\"2\"}\n{\"text\":\"b\",\"key\":\"1\"}\n");
    folder.ok(&["ingest", "-q", "two.jsonl", "--keep-fields", "Key", "--keep-fields", "key"]);
    let names = |field: &str| -> Vec<String> {
        let listed = folder.ok(&["list", "--format", "json", "--where", field]).json();
        listed.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (names("Key=1"), names("key=1")),
        (vec!["two.jsonl:1".into(), "two.jsonl:2".into()], vec!["two.jsonl:2".into()])
    );
}

#[test]
fn a_value_that_no_document_has_is_an_error() {
    let folder = mails();
    let show = "hint: `fpdb show NAME` tells the metadata of a document\n";
    for (field, told) in [
        ("from=eve", format!("no stored document fits from=eve (--where)\n{show}")),
        ("From=bob", "no stored document fits From=bob (--where)\nhint: did you mean From~=bob?\n".to_owned()),
        ("from~=eve", format!("no stored document fits from~=eve (--where)\n{show}")),
        ("from>=d", format!("no stored document fits from>=d (--where)\n{show}")),
        (
            "form=bob@x.org",
            "no stored document has the key form in its metadata\nhint: documents have these keys: From, x-case\n"
                .to_owned(),
        ),
        (
            "date<=2021",
            "no stored document has the key date in its metadata\nhint: documents have these keys: From, x-case\n"
                .to_owned(),
        ),
    ] {
        for command in [&["query", "q.txt"][..], &["pairs"], &["list"], &["rm"], &["rm", "--yes"]] {
            let run = folder.run(&[command, &["--where", field]].concat());
            assert_eq!((run.status, run.stderr.clone()), (2, format!("error: {told}")), "{command:?} {run:?}");
        }
    }
    assert_eq!(metadata(&folder).len(), 8);
    let bare = Folder::new();
    bare.write("a.txt", prose(1));
    bare.ok(&["ingest", "-q", "a.txt"]);
    let run = bare.run(&["list", "--where", "from=eve"]);
    for (key, nearest) in [("FRON", "did you mean From? "), ("x-cas", "did you mean x-case? "), ("x", "")] {
        for command in [&["query", "q.txt"][..], &["pairs"], &["list"], &["rm"]] {
            let run = folder.run(&[command, &["--where", &format!("{key}=eve")]].concat());
            let hint = format!("\nhint: {nearest}documents have these keys: From, x-case\n");
            assert!(run.status == 2 && run.stderr.ends_with(&hint), "{command:?} {run:?}");
        }
    }
    for (keys, end) in [(30, "k29\n"), (31, "k29 and more\n")] {
        let wide = Folder::new();
        let names: Vec<String> = (0..keys).map(|key| format!("k{key:02}")).collect();
        let record: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!("x"))).collect();
        let mut record = Value::Object(record);
        record["text"] = json!(prose(1));
        wide.write("a.jsonl", record.to_string());
        wide.ok(&["ingest", "-q", "a.jsonl", "--keep-fields", &names.join(",")]);
        let run = wide.run(&["list", "--where", "from=eve"]);
        assert!(run.stderr.ends_with(end), "{run:?}");
    }
    // An empty answer replaces the list of an earlier call. A misspelt key has no answer, so the earlier list
    // stays.
    for (key, format, content) in [("From", "json", ""), ("From", "csv", "id,"), ("Form", "json", "yesterday's")] {
        let list = folder.write("list", "yesterday's");
        let run = folder.run(&["list", "--where", &format!("{key}=eve"), "--format", format, "-o", "list"]);
        let written = std::fs::read_to_string(list).unwrap();
        assert!(
            run.status == 2 && written.starts_with(content) && written.lines().count() == content.len().min(1),
            "{run:?} {written}"
        );
        std::fs::remove_file(folder.path().join("list")).unwrap();
        let run = folder.run(&["list", "--where", &format!("{key}=eve"), "--format", format, "-o", "list"]);
        assert_eq!((run.status, folder.path().join("list").exists()), (2, key == "From"), "{run:?}");
    }
    assert!(run.stderr.contains("hint: no document has metadata; `fpdb ingest --keep-fields`"), "{run:?}");
}

/// Tests a range of dates in every command. The last day belongs to the range. Texts that are no dates are in
/// no range.
#[test]
fn values_are_chosen_by_ranges() {
    let folder = Folder::new();
    let dates = [
        "2021-02-28T23:59:59Z",
        "2021-02-28T20:00:00-05:00",
        "2021-03-31T23:59:59+02:00",
        "2021-04-01",
        "2021-03",
        "soon",
    ];
    let in_utc = ["2021-02-28T23:59:59Z", "2021-03-01T01:00:00Z", "2021-03-31T21:59:59Z", "2021-04-01", "2021-03", ""];
    let line =
        |(number, date): (usize, &&str)| json!({"text": prose(1), "id": number, "date": date}).to_string() + "\n";
    let lines: String = dates.iter().enumerate().map(line).collect();
    folder.write("a.jsonl", lines + &json!({"text": prose(1), "id": 9}).to_string());
    folder.ok(&["ingest", "-q", "a.jsonl", "--keep-fields", "date"]);
    folder.write("q.txt", prose(1));
    let bounds = ["2021", "2021-03", "2021-03-01", "2021-03-31", "2021-03-31T12", "2021-04-01", "2021-04-01T00"];
    let database = Database::open(folder.path().join(".fpdb")).unwrap();
    for low in bounds {
        for high in bounds {
            let fits = |date: &&str| !date.is_empty() && *date >= low && &date[..date.len().min(high.len())] <= high;
            let expected: Vec<String> =
                (1..).zip(in_utc).filter(|(_, date)| fits(date)).map(|(line, _)| format!("a.jsonl:{line}")).collect();
            let fields = [format!("date>={low}"), format!("DATE<={high}")];
            let flags = ["--where", &fields[0], "--where", &fields[1], "--format", "json"];
            let names = |command: &[&str], of: &dyn Fn(Vec<Value>) -> Vec<String>| -> Vec<String> {
                let run = folder.run(&[command, &flags[..]].concat());
                let mut names = if run.status == 0 { of(run.json()) } else { Vec::new() };
                names.sort_unstable();
                names
            };
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let listed = names(&["list"], &|all| all.iter().map(|one| text(&one["name"])).collect());
            assert_eq!(listed, expected, "{low} {high}");
            let found = names(&["query", "q.txt", "--top", "0"], &|all| {
                all[0]["matches"].as_array().unwrap().iter().map(|found| text(&found["document"])).collect()
            });
            assert_eq!(found, expected, "{low} {high}");
            let (of, all) = (expected.len(), dates.len() + 1);
            let pairs = names(&["pairs"], &|all| all.iter().map(|pair| text(&pair["a"])).collect());
            assert_eq!(pairs.len(), (all * (all - 1) - (all - of) * (all - of).saturating_sub(1)) / 2, "{low} {high}");
            let removed = names(&["rm"], &|all| vec![all[0]["selected"].to_string()]);
            assert_eq!(removed.first().map_or("0", String::as_str), of.to_string(), "{low} {high}");
            let options = json!({"metadata": {"date>": low, "Date<": high}});
            let options = options_from_json(&QueryOptions::default().top(None), options).unwrap();
            let answer = database.query_with(QuerySource::File(folder.path().join("q.txt")), &options, &Task::new());
            assert_eq!(answer.map_or(0, |answer| answer.matches.len()), of, "{low} {high}");
        }
    }
}

/// `rm --yes` must not delete documents that a mistyped date selects by chance.
#[test]
fn a_range_of_dates_needs_dates() {
    let folder = Folder::new();
    let dates = ["yesterday at noon", "Wed, 3 Mar 2021 10:00:00 +0000", "2021-03-03T10:00:00Z"];
    let lines: String = dates.iter().map(|date| json!({"text": prose(1), "date": date}).to_string() + "\n").collect();
    folder.write("a.jsonl", lines);
    folder.ok(&["ingest", "-q", "a.jsonl", "--keep-fields", "date"]);
    folder.write("q.txt", prose(1));
    let refusal = "expected a date as 2021, 2021-03, 2021-03-04 or 2021-03-04T10:00:00Z";
    for command in [&["list"][..], &["query", "q.txt"], &["pairs"], &["rm", "--yes"]] {
        for field in ["date<=31.12.2020", "Date>=soon", "date>=", "date<=2021-13"] {
            let run = folder.run(&[command, &["--where", field]].concat());
            assert!(run.status == 2 && run.stderr.contains(refusal), "{command:?} {run:?}");
        }
    }
    let database = Database::open(folder.path().join(".fpdb")).unwrap();
    let options = options_from_json(&QueryOptions::default(), json!({"metadata": {"date<": "31.12.2020"}})).unwrap();
    let refused = database.query_with(QuerySource::File(folder.path().join("q.txt")), &options, &Task::new());
    assert!(refused.unwrap_err().chain().contains(refusal));
    drop(database);
    assert_eq!(folder.run(&["rm", "--yes", "--where", "date>=2022"]).status, 2);
    folder.ok(&["rm", "--yes", "--where", "date>=2020"]);
    assert_eq!(metadata(&folder).len(), 2);
}

/// Every value contains the empty text.
#[test]
fn an_empty_part_of_a_value_selects_nothing() {
    let folder = mails();
    for command in [&["list"][..], &["query", "q.txt"], &["pairs"], &["rm", "--yes"]] {
        for field in ["from~=", "from>=", "from<="] {
            let run = folder.run(&[command, &["--where", field]].concat());
            assert_eq!(run.status, 2, "{command:?} {run:?}");
        }
    }
    assert_eq!(metadata(&folder).len(), 8);
}
