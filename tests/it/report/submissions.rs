//! Reports in which documents of one submission count as one: the ranked pairs are pairs of submissions, and
//! each leads to the pairs of its documents.

use serde_json::json;

use super::browser::Browser;
use super::data::Overview;
use super::files::overview;
use super::paragraph;
use crate::support::Folder;

fn stretch(seed: u64) -> String {
    paragraph(seed, 40)
}

/// Two students whose files share text crosswise, one who shares a little, and a file that belongs to no
/// student.
fn corpus(folder: &Folder) {
    folder.write("in/ann/a.txt", stretch(1) + &stretch(2));
    folder.write("in/ann/b.txt", stretch(3) + &stretch(4) + &stretch(8));
    folder.write("in/bob/c.txt", stretch(2) + &stretch(5));
    folder.write("in/bob/d.txt", stretch(4) + &stretch(8) + &stretch(3));
    folder.write("in/cy/e.txt", stretch(6) + &stretch(7) + &stretch(5));
    folder.write("other.txt", stretch(7));
    folder.ok(&["ingest", "-q", "--profile", "words", "in", "other.txt"]);
}

fn read(folder: &Folder, report: &str) -> Overview {
    overview(&std::fs::read(folder.path().join(report).join("index.html")).unwrap())
}

/// Returns the names, shared hashes and pairs of files of each ranked pair. Checks that each pair of files
/// leads back to its pair of submissions.
fn ranked(overview: &Overview) -> Vec<(String, u64, Vec<String>)> {
    let name = |index: usize| overview.documents[index].name.clone();
    let pair = |index: usize| format!("{} {}", name(overview.pairs[index].a), name(overview.pairs[index].b));
    for (index, of) in overview.pairs.iter().enumerate().filter_map(|(index, pair)| Some((index, pair.of?))) {
        assert!(overview.pairs[of].files.contains(&index));
        assert!(overview.pairs[index].page && overview.pairs[index].files.is_empty());
    }
    let top = overview.pairs.iter().enumerate().filter(|(_, pair)| pair.of.is_none());
    top.map(|(index, one)| {
        let files = one.files.iter().inspect(|&&file| assert_eq!(overview.pairs[file].of, Some(index)));
        let counted: u64 = one.files.iter().map(|&file| overview.pairs[file].passages.unwrap()).sum();
        assert!(one.files.is_empty() || (one.passages == Some(counted) && !one.page));
        (pair(index), one.shared, files.map(|&file| pair(file)).collect())
    })
    .collect()
}

