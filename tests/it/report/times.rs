//! Times: on request, pairs and reports show the times of files.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::COPIES;
use super::browser::Browser;
use super::data::Overview;
use super::files::overview;
use crate::support::Folder;

const OLD: i64 = 1_500_000_000;
const SHOWN: &str = "2017-07-14T02:40:00Z";

/// Stored essays; only the file of `docs/a.txt` has a known time.
fn dated() -> Folder {
    let folder = Folder::new();
    for (name, text) in COPIES {
        folder.write(name, text);
    }
    let file = File::options().write(true).open(folder.path().join(COPIES[0].0)).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(OLD.unsigned_abs())).unwrap();
    folder.ok(&["ingest", "-q", "--profile", "prose", "docs"]);
    folder
}

fn times(pair: &Value) -> [Option<i64>; 2] {
    ["a_modified", "b_modified"].map(|field| pair.get(field).and_then(Value::as_i64))
}

#[test]
fn pairs_have_the_times_of_both_files() {
    let folder = dated();
    let pairs = |more: &[&str]| folder.ok(&[&["pairs", "--format", "json"], more].concat()).json();
    assert!(pairs(&[]).iter().all(|pair| times(pair) == [None, None]));
    let with_times = pairs(&["--file-times"]);
    assert_eq!(with_times.len(), pairs(&[]).len());
    for pair in &with_times {
        let expected = ["a", "b"].map(|side| (pair[side] == "docs/a.txt").then_some(OLD));
        assert_eq!(times(pair), expected, "{pair}");
    }
    assert!(with_times.iter().any(|pair| times(pair) != [None, None]));
    // Submissions have no times, but their files do.
    let submissions = ["--file-times", "--submission-by", "^docs/[ab]"];
    for pair in pairs(&submissions) {
        let of_files: Vec<_> = pair["files"].as_array().into_iter().flatten().map(times).collect();
        let expected = if pair["a"] == "docs/a" { [Some(OLD), None] } else { [None, None] };
        assert_eq!((times(&pair), of_files[0]), ([None, None], expected), "{pair}");
    }

    let told = folder.ok(&["pairs", "--file-times"]).stdout;
    let of_a = told.lines().filter(|line| line.contains("a.txt")).count();
    assert!(of_a > 0 && told.matches(SHOWN).count() == of_a, "{told}");
    assert!(told.lines().filter(|line| line.contains("a.txt")).all(|line| line.contains(&format!("a.txt  {SHOWN}"))));
    for more in [&[][..], &["--passages"], &submissions[1..]] {
        let table = folder.ok(&[&["pairs", "--file-times", "--format", "csv"], more].concat()).stdout;
        for row in csv::Reader::from_reader(table.as_bytes()).deserialize::<BTreeMap<String, String>>() {
            let row = row.unwrap();
            let expected = if row["a"].starts_with("docs/a") { ["1500000000", ""] } else { [""; 2] };
            assert_eq!([&row["a_modified"], &row["b_modified"]], expected, "{table}");
        }
    }
}

#[test]
fn reports_show_the_times_unless_names_are_left_out() {
    let folder = dated();
    folder.write("asked.txt", COPIES[0].1);
    let read = |flags: &[&str]| -> Overview {
        folder.ok(&[flags, &["--format", "html", "-o", "report", "--single-file"]].concat());
        overview(&std::fs::read(folder.path().join("report")).unwrap())
    };
    let known = |report: &Overview| -> Vec<(String, i64)> {
        report.documents.iter().filter_map(|one| Some((one.name.clone(), one.modified?))).collect()
    };
    for command in [&["pairs"][..], &["query", "asked.txt"], &["query", "--document", "docs/a.txt"]] {
        assert_eq!(known(&read(command)), []);
        assert_eq!(known(&read(&[command, &["--file-times"]].concat())), [("docs/a.txt".to_owned(), OLD)]);
        assert_eq!(known(&read(&[command, &["--file-times", "--anonymise"]].concat())), []);
    }
    let Some(mut browser) = Browser::start() else { return };
    folder.ok(&["pairs", "--file-times", "--format", "html", "-o", "pages"]);
    let page = folder.path().join("pages/index.html");
    browser.open(&page, "");
    let rows = browser.ask(
        "[...document.querySelectorAll('tr[data-pair]')].map((row) => [row.innerText.includes('a.txt'), row.innerText.includes('2017-07-14T02:40:00Z')])",
    );
    let rows = rows.as_array().unwrap();
    assert!(rows.contains(&json!([true, true])));
    assert!(rows.iter().all(|row| row[0] == row[1]), "{rows:?}");
    browser.open(&page, "pair=1");
    browser.wait("document.getElementById('main').dataset.whole");
    let facts = browser.text("[...document.querySelectorAll('dl.known div')].map((fact) => fact.innerText).join()");
    assert!(facts.contains("file changed") && facts.contains(SHOWN), "{facts}");
}

