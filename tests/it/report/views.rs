//! Reports about source code in two views: the list and the page of a pair have the figures of both.

use super::browser::Browser;
use super::data::Overview;
use super::files::overview as overview_of;
use crate::support::Folder;
use crate::views::callers;

fn read(folder: &Folder, report: &str) -> Overview {
    overview_of(&std::fs::read(folder.path().join(report).join("index.html")).unwrap())
}

/// Two programs with the same calls but different structure. A third program shares a part with one of them.
fn corpus(folder: &Folder) {
    let [one, other] = callers();
    folder.write("in/a.c", &one);
    folder.write("in/b.c", &other);
    folder.write("in/c.c", one.lines().take(11).collect::<Vec<_>>().join("\n"));
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
}

#[test]
fn the_list_of_pairs_has_the_figures_of_both_views() {
    let folder = Folder::new();
    corpus(&folder);
    let ask = ["pairs", "--top", "0", "--min-resemblance", "0"];
    folder.ok(&[&ask[..], &["--format", "html", "-o", "report"]].concat());
    let answer = folder.ok(&[&ask[..], &["--format", "json"]].concat()).json();
    let report = read(&folder, "report");
    assert_eq!((report.measure.as_str(), report.pairs.len()), ("score", 3));
    for (pair, json) in report.pairs.iter().zip(&answer) {
        assert_eq!(json["text_shared"], pair.text_shared.unwrap());
        assert_eq!(json["score"], pair.score);
        let text = [pair.text_resemblance, pair.text_containment_a, pair.text_containment_b];
        for (name, share) in ["text_resemblance", "text_containment_a", "text_containment_b"].iter().zip(text) {
            assert_eq!(json[*name], share.unwrap(), "{json}");
        }
    }
    // Each document is counted at its best score, even if its structure resembles no other.
    let best = |name: &str| {
        let of_it = answer.iter().filter(|pair| pair["a"] == name || pair["b"] == name);
        of_it.map(|pair| pair["score"].as_f64().unwrap()).fold(0.0, f64::max)
    };
    let mut bins = vec![0; 101];
    ["in/a.c", "in/b.c", "in/c.c"].iter().for_each(|name| bins[(100.0 * best(name) + 1e-9) as usize] += 1);
    assert_eq!(report.histogram, bins);

    folder.ok(&["diff", "--profile", "code", "in/a.c", "in/b.c", "--format", "html", "-o", "two"]);
    let two = read(&folder, "two");
    assert_eq!((two.measure.as_str(), two.pairs[0].resemblance), ("score", 0.0));
    assert!(two.pairs[0].text_resemblance.unwrap() > 0.4);

    // A database of one view has no such figures.
    folder.ok(&["ingest", "-q", "--db", "one", "--unit", "token", "-k", "7", "-w", "2", "in"]);
    folder.ok(&["pairs", "--db", "one", "--min-resemblance", "0", "--format", "html", "-o", "plain"]);
    let plain = read(&folder, "plain");
    assert_eq!((plain.measure.as_str(), plain.pairs[0].text_shared), ("resemblance", None));
}

#[test]
fn a_reader_sees_the_figures_of_the_text() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = Folder::new();
    corpus(&folder);
    folder.ok(&["pairs", "--top", "0", "--min-resemblance", "0", "--format", "html", "-o", "report"]);
    let report = read(&folder, "report");
    browser.open(&folder.path().join("report/index.html"), "threshold=0");
    let heads =
        browser.text("[...document.querySelectorAll('.list thead button')].map((head) => head.textContent).join()");
    assert!(heads.contains("score, the larger of both views,text as written,resemblance,"), "{heads}");
    let place = heads.split(',').position(|head| head == "text as written").unwrap();
    // The name of the score contains a comma.
    let cell = browser.text(&format!("document.querySelector('.list tbody td:nth-child({place})').textContent"));
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    assert_eq!(cell, percent(report.pairs[0].text_resemblance.unwrap()));
    // The page names the settings of both views.
    let about = browser.text("document.querySelector('.card:not(#glossary) > .about').textContent");
    for told in ["k 7, w 2", "k 3, w 8", "shorter than 7 tokens can match; as written, 3 words and marks"] {
        assert!(about.contains(told), "{told}: {about}");
    }
    assert!(about.contains("run of 8 tokens is found; as written, 10 words and marks"), "{about}");
    let words = browser.text("document.getElementById('glossary').textContent");
    assert!(words.contains("k 7 (as written 3)") && words.contains("w 2 (as written 8)"), "{words}");
    for (number, pair) in report.pairs.iter().enumerate() {
        browser.open(&folder.path().join("report/index.html"), &format!("pair={}", number + 1));
        browser.wait("document.getElementById('bar-t')");
        let shown = browser.text("document.querySelector('.measures').textContent");
        assert!(shown.contains(&format!("text as written {}", percent(pair.text_resemblance.unwrap()))), "{shown}");
        assert!(shown.contains(&format!(" and {} of the text", pair.text_shared.unwrap())), "{shown}");
    }
    folder.ok(&["pairs", "--top", "1", "--min-resemblance", "0", "--format", "html", "-o", "best"]);
    browser.open(&folder.path().join("best/index.html"), "threshold=0");
    let page = browser.text("document.body.textContent");
    let left = report.pairs.len() - 1;
    let note = format!("{left} further pairs with a lower score were found. They are not in this report: --top takes");
    assert!(left > 1 && page.contains(&note), "{page}");
    browser.check_quiet();
}

/// In this text with comments, the passage of the text as written lies within the passage of the structure,
/// which has fewer symbols. The length of a pair is that of the passage with more symbols.
#[test]
fn the_longest_passage_is_that_of_either_view() {
    let folder = Folder::new();
    let comments: String = (0..40).map(|step| format!("    # so that step {step} of w{step} is done\n")).collect();
    let body: String = (0..5).map(|at| format!("    c = d + {at}\n    d = c * {at}\n")).collect();
    for name in ["a", "b"] {
        folder.write(&format!("in/{name}.py"), format!("def work(a, b):\n    a = b + 7\n{comments}{body}"));
    }
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let pair = folder.ok(&["pairs", "--sort", "longest", "--passages", "--format", "json"]).json().remove(0);
    let listed = pair["passages"].as_array().unwrap().iter().map(|passage| passage["symbols"].as_u64().unwrap()).max();
    let longest = pair["longest"].as_u64().unwrap();
    assert!(longest > 300 && listed.unwrap() < 100, "{pair}");
    folder.ok(&["pairs", "--format", "html", "-o", "report"]);
    assert_eq!(read(&folder, "report").pairs[0].longest, Some(longest));
}