#[test]
fn pairs_of_submissions_lead_to_pairs_of_their_files() {
    let folder = Folder::new();
    corpus(&folder);
    let flags = ["pairs", "--submission-by", "in", "--min-resemblance", "0"];
    folder.ok(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    let overview = read(&folder, "report");
    let listed: Vec<(String, u64, Vec<String>)> = folder
        .ok(&[&flags[..], &["--format", "json"]].concat())
        .json()
        .iter()
        .map(|pair| {
            let names =
                |pair: &serde_json::Value| format!("{} {}", pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap());
            let files = pair["files"].as_array().unwrap();
            (names(pair), pair["shared"].as_u64().unwrap(), files.iter().map(names).collect())
        })
        .collect();
    assert_eq!(ranked(&overview), listed);
    assert_eq!((overview.compared, overview.submissions), (4, 3), "three students and a document");
    assert_eq!(overview.histogram.iter().sum::<u64>(), 4);
    let roles = |role: &str| overview.documents.iter().filter(|document| document.role == role).count();
    assert_eq!((roles("submission"), roles("stored")), (3, 6));
    assert!(overview.options.contains(&("--submission-by".into(), "in".into())));
    // The limit counts pairs of submissions.
    folder.ok(&[&flags[..], &["--format", "html", "-o", "few", "--max-report-pairs", "1"]].concat());
    let few = read(&folder, "few");
    assert_eq!(ranked(&few), listed[..1]);
    assert_eq!(few.left_out.pairs, listed.len() as u64 - 1);
    // An anonymous report has no names.
    folder.ok(&[&flags[..], &["--format", "html", "-o", "nameless", "--anonymise", "--no-text"]].concat());
    let page = std::fs::read_to_string(folder.path().join("nameless/index.html")).unwrap();
    assert!(!page.contains("in/ann") && page.contains("Submission 1"));
}

/// The answers in JSON are the oracle of the report. The report names the handed-out text and the file that
/// cannot be read.
#[test]
fn submissions_that_are_one_query_lead_to_their_best_files() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("task.txt", stretch(9));
    folder.ok(&["ingest", "-q", "task.txt", "--boilerplate", "task.txt"]);
    folder.write("late/eve/a.txt", stretch(9) + &stretch(1) + &stretch(11));
    folder.write("late/eve/b.txt", stretch(4) + &stretch(12));
    folder.write("late/eve/broken.pdf", "%PDF-1.4 and no more");
    folder.write("late/fay/a.txt", stretch(7) + &stretch(13));
    folder.write("late/loose.txt", stretch(5) + &stretch(14));
    let flags = ["query", "late", "--submission-by", "in,late", "--top", "0"];
    let asked = folder.run(&[&flags[..], &["--format", "json"]].concat());
    let mut listed: Vec<(f64, String, u64, Vec<String>)> = Vec::new();
    for answer in asked.json() {
        let query = answer["query"]["name"].as_str().unwrap();
        for found in answer["matches"].as_array().unwrap() {
            let name = found["document"].as_str().unwrap();
            let files = found["files"].as_array().cloned().unwrap_or_default();
            let of_file = |file: &serde_json::Value| {
                let query = file["query"]["name"].as_str().unwrap_or(query);
                format!("{query} {}", file["document"].as_str().unwrap())
            };
            let files = files.iter().map(of_file).collect();
            let shared = found["shared"].as_u64().unwrap();
            listed.push((found["score"].as_f64().unwrap(), format!("{query} {name}"), shared, files));
        }
    }
    listed.sort_by(|x, y| y.0.total_cmp(&x.0));
    let listed: Vec<_> = listed.into_iter().map(|(_, pair, shared, files)| (pair, shared, files)).collect();
    assert!(listed.iter().any(|(pair, _, files)| pair == "late/eve in/ann" && files[0].starts_with("late/eve/")));
    assert!(
        listed.iter().any(|(pair, _, files)| pair == "late/fay other.txt" && files == &["late/fay/a.txt other.txt"])
    );
    let run = folder.run(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    assert_eq!((asked.status, run.status), (2, 2), "{run:?}");
    let report = read(&folder, "report");
    assert_eq!(ranked(&report), listed);
    assert_eq!(report.compared, 3, "two submissions and a file");
    assert_eq!(report.failures.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["late/eve/broken.pdf"]);
    let boilerplate: u64 = asked.json().iter().map(|answer| answer["boilerplate"].as_u64().unwrap()).sum();
    assert!(boilerplate > 0);
    assert_eq!((report.boilerplate, &report.boilerplate_documents[..]), (boilerplate, &["task.txt".to_owned()][..]));
    // The share without handed-out text is given beside that of all.
    let answers = asked.json();
    let of_eve = answers.iter().find(|answer| answer["query"]["name"] == "late/eve").unwrap();
    let own = of_eve["matches"][0]["without_boilerplate"]["containment"].as_f64().unwrap();
    assert!(own > of_eve["matches"][0]["containment"].as_f64().unwrap(), "{of_eve}");
    let at = report.pairs.iter().position(|pair| pair.containment_a_without_boilerplate == Some(own)).unwrap() + 1;
    // The handed-out text of a file is grey in its text.
    let number = report.documents.iter().position(|document| document.name == "late/eve/a.txt").unwrap() + 1;
    let text = super::text(&folder, "report", number);
    assert_eq!(text.text, stretch(9) + &stretch(1) + &stretch(11));
    let [[0, end]] = text.ignored[..] else { panic!("{:?}", text.ignored) };
    assert!(end > stretch(9).len() as u64 * 9 / 10 && end <= stretch(9).len() as u64, "{end}");
    if let Some(mut browser) = Browser::start() {
        // Only the measures of `pairs` leave handed-out text out.
        folder.ok(&["pairs", "--submission-by", "in", "--format", "html", "-o", "pairs"]);
        for (report, said) in [("report", "lower than those of fpdb pairs"), ("pairs", "in no figure of this report")] {
            browser.open(&folder.path().join(report).join("index.html"), "");
            let told = browser.text("document.body.innerText");
            assert!(told.contains("of handed-out text (boilerplate)") && told.contains(said), "{told}");
            browser.open(&folder.path().join(report).join("index.html"), &format!("pair={at}"));
            browser.wait("document.querySelector('.measures')");
            let told = browser.text("document.querySelector('.measures').innerText");
            let share = format!("({:.1}% without boilerplate)", own * 100.0);
            assert_eq!(told.contains(&share), report == "report", "{share}: {told}");
        }
    }
    folder.run(&[&flags[..], &["--format", "html", "-o", "nameless", "--anonymise", "--no-text"]].concat());
    let page = std::fs::read_to_string(folder.path().join("nameless/index.html")).unwrap();
    for name in ["task.txt", "late/eve", "in/ann", "broken.pdf"] {
        assert!(!page.contains(name), "{name}");
    }
}

/// Boilerplate is not compared. A document outside any submission is not called a submission.
#[test]
fn the_submissions_and_documents_that_were_compared_are_counted() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("task.txt", "the text of the task, which was handed out");
    folder.ok(&["ingest", "-q", "task.txt", "--boilerplate", "task.txt"]);
    let browser = &mut Browser::start();
    for (flags, [compared, submissions], title, said) in [
        (
            &["--submission-by", "in"][..],
            [4, 3],
            "Pairs among 3 submissions and 1 other document",
            "submissions and other documents compared",
        ),
        // No submission is in a pair.
        (
            &["--submission-by", "in", "--min-shared", "1000"],
            [4, 3],
            "Pairs among 3 submissions and 1 other document",
            "submissions and other documents compared",
        ),
        (&[], [6, 0], "Pairs among 6 documents", "documents compared"),
    ] {
        folder.ok(&[&["pairs", "--format", "html", "-o", "report"], flags].concat());
        let overview = read(&folder, "report");
        assert_eq!([overview.compared, overview.submissions], [compared, submissions], "{flags:?}");
        assert_eq!(overview.histogram.iter().sum::<u64>(), compared, "{flags:?}");
        let Some(browser) = browser else { continue };
        browser.open(&folder.path().join("report/index.html"), "");
        assert!(browser.text("document.querySelector('h1').innerText").starts_with(title), "{flags:?}");
        assert_eq!(browser.text("document.getElementById('fact-documents').nextSibling.innerText"), said);
    }
}

