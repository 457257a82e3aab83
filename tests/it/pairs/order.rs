//! Order: pairs of equal score, and lengths of passages, do not depend on chance.

use serde_json::Value;

use crate::support::{Folder, word};

/// The first pairs are the same for any `--top`.
#[test]
fn the_pairs_with_the_longest_passages_are_found_in_portions() {
    let folder = Folder::new();
    let words = |first: u64, count: u64| -> String { (first..first + count).map(|place| word(place) + " ").collect() };
    for number in 0..30 {
        // All longest passages of a document have the same length.
        folder.write(
            &format!("in/{number:02}.txt"),
            words(0, 20 + number * 7 % 15) + &words(1000 + 100 * number, 40 - number),
        );
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "in"]);
    let sorted = ["pairs", "--min-resemblance", "0", "--sort", "longest", "--format", "json", "--top"];
    // With passages, pairs are compared in smaller portions.
    for more in [&[][..], &["--passages"]] {
        let listed = |top: &str| folder.ok(&[&sorted[..], &[top], more].concat()).json();
        let all = listed("0");
        assert_eq!(all.len(), 435);
        for top in [1, 20, 300] {
            assert_eq!(listed(&top.to_string()), all[..top], "{top}");
        }
    }
}

/// Of pairs with the same score, the pair that shares more comes first. Then names decide. The order of
/// ingests makes no difference.
#[test]
fn of_equal_scores_the_pair_that_shares_more_comes_first() {
    let folder = Folder::new();
    let words = |first: u64, count: u64| -> String { (first..first + count).map(|place| word(place) + " ").collect() };
    let names = ["a1", "z2", "m1", "n2", "z1", "a2", "n1", "m2"];
    for name in names {
        let (first, count) = match &name[..1] {
            "a" => (0, 12),
            "z" => (1000, 90),
            other => (2000 + 100 * u64::from(other == "m"), 40),
        };
        folder.write(name, words(first, count));
    }
    let sorted = |names: [String; 2]| if names[0] < names[1] { names } else { [names[1].clone(), names[0].clone()] };
    for (database, order) in [("one", names.to_vec()), ("other", names.iter().rev().copied().collect())] {
        for name in order {
            folder.ok(&["--db", database, "ingest", "-q", "--profile", "words", name]);
        }
        for top in ["0", "1", "3"] {
            let found = folder.ok(&["--db", database, "pairs", "--top", top, "--format", "json"]).json();
            let expected = [["z1", "z2"], ["m1", "m2"], ["n1", "n2"], ["a1", "a2"]];
            let most = if top == "0" { expected.len() } else { top.parse().unwrap() };
            assert!(found.iter().all(|pair| pair["score"] == 1.0), "{found:?}");
            let of = |pair: &Value| sorted(["a", "b"].map(|name| pair[name].as_str().unwrap().to_owned()));
            assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected[..most]);
        }
    }
}

/// If several pairs of files share the same number, the listed pairs do not depend on the order of ingests.
#[test]
fn the_listed_files_of_submissions_do_not_depend_on_the_order_of_ingests() {
    let folder = Folder::new();
    let words = |first: u64, count: u64| -> String { (first..first + count).map(|place| word(place) + " ").collect() };
    let names: Vec<String> =
        (0..6).flat_map(|number| ["x", "y"].map(|student| format!("in/{student}/{number}.txt"))).collect();
    for name in &names {
        // The files of y are in the other order, so the first name of a pair decides.
        let (is_of_x, number) = (name.contains('x'), u64::from(name.as_bytes()[5] - b'0'));
        let (text, own) = if is_of_x { (number, 0) } else { (5 - number, number) };
        folder.write(name, words(100 * text, 40) + &words(5000 + 100 * number, own));
    }
    let listed = |database: &str, order: &mut dyn Iterator<Item = &String>| {
        for name in order {
            folder.ok(&["--db", database, "ingest", "-q", "--profile", "words", name]);
        }
        let flags = ["--submission-by", "in", "--submission-files", "2", "--format", "json"];
        let found = folder.ok(&[&["--db", database, "pairs"], &flags[..]].concat()).json();
        let files = found[0]["files"].as_array().unwrap().iter();
        let name = |file: &Value| ["a", "b"].map(|side| file[side].as_str().unwrap().to_owned()).into_iter().min();
        files.map(name).collect::<Vec<_>>()
    };
    let expected = [0, 1].map(|number| Some(format!("in/x/{number}.txt")));
    assert_eq!(listed("one", &mut names.iter()), expected);
    assert_eq!(listed("other", &mut names.iter().rev()), expected);
}

