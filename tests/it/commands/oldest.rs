//! Oldest: the times of files, for the question who wrote a text first.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use crate::bad_input::prose;
use crate::support::Folder;

#[test]
fn the_oldest_file_comes_first_with_its_time_and_its_metadata() {
    let folder = Folder::new();
    let times = [("in/a.txt", 1_700_000_000), ("in/b.txt", 1_500_000_000), ("in/c/d.txt", 1_600_000_000)];
    for (place, (name, seconds)) in times.into_iter().enumerate() {
        // The first document shares most.
        let text = prose(1);
        folder.write(name, text[..text.len() - 200 * place].to_owned() + &prose(10 + place).repeat(place));
        let file = File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
    folder.write("known.csv", "filename,author,date\nin/a.txt,Ann,2023-11-14\n");
    folder.ok(&["ingest", "-q", "in", "--metadata", "known.csv"]);
    // The time of this file is unknown, because it was changed just before it was read.
    folder.write("in/new.txt", prose(1));
    folder.ok(&["ingest", "-q", "in"]);
    folder.write("asked.txt", prose(1));
    let order = |flags: &[&str]| -> Vec<String> {
        let answer = folder.ok(&[&["query", "asked.txt", "--format", "json"], flags].concat()).json().remove(0);
        answer["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["document"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(order(&["--sort", "oldest"]), ["in/a.txt", "in/b.txt", "in/c/d.txt", "in/new.txt"]);
    // --top chooses by score.
    let best = ["--sort", "oldest", "--top", "2"];
    assert_eq!(order(&best), ["in/a.txt", "in/new.txt"]);
    let told = |flags: &[&str]| folder.ok(&[&["query", "asked.txt"], flags].concat()).stderr;
    assert!(told(&best).contains("2 documents not shown may be older"), "{}", told(&best));
    let of_files = "2 documents ordered by the time of the file: no date in the metadata is readable\n";
    assert_eq!(told(&["--sort", "oldest"]), format!("{}{of_files}", told(&["--top", "2"])));
    // A submission is as old as the oldest of its files. A submission with a date comes before those without.
    let by = ["--sort", "oldest", "--submission-by", "^(in/c|in/a.txt|in/new.txt)"];
    assert_eq!(order(&by), ["in/a.txt", "in/b.txt", "in/c", "in/new.txt"]);

    // JSON has the times of documents, not of submissions. Without --sort, JSON has no times, because the
    // time of a run decides whether the time of a file is known.
    let times = |matches: &serde_json::Value| -> Vec<Option<i64>> {
        matches.as_array().unwrap().iter().map(|found| found.get("modified")?.as_i64()).collect()
    };
    let asked =
        |flags: &[&str]| folder.ok(&[&["query", "asked.txt", "--format", "json"], flags].concat()).json().remove(0);
    assert_eq!(times(&asked(&[])["matches"]), [None; 4]);
    let known = [Some(1_700_000_000), Some(1_500_000_000), Some(1_600_000_000), None];
    assert_eq!(times(&asked(&["--sort", "oldest"])["matches"]), known);
    let grouped = folder.ok(&[&["query", "asked.txt", "--format", "json"][..], &by].concat()).json().remove(0);
    assert_eq!(times(&grouped["matches"]), [None, Some(1_500_000_000), None, None]);
    assert_eq!(times(&grouped["matches"][2]["files"]), [Some(1_600_000_000)]);

    let told = folder.ok(&["query", "asked.txt", "--sort", "oldest", "--no-passages"]).stdout;
    let lines: Vec<&str> = told.lines().collect();
    let rows: Vec<&str> = lines.iter().copied().filter(|line| line.contains(".txt") && line.contains('%')).collect();
    for (row, end) in rows.iter().zip([
        "a.txt  (identical)  2023-11-14T00:00:00Z (date)",
        "b.txt  2017-07-14T02:40:00Z (file)",
        "d.txt  2020-09-13T12:26:40Z (file)",
        "new.txt  (identical)",
    ]) {
        assert!(row.ends_with(end), "{told}");
    }
    assert!(lines.contains(&"      author Ann; date 2023-11-14"), "{told}");

    let table = folder.ok(&["query", "asked.txt", "--sort", "oldest", "--no-passages", "--format", "csv"]).stdout;
    // The pages of passages and a measure without boilerplate are the last columns; text has no pages.
    fn without_last(row: &str) -> Option<&str> {
        let (row, measure) = row.rsplit_once(',')?;
        let (none, names) = (",,,,", ",query_first_page,query_last_page,document_first_page,document_last_page");
        row.strip_suffix(if measure == "containment_without_boilerplate" { names } else { none })
    }
    let rows: Vec<&str> = table.lines().map(|row| without_last(row).unwrap()).collect();
    assert!(rows[0].ends_with(",metadata,modified") && rows[2].ends_with(",{},1500000000"), "{table}");
    assert!(
        rows[1].ends_with(",\"{\"\"author\"\":\"\"Ann\"\",\"\"date\"\":\"\"2023-11-14\"\"}\",1700000000"),
        "{table}"
    );
    assert!(rows[4].ends_with(",{},"), "{table}");

    let shown = folder.ok(&["show", "in/b.txt", "in/new.txt"]).stdout;
    assert_eq!(shown.matches("  file changed  2017-07-14T02:40:00Z\n").count(), 1, "{shown}");
    assert_eq!(shown.matches("file changed").count(), 1, "{shown}");
    let facts = folder.ok(&["show", "in/b.txt", "in/new.txt", "--format", "json"]).json();
    assert_eq!((facts[0]["modified"].as_i64(), facts[1]["modified"].as_i64()), (Some(1_500_000_000), None));
    let run = folder.run(&["query", "asked.txt", "--sort", "oldest", "--by-corpus"]);
    assert!(run.status == 2 && run.stderr.contains("--sort is for lists of matches"), "{run:?}");
}

#[test]
fn dates_of_mails_come_before_the_times_of_files() {
    let folder = Folder::new();
    let mail =
        |date: &str, text: &str| format!("From x@y Mon Jan  1 00:00:00 2001\nFrom: x@y\nDate: {date}\n\n{text}\n\n");
    let (whole, half) = (prose(1), prose(1)[..600].to_owned());
    let late = mail("Tue, 2 Jan 2018 10:00:00 +0000", &whole);
    folder.write("box.mbox", late + &mail("Tue, 3 Jan 2017 10:00:00 +0000", &half));
    folder.write("page.txt", &whole);
    for (name, seconds) in [("box.mbox", 1_700_000_000), ("page.txt", 1_490_000_000)] {
        let file = File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
    folder.ok(&["ingest", "-q", "box.mbox", "page.txt", "--keep-fields", "date"]);
    folder.write("asked.txt", &whole);
    let told = folder.ok(&["query", "asked.txt", "--sort", "oldest", "--format", "json"]).json().remove(0);
    let names: Vec<&str> =
        told["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap()).collect();
    // The mails are of January 2017 and January 2018, in a mailbox of 2023. The page is a file of March 2017.
    assert_eq!(names, ["box.mbox#2", "box.mbox#1", "page.txt"]);
}

#[test]
fn a_date_in_any_form_is_found_and_an_unreadable_one_is_told() {
    let folder = Folder::new();
    let forms =
        ["3 Mar 2021 05:00 EST", "Wed, 3 Mar 2021 10:00:01", "2021-03-03 10:00:02", "Wed Mar  3 10:00:03 2021", "soon"];
    for (number, form) in (1..).zip(forms) {
        folder.write(&format!("in/{number}.eml"), format!("From: a@x.org\nDate: {form}\n\n{}\n", prose(1)));
        let file = File::options().write(true).open(folder.path().join(format!("in/{number}.eml"))).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_500_000_000)).unwrap();
    }
    folder.ok(&["ingest", "-q", "in", "--keep-fields", "Date"]);
    folder.write("asked.txt", prose(1));
    let listed = folder.ok(&["list", "--where", "date~=2021-03-03T", "--format", "json"]).json();
    let names: Vec<&str> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["in/1.eml", "in/2.eml", "in/3.eml", "in/4.eml"]);

    let run = folder.ok(&["query", "asked.txt", "--sort", "oldest", "--no-passages"]);
    let rows: Vec<&str> = run.stdout.lines().filter(|line| line.contains(".eml")).collect();
    for (row, end) in rows.iter().zip([
        "1.eml  2021-03-03T10:00:00Z (date)",
        "2.eml  2021-03-03T10:00:01Z (date)",
        "3.eml  2021-03-03T10:00:02Z (date)",
        "4.eml  2021-03-03T10:00:03Z (date)",
        "5.eml  2017-07-14T02:40:00Z (file)",
    ]) {
        assert!(row.ends_with(end), "{run:#?}");
    }
    let note = "1 document ordered by the time of the file: no date in the metadata is readable";
    assert!(run.stderr.contains(note), "{run:#?}");
}