/// With all measures of two views and long names, the table fits a screen of 1280 pixels without scrolling.
#[test]
fn the_table_of_submissions_fits_a_common_screen() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    let program =
        |seed: u64| -> String { (0..60).map(|line| format!("int v{line} = {};\n", seed * 1000 + line)).collect() };
    for (student, seed) in [
        ("Mustermann, Anna-Katharina_1234567_assignsubmission_file_", 1),
        ("cleo.featherstonehaugh@students.example.edu", 2),
    ] {
        folder.write(&format!("in/{student}/copied.c"), program(9));
        folder.write(&format!("in/{student}/own.c"), program(seed).repeat(3));
    }
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    folder.ok(&["pairs", "--submission-by", "in", "--format", "html", "-o", "report"]);
    let screen = json!({ "width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", screen);
    for (page, columns) in [("", 11), ("pair=1", 10)] {
        browser.open(&folder.path().join("report/index.html"), page);
        browser.wait("document.querySelector('.list .scroll tbody tr') !== null");
        assert_eq!(browser.ask("document.querySelectorAll('.list .scroll thead th').length"), columns);
        let hidden = "(() => { const table = document.querySelector('.list .scroll'); return table.scrollWidth - table.clientWidth; })()";
        assert_eq!(browser.ask(hidden), 0, "{page}");
        assert_eq!(browser.ask("document.documentElement.scrollWidth <= 1280"), true, "{page}");
    }
}