/// Mails have a sender and a date of their own, which a report shows and can be ordered by.
#[test]
fn reports_show_senders_and_dates_and_begin_with_the_oldest() {
    let folder = Folder::new();
    let mail = |from: &str, date: &str, text: &str| {
        format!("From a@b Sat Jan  3 01:05:34 1996\nFrom: {from}\nDate: {date}\nSubject: s\n\n{text}\n\n")
    };
    let mails = [
        mail("late@x.example", "Wed, 3 Mar 2021 10:00:00 +0000", COPIES[0].1),
        mail("early@x.example", "Tue, 2 Mar 2021 10:00:00 +0000", COPIES[0].1),
    ];
    folder.write("box.mbox", mails.concat());
    folder.write("asked.txt", COPIES[0].1);
    folder.ok(&["ingest", "-q", "--profile", "prose", "--keep-fields", "From,Date", "box.mbox"]);
    let query = ["query", "asked.txt", "--format", "html", "-o"];
    folder.ok(&[&query[..], &["first", "--sort", "oldest"]].concat());
    folder.ok(&[&query[..], &["best"]].concat());
    folder.ok(&[&query[..], &["hidden", "--sort", "oldest", "--anonymise"]].concat());
    let oldest_first =
        |report: &str| overview(&std::fs::read(folder.path().join(report).join("index.html")).unwrap()).oldest_first;
    assert_eq!(["first", "best", "hidden"].map(oldest_first), [true, false, true]);
    let Some(mut browser) = Browser::start() else { return };
    let mut rows = |report: &str| -> Vec<String> {
        browser.open(&folder.path().join(report).join("index.html"), "");
        let rows = browser.ask("[...document.querySelectorAll('tr[data-pair]')].map((row) => row.innerText)");
        rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
    };
    let listed = rows("first");
    for (row, [from, date]) in
        listed.iter().zip([["early@", "2021-03-02T10:00:00Z"], ["late@", "2021-03-03T10:00:00Z"]])
    {
        assert!(row.contains(from) && row.contains(date), "{listed:?}");
    }
    assert_eq!(listed.len(), 2);
    assert!(rows("best").iter().all(|row| row.contains("2021-03-0")));
    for report in ["first", "best", "hidden"] {
        let whole = overview(&std::fs::read(folder.path().join(report).join("index.html")).unwrap());
        assert_eq!(whole.documents.iter().any(|document| document.dated.is_some()), report != "hidden");
    }
    assert!(rows("hidden").iter().all(|row| !row.contains("2021") && !row.contains("@x")));
    // Without times the best pair comes first.
    for (report, way) in [("first", "ascending"), ("hidden", "descending")] {
        browser.open(&folder.path().join(report).join("index.html"), "");
        assert_eq!(browser.text("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), way, "{report}");
    }
}

/// Dates are ordered by time, not by text. If a date cannot be read, the time of the file counts, after all
/// dates.
#[test]
fn reports_order_dates_by_time() {
    let folder = Folder::new();
    let document = |name: &str, date: &str| json!({"id": name, "text": COPIES[0].1, "date": date}).to_string() + "\n";
    let lines = document("west", "2021-03-03T20:00:00-05:00") + &document("utc", "2021-03-04T00:30:00Z");
    for (name, lines) in [("dated.jsonl", lines), ("soon.jsonl", document("soon", "soon"))] {
        folder.write(name, lines);
        let file = File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(OLD.unsigned_abs())).unwrap();
    }
    folder.write("asked.txt", COPIES[0].1);
    folder.ok(&["ingest", "-q", "--profile", "prose", "--keep-fields", "date", "dated.jsonl", "soon.jsonl"]);
    let query = ["query", "asked.txt", "--format", "html", "-o"];
    folder.ok(&[&query[..], &["timed", "--sort", "oldest"]].concat());
    folder.ok(&[&query[..], &["untimed"]].concat());
    let Some(mut browser) = Browser::start() else { return };
    let dates = |browser: &mut Browser| -> Value {
        browser.ask("[...document.querySelectorAll('tr[data-pair]')].map((row) => row.cells[3].innerText)")
    };
    let [west, utc] = ["2021-03-04T01:00:00Z", "2021-03-04T00:30:00Z"];
    browser.open(&folder.path().join("timed/index.html"), "");
    assert_eq!(dates(&mut browser), json!([utc, west, SHOWN]));
    browser.open(&folder.path().join("untimed/index.html"), "");
    for ends in [[utc, west], [west, utc]] {
        browser.ask("document.querySelectorAll('th button')[3].click()");
        assert_eq!(dates(&mut browser), json!([ends[0], ends[1], "\u{2013}"]));
    }
}

/// Here only the stored documents are in submissions, not the query.
#[test]
fn a_query_outside_submissions_is_not_counted_as_one() {
    let folder = dated();
    folder.write("asked.txt", COPIES[0].1);
    folder.ok(&["query", "asked.txt", "--submission-by", "^docs/[ab]", "--format", "html", "-o", "pages"]);
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("pages/index.html"), "");
    let title = browser.text("document.title");
    assert!(title.starts_with("What 1 query document shares with the database"), "{title}");
}