/// Lines of dashes carry no text. Documents that share only such lines have no long passage. In programs that
/// share text too, such lines are no passage. If nothing else is shared, the lines are found and shown.
#[test]
fn rulers_are_no_long_passages() {
    let folder = Folder::new();
    let statements = |first: u64, count: u64| -> String {
        (first..first + count)
            .map(|line| format!("{} = {}({})\n", word(line), word(7 * line), word(31 * line)))
            .collect()
    };
    let ruler = |symbols: &str| format!("# {}\n", symbols.repeat(300 / symbols.chars().count()));
    let rulers: String = ["-", "═", "*=", "+---"].map(ruler).concat();
    folder.write("in/a.py", rulers.clone() + &statements(1000, 30));
    folder.write("in/b.py", rulers.clone() + "\"\"\"Other text.\"\"\"\n" + &"while x:\n    del x[y:]\n".repeat(12));
    folder.write("in/c.py", statements(3000, 30) + &ruler("#") + &statements(4000, 20));
    folder.write("in/d.py", ruler("#") + &statements(5000, 30) + &statements(4000, 20));
    for profile in ["code", "bytes"] {
        folder.ok(&["--db", profile, "ingest", "-q", "--profile", profile, "in"]);
        let pairs = ["--db", profile, "pairs", "--sort", "longest", "--min-resemblance", "0", "--format", "json"];
        let found = folder.ok(&pairs).json();
        let of = |a: &str, b: &str| {
            let names = [a, b].map(|name| format!("in/{name}.py"));
            let pair = found.iter().find(|pair| [&pair["a"], &pair["b"]] == names.each_ref().map(|name| name.as_str()));
            pair.unwrap()["longest"].as_u64().unwrap()
        };
        assert_eq!([&found[0]["a"], &found[0]["b"]], ["in/c.py", "in/d.py"], "{profile}: {found:?}");
        let least = if profile == "code" { 100 } else { 300 };
        assert!(of("c", "d") > least && of("a", "b") < 50, "{profile}: {found:?}");
        let symbols = |flags: &[&str]| -> Vec<u64> {
            let query = ["--db", profile, "query", "--format", "json", "--document"];
            let answer = folder.ok(&[&query[..], flags].concat()).json().remove(0);
            let found = answer["matches"].as_array().unwrap().iter().find(|found| {
                [["in/a.py", "in/b.py"], ["in/c.py", "in/d.py"]]
                    .iter()
                    .any(|pair| pair[0] == flags[0] && found["document"] == pair[1])
            });
            let passages = found.unwrap()["passages"].as_array().unwrap().iter();
            passages.map(|passage| passage["symbols"].as_u64().unwrap()).collect()
        };
        // The guarantee holds for rulers too.
        assert!(symbols(&["in/a.py"]).iter().any(|&symbols| symbols >= 1000), "{profile}");
        assert!(symbols(&["in/a.py", "--min-passage", "60"]).is_empty(), "{profile}");
        assert_eq!(symbols(&["in/c.py", "--min-passage", "60"]).len(), 1, "{profile}");
        if profile == "code" {
            assert_eq!(symbols(&["in/c.py"]).len(), 1, "{:?}", symbols(&["in/c.py"]));
        }
    }
}