/// There are twelve pairs of files. A report has at most the requested number, and says so.
#[test]
fn all_pairs_of_files_can_be_had() {
    let folder = Folder::new();
    for student in ["x/ann", "y/bob"] {
        for file in 0..12 {
            folder.write(&format!("in/{student}/{file:02}.txt"), stretch(file));
        }
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let by = ["--submission-by", "in/*"];
    for (flags, listed) in [(&[][..], 10), (&["--submission-files", "12"], 12), (&["--submission-files", "0"], 0)] {
        let answer = folder.ok(&[&["pairs", "--format", "json"], &by[..], flags].concat()).json();
        assert_eq!((answer.len(), &answer[0]["a"], &answer[0]["b"]), (1, &json!("in/x/ann"), &json!("in/y/bob")));
        let files = answer[0]["files"].as_array().map_or(0, Vec::len);
        assert_eq!(
            (files, answer[0]["files_left_out"].as_u64().unwrap_or(0)),
            (listed, 12 - listed as u64),
            "{flags:?}"
        );
        folder.write("asked.txt", (0..12).map(stretch).collect::<String>());
        let answer =
            folder.ok(&[&["query", "--format", "json", "asked.txt"], &by[..], flags].concat()).json().remove(0);
        let found = &answer["matches"][0];
        let files = found["files"].as_array().map_or(0, Vec::len);
        assert_eq!((files, found["files_left_out"].as_u64().unwrap_or(0)), (listed, 12 - listed as u64), "{flags:?}");
        folder.ok(&[&["pairs", "--format", "html", "-o", "report"], &by[..], flags].concat());
        assert_eq!(read(&folder, "report").pairs[0].files.len(), listed);
    }
    let run = folder.run(&["pairs", "--submission-files", "3"]);
    assert!(run.status == 2 && run.stderr.contains("--submission-by"), "{run:?}");
    let Some(mut browser) = Browser::start() else { return };
    folder.ok(&[&["pairs", "--format", "html", "-o", "report"], &by[..]].concat());
    browser.open(&folder.path().join("report/index.html"), "pair=1");
    browser.wait("document.getElementById('files')");
    let title = browser.text("document.getElementById('files-title').textContent");
    assert_eq!(title, "The documents that share most: 10 of 12 pairs");
    let rest = browser.text("document.getElementById('files-left').textContent");
    assert_eq!(rest, "2 more pairs of documents share less. A report made with --submission-files 12 has all.");
    browser.check_quiet();
}

#[test]
fn a_query_that_matches_submissions_leads_to_their_files() {
    let folder = Folder::new();
    corpus(&folder);
    folder.write("asked.txt", stretch(2) + &stretch(3) + &stretch(7));
    let flags = ["query", "--submission-by", "in", "asked.txt"];
    folder.ok(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    let answer = folder.ok(&[&flags[..], &["--format", "json"]].concat()).json().remove(0);
    let listed: Vec<(String, u64, Vec<String>)> = answer["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            let names = |found: &serde_json::Value| format!("asked.txt {}", found["document"].as_str().unwrap());
            let files = found["files"].as_array().into_iter().flatten();
            (names(found), found["shared"].as_u64().unwrap(), files.map(names).collect())
        })
        .collect();
    assert_eq!(ranked(&read(&folder, "report")), listed);
    // The bytes of a file do not make its submission identical.
    folder.write("copy.txt", stretch(2) + &stretch(5));
    folder.ok(&["query", "--submission-by", "in", "copy.txt", "--format", "html", "-o", "same"]);
    let same = read(&folder, "same");
    assert!(same.pairs.iter().any(|pair| pair.identical));
    assert!(same.pairs.iter().all(|pair| !pair.identical || pair.files.is_empty()));
}

#[test]
fn a_reader_goes_from_submissions_to_their_files_and_back() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    let flags = ["pairs", "--submission-by", "in", "--min-resemblance", "0"];
    folder.ok(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    let report = read(&folder, "report");
    browser.open(&folder.path().join("report/index.html"), "");
    let rows = "document.querySelectorAll('.list tbody tr').length";
    assert_eq!(browser.ask(rows), json!(report.pairs.iter().filter(|pair| pair.of.is_none()).count()));
    assert!(browser.text("document.querySelector('h1').textContent").contains("3 submissions and 1 other document"));
    browser.click(".list tbody tr[data-pair='1'] td:last-child");
    browser.wait("document.getElementById('files')");
    let first = report.pairs[0].files.clone();
    assert_eq!(browser.ask("document.querySelectorAll('#files tbody tr').length"), json!(first.len()));
    browser.click("#files tbody tr td:last-child");
    browser.wait("document.getElementById('main').dataset.whole");
    assert_eq!(browser.ask("document.querySelectorAll('.pane').length"), json!(2));
    // The next pair is of the same submissions.
    let last = first.len() - 1;
    for _ in 0..=last {
        browser.press("]");
    }
    browser.wait(&format!("location.hash.includes('pair={}')", first[last] + 1));
    // The page is drawn completely before the next step.
    browser.wait(&format!(
        "document.querySelector('h1').textContent.startsWith('Pair {} ') && document.querySelectorAll('.pane').length === 2",
        first[last] + 1
    ));
    browser.click("#up");
    browser.wait("document.getElementById('files')");
    browser.check_quiet();
}

#[test]
fn all_files_of_two_submissions_stand_side_by_side() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    let flags = ["pairs", "--submission-by", "in", "--min-resemblance", "0"];
    folder.ok(&[&flags[..], &["--format", "html", "-o", "report"]].concat());
    let report = read(&folder, "report");
    let first = &report.pairs[0];
    browser.open(&folder.path().join("report/index.html"), "pair=1");
    browser.click("#whole");
    browser.wait("document.getElementById('main').dataset.whole && document.querySelectorAll('.pane').length === 2");
    let heads = |side: usize| {
        format!(
            "[...document.querySelectorAll('.pane')[{side}].querySelectorAll('.head')].map((row) => row.textContent).join()"
        )
    };
    assert_eq!(browser.text(&heads(0)), "in/ann/a.txt,in/ann/b.txt");
    assert_eq!(browser.text(&heads(1)), "in/bob/c.txt,in/bob/d.txt");
    // The lines of each file are counted from 1.
    assert_eq!(
        browser.text("[...document.querySelectorAll('.head')].map((row) => `${row.dataset.n}${row.nextSibling.dataset.n}`).join()"),
        "1,1,1,1"
    );
    // Each passage is marked on both sides, over the same words.
    let passages: u64 = first.files.iter().map(|&file| report.pairs[file].passages.unwrap()).sum();
    assert!(passages > 1);
    assert_eq!(browser.ask("document.querySelectorAll('.passages tbody tr').length"), json!(passages));
    let words = |side: usize, number: u64| {
        format!(
            "[...document.querySelectorAll('.pane')[{side}].querySelectorAll('mark[data-p~=\"{number}\"]')].map((mark) => mark.textContent).join('').split(/\\W+/).filter(Boolean).join(' ')"
        )
    };
    for number in 1..=passages {
        let marked = browser.text(&words(0, number));
        assert!(marked.len() > 100, "{marked}");
        assert_eq!(browser.text(&words(1, number)), marked);
    }
    // The table names the files of the lines.
    let column = |number: usize| {
        format!(
            "[...document.querySelectorAll('.passages td:nth-child({number})')].map((cell) => cell.textContent).join()"
        )
    };
    assert_eq!(browser.text(&column(3)), "a.txt 1,b.txt 1,b.txt 1");
    assert_eq!(browser.text(&column(4)), "c.txt 1,d.txt 1,d.txt 1");
    // The longest passage is shown first.
    assert_eq!(browser.text("document.getElementById('position').textContent"), "passage 3 of 3");
    browser.picture("submissions-whole");
    // The state of the page lasts when it is loaded again, and from there a reader can go back.
    browser.press("p");
    browser.wait("location.hash.includes('files=whole') && location.hash.includes('passage=2')");
    assert!(
        browser
            .text("document.getElementById('status').textContent")
            .contains("line 1 of b.txt of A, line 1 of d.txt of B")
    );
    browser.ask("globalThis.before = true; location.reload()");
    browser.wait("!globalThis.before && document.getElementById('position')?.textContent.startsWith('passage 2 ')");
    browser.click("#up");
    browser.wait("document.getElementById('files')");
    // A report without texts has no page of whole submissions.
    folder.ok(&[&flags[..], &["--format", "html", "-o", "bare", "--no-text"]].concat());
    browser.open(&folder.path().join("bare/index.html"), "pair=1&files=whole");
    browser.wait("document.getElementById('files')");
    assert_eq!(browser.ask("document.getElementById('whole')"), serde_json::Value::Null);
    browser.check_quiet();
}

/// A submission without text is in no pair. The report says so, because such a submission would otherwise
/// seem unlike all others.
#[test]
fn a_report_names_submissions_without_text() {
    let folder = Folder::new();
    for student in ["ann", "bob"] {
        folder.write(&format!("in/{student}/a.txt"), stretch(1));
    }
    folder.write("in/cleo/scan.txt", "...");
    folder.ok(&["ingest", "-q", "in"]);
    let mut browser = Browser::start();
    for (flags, said) in [(&[][..], ": in/cleo."), (&["--anonymise"], ".")] {
        folder.ok(&[&["pairs", "--submission-by", "in", "--format", "html", "-o", "report"], flags].concat());
        let report = read(&folder, "report");
        assert_eq!((report.too_short, report.too_short_names.len()), (1, usize::from(flags.is_empty())));
        let Some(browser) = &mut browser else { continue };
        browser.open(&folder.path().join("report/index.html"), "");
        let notes = browser.text("[...document.querySelectorAll('.notice')].map((note) => note.textContent).join('|')");
        assert!(notes.contains(&format!("1 submission has no text or too little to compare{said}")), "{notes}");
        browser.check_quiet();
        std::fs::remove_dir_all(folder.path().join("report")).unwrap();
    }
}

#[test]
fn old_submissions_are_marked() {
    let folder = Folder::new();
    folder.write("2025/ann/a.txt", stretch(1));
    folder.write("2026/ann/a.txt", stretch(1) + &stretch(2));
    folder.write("2026/bob/a.txt", stretch(1) + &stretch(3));
    folder.ok(&["ingest", "-q", "--profile", "words", "2025", "2026"]);
    let flags = ["pairs", "--submission-by", "/(ann|bob)/", "--old", "2025", "--format", "html", "-o", "report"];
    folder.ok(&flags);
    let report = read(&folder, "report");
    let old: Vec<(&str, bool)> = report.documents.iter().map(|document| (&*document.name, document.old)).collect();
    for expected in [("ann", true), ("ann", false), ("bob", false), ("2025/ann/a.txt", true), ("2026/bob/a.txt", false)]
    {
        assert!(old.contains(&expected), "{old:?}");
    }
    assert_eq!(ranked(&report).len(), 2, "no pair of a student with himself");
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&folder.path().join("report/index.html"), "");
    let rows = browser.text("[...document.querySelectorAll('tr[data-pair]')].map((row) => row.textContent).join('; ')");
    assert_eq!(rows.matches("ann (old)").count(), 1, "{rows}");
    let number = 1 + report.pairs.iter().position(|pair| report.documents[pair.a].old).unwrap();
    browser.open(&folder.path().join("report/index.html"), &format!("pair={number}"));
    browser.wait("document.querySelector('#main .list')");
    let title = browser.text("document.getElementById('top').textContent");
    assert!(title.contains("ann (old) and bob"), "{title}");
    browser.check_quiet();
}

/// Each version of a file of a stored submission is shown with its own text.
#[test]
fn versions_of_a_file_of_a_stored_submission_have_their_texts() {
    let folder = Folder::new();
    corpus(&folder);
    let versions = [stretch(1) + &stretch(2), stretch(6) + &stretch(30)];
    folder.write("in/ann/a.txt", &versions[0]);
    folder.ok(&["ingest", "-q", "--store-text", "--on-change", "replace", "in/ann/a.txt"]);
    folder.write("in/ann/a.txt", &versions[1]);
    folder.ok(&["ingest", "-q", "--store-text", "--on-change", "both", "in/ann/a.txt"]);
    let query = ["query", "--document", "in/ann", "--submission-by", "in", "--format", "html", "-o", "report"];
    folder.ok(&query);
    let documents = read(&folder, "report").documents;
    let shown = documents.iter().enumerate().filter(|(_, document)| document.name == "in/ann/a.txt");
    let mut texts: Vec<String> = shown.map(|(index, _)| super::text(&folder, "report", index + 1).text).collect();
    texts.sort();
    let mut expected = versions.to_vec();
    expected.sort();
    assert_eq!(texts, expected);
}
