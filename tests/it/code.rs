//! Source code: a copy under other names is found in any language, and the answer has its lines.

use crate::support::{Folder, zip};

/// Statements determined by `seed`, with their own names.
fn program(class: &str, name: &str, seed: u64) -> String {
    let mut out = format!("public class {class} {{\n");
    for method in 0..12 {
        let number = seed * 31 + method * 7;
        let operator = ["+", "-", "*", "/", "%"][(number % 5) as usize];
        let test = ["<", ">", "<=", ">="][(number % 4) as usize];
        out += &format!("    int {name}{method}(int a) {{\n        int b = a {operator} {number};\n");
        out += &format!("        while (b {test} {}) {{ b = b - a; }}\n", number % 11);
        out += &format!("        return {}b;\n    }}\n", "-".repeat((number % 2) as usize));
    }
    out + "}\n"
}

/// The same program under other names, with comments, in other columns, with the braces on other lines.
fn disguised(program: &str) -> String {
    let renamed = program.replace("int a", "int anything").replace('b', "bother").replace("pubotherlic", "public");
    let renamed = renamed.replace(" - a;", " - anything;").replace("= a ", "= anything ");
    renamed.replace("{\n", "\n  {  // begins\n").replace("    ", "\t")
}

#[test]
fn a_copy_under_other_names_is_the_same() {
    let folder = Folder::new();
    let original = program("First", "find", 1);
    folder.write("c/First.java", &original);
    folder.write("c/Other.java", program("Other", "look", 5));
    folder.write("c/notes.md", "The classes of the exercise, and who wrote which of them, in the order of hand-in.\n");
    let ingested = folder.ok(&["ingest", "--profile", "code", "c"]);
    assert!(ingested.stderr.contains("unit token, k 7, w 2"), "{}", ingested.stderr);

    let copy = disguised(&original);
    assert!(!copy.contains("int b "));
    folder.write("Copy.java", &copy);
    let found = &folder.ok(&["query", "Copy.java", "--format", "json"]).json()[0];
    let best = &found["matches"][0];
    assert_eq!(best["document"], "c/First.java");
    assert_eq!(best["resemblance"], 1.0);
    assert_eq!(best["identical"], false);
    let passage = &best["passages"][0];
    let lines = |side: &str| (passage[side]["lines"][0].as_u64().unwrap(), passage[side]["lines"][1].as_u64().unwrap());
    let (first, last) = lines("document");
    assert!(first <= 2 && last >= original.lines().count() as u64 - 4, "{passage}");
    // The names of the class, its methods and one variable are the same. The names of the other variables
    // differ.
    let same = passage["same_names"].as_f64().unwrap();
    assert!(0.1 < same && same < 0.9, "{passage}");
    let page = folder.ok(&["query", "Copy.java"]).stdout;
    assert!(page.contains(&format!("symbols, same structure, {:.1}% of the names\n", 100.0 * same)), "{page}");
    let same = folder.ok(&["query", "c/Other.java", "c/First.java", "--format", "csv"]).stdout;
    assert!(same.lines().next().unwrap().contains(",exact,agreement,same_names,score,"), "{same}");
    assert!(same.contains(",true,1,1,1,"), "{same}");
    // The copy has one more line for each brace on its own line.
    assert!(lines("query").1 > last);
    let start = passage["document"]["start"].as_u64().unwrap() as usize;
    assert!(original[start..].starts_with("public") || original[start..].starts_with("class"), "{passage}");

    let diff = &folder.ok(&["diff", "c/First.java", "Copy.java", "--profile", "code", "--format", "json"]).json()[0];
    assert_eq!(diff["matches"][0]["resemblance"], 1.0);
    // With unit char, the comparison sees the names.
    let diff = &folder.ok(&["diff", "c/First.java", "Copy.java", "--format", "json"]).json()[0];
    assert!(diff["matches"].as_array().unwrap().is_empty(), "{diff}");
}

/// The cells of a notebook are source code in its language, and the cells between them are comments.
#[test]
fn a_notebook_is_source_code_in_its_language() {
    let folder = Folder::new();
    let original = program("First", "find", 1);
    folder.write("c/First.java", &original);
    folder.write("c/Other.java", program("Other", "look", 5));
    folder.ok(&["ingest", "-q", "--profile", "code", "c"]);
    let copy = disguised(&original);
    let lines: Vec<&str> = copy.split_inclusive('\n').collect();
    let (first, second) = lines.split_at(20);
    let prose = "It isn't the *first* exercise, (they say)\nand it \"ends {here}\\";
    let notebook = |metadata: serde_json::Value| {
        serde_json::to_string_pretty(&serde_json::json!({
            "cells": [
                {"cell_type": "markdown", "source": prose},
                {"cell_type": "code", "source": first, "outputs": []},
                {"cell_type": "raw", "source": [prose]},
                {"cell_type": "code", "source": second.concat(), "outputs": []},
            ],
            "metadata": metadata, "nbformat": 4, "nbformat_minor": 5,
        }))
        .unwrap()
    };
    let ask = |metadata: serde_json::Value| {
        folder.write("copy.ipynb", notebook(metadata));
        folder.ok(&["query", "copy.ipynb", "--format", "json"]).json().remove(0)
    };
    for metadata in [
        serde_json::json!({"language_info": {"name": "java"}}),
        serde_json::json!({"kernelspec": {"language": "Java", "name": "ijava"}}),
        serde_json::json!({"kernelspec": {"name": "java17"}}),
    ] {
        let best = &ask(metadata)["matches"][0];
        assert_eq!((&best["document"], &best["resemblance"]), (&"c/First.java".into(), &1.0.into()), "{best}");
        let passage = &best["passages"][0];
        let start = passage["query"]["start"].as_u64().unwrap() as usize;
        assert!(std::fs::read_to_string(folder.path().join("copy.ipynb")).unwrap()[start..].starts_with("public"));
        assert!(passage["same_names"].as_f64().unwrap() < 0.9, "{passage}");
    }
    for metadata in [serde_json::json!({"language_info": {"name": "unheard-of"}}), serde_json::json!([]), "".into()] {
        let best = &ask(metadata)["matches"][0];
        assert!(best["resemblance"].as_f64().unwrap_or_default() < 0.5, "{best}");
    }
    // A stored notebook is the same as the program. The passages of `pairs` show this too, because they
    // compare the texts.
    folder.write("c/copy.ipynb", notebook(serde_json::json!({"language_info": {"name": "java"}})));
    folder.ok(&["ingest", "-q", "c"]);
    let pairs = folder.ok(&["pairs", "--passages", "--format", "json"]).json();
    let pair = pairs.iter().find(|pair| pair["b"] == "c/copy.ipynb" && pair["a"] == "c/First.java").unwrap();
    assert!(pair["resemblance"] == 1.0 && !pair["passages"].as_array().unwrap().is_empty(), "{pair}");
}

/// A notebook of version 3 states its language in each cell of code.
#[test]
fn a_notebook_that_states_no_language_is_python() {
    let folder = Folder::new();
    let function = |number: usize| {
        format!(
            "def find{number}(items, limit):\n    # It isn't {number}\n    for item in items:\n        limit += item * {number}\n    return limit\n\n"
        )
    };
    let source: String = (0..20).map(function).collect();
    folder.write("c/a.py", &source);
    folder.ok(&["ingest", "-q", "--profile", "code", "c"]);
    let best = |notebook: serde_json::Value| {
        folder.write("copy.ipynb", notebook.to_string());
        let answer = folder.ok(&["query", "copy.ipynb", "--format", "json"]).json().remove(0);
        answer["matches"][0]["resemblance"].as_f64().unwrap_or_default()
    };
    let cells = serde_json::json!([{"cell_type": "code", "source": source}]);
    assert_eq!(best(serde_json::json!({"nbformat": 4, "cells": cells})), 1.0);
    assert_eq!(best(serde_json::json!({"nbformat": 4, "cells": cells, "metadata": {}})), 1.0);
    // A kernel reads each cell by itself, so an unclosed string ends with its cell.
    let cells = serde_json::json!([
        {"cell_type": "code", "source": "x = \"\"\"unclosed\n"},
        {"cell_type": "markdown", "source": "Some\rlines\r\n\"\"\""},
        {"cell_type": "code", "source": source},
    ]);
    assert!(best(serde_json::json!({"nbformat": 4, "cells": cells})) > 0.95);
    // The Markdown reader makes a span of code with a newline one segment. Another end of a line may stay
    // inside the segment.
    for (language, prose) in [("javascript", "`\u{2029}\n`"), ("java", "Use `alpha\u{2028}beta\r\ngamma\rdelta` here")]
    {
        let cells = serde_json::json!([
            {"cell_type": "markdown", "source": prose},
            {"cell_type": "code", "source": "f(a, b);"},
        ]);
        let metadata = serde_json::json!({"language_info": {"name": language}});
        folder.write(
            "p/spans.ipynb",
            serde_json::json!({"nbformat": 4, "cells": cells, "metadata": metadata}).to_string(),
        );
        let database = format!("{language}.db");
        folder.ok(&["--db", &database, "ingest", "-q", "--profile", "code", "p"]);
        folder.ok(&["--db", &database, "verify"]);
    }
    let of_version_3 = |language: &str| {
        let cells = serde_json::json!([{"cell_type": "code", "input": source, "language": language}]);
        best(serde_json::json!({"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {"name": ""}}))
    };
    assert_eq!(of_version_3("python"), 1.0);
    assert!(of_version_3("unheard-of") < 0.5);
}

/// Programs with only a common frame are no pair, even if the frame is a large share of a small program.
/// Programs with a copied half are a pair.
#[test]
fn a_shared_frame_is_no_pair() {
    let folder = Folder::new();
    let frame = "import java.util.*;\npublic class Main {\n    public static void main(String[] args) {\n";
    for (number, statement) in
        ["int n = 7; while (n > 1) { n = n / 2; }", "String s = \"x\"; s += s.trim() + args[0];"].iter().enumerate()
    {
        let out = "        System.out.println(\"done\");\n    }\n}\n";
        folder.write(&format!("c/Small{number}.java"), format!("{frame}        {statement}\n{out}"));
    }
    let (whole, other) = (program("First", "find", 1), program("Other", "look", 5));
    folder.write("c/Whole.java", &whole);
    let middle = |text: &str| text.find("int find6").or(text.find("int look3")).unwrap();
    // The first methods are copied from the other program, the rest are its own.
    folder.write("c/Half.java", whole[..middle(&whole)].to_owned() + &other[middle(&other)..]);
    folder.ok(&["ingest", "-q", "--profile", "code", "c"]);
    let names = |line: &serde_json::Value| format!("{} {}", line["a"], line["b"]).replace('"', "");
    let listed = |flags: &[&str]| -> Vec<(String, f64)> {
        let lines = folder.ok(&[&["pairs", "--format", "json"], flags].concat()).json();
        lines.iter().map(|line| (names(line), line["resemblance"].as_f64().unwrap())).collect()
    };
    let half = "c/Half.java c/Whole.java".to_owned();
    assert_eq!(listed(&[]).iter().map(|(names, _)| names).collect::<Vec<_>>(), [&half]);
    let all = listed(&["--min-resemblance", "0"]);
    let frame = all.iter().find(|(names, _)| names == "c/Small0.java c/Small1.java").unwrap();
    assert!((0.1..0.2).contains(&frame.1), "{all:?}");
    let told = folder.ok(&["pairs"]).stderr;
    assert!(told.contains("below 0.1, or 0.2 where they share fewer than 40 fingerprints, and are left out"), "{told}");
}

#[test]
fn what_is_no_code_is_words_and_marks() {
    let folder = Folder::new();
    let words = "It was the best of times, it was the worst of times; it was the age of wisdom.";
    folder.write("c/tale.txt", words);
    folder.write("c/script", format!("#!/usr/bin/env python3\nprint('{words}')\n"));
    folder.ok(&["ingest", "-q", "--profile", "code", "c"]);
    folder.write("q.txt", words.to_uppercase().replace(' ', "\n"));
    let found = &folder.ok(&["query", "q.txt", "--format", "json"]).json()[0];
    assert_eq!(found["matches"].as_array().unwrap().len(), 2, "{found}");
    // Both matches have the score 1. The first match consists of the text alone.
    let [tale, script] = [0, 1].map(|place| &found["matches"][place]);
    assert_eq!((&tale["document"], &tale["containment"]), (&"c/tale.txt".into(), &1.0.into()));
    // In the script, the text is one string: one token of structure, but the same text.
    assert_eq!((&script["document"], &script["shared"]), (&"c/script".into(), &0.into()));
    assert_eq!((&script["text_containment"], &script["passages"][0]["as_written"]), (&1.0.into(), &true.into()));
}

#[test]
fn a_query_of_unknown_language_gets_a_hint() {
    let folder = Folder::new();
    let text = folder.write("a.java", program("Shop", "price", 1));
    folder.ok(&["ingest", "-q", "--profile", "code", "a.java"]);
    let query = |flags: &[&str]| {
        let input = std::fs::File::open(&text).unwrap();
        let output = folder.command(&[&["query", "-"], flags].concat()).stdin(input).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let hint = "hint: the name - shows no programming language: if it is a program, --as LANGUAGE compares its structure too\n";
    assert_eq!(query(&[]), hint);
    assert_eq!(query(&["--as", "java"]), "");
}

/// A default profile compares programs as prose, and a database of programs compares other files as words.
#[test]
fn programs_and_profiles_that_do_not_fit_are_told() {
    let folder = Folder::new();
    for name in ["a.java", "b.java", "c.java.txt", "d", "e.ipynb"] {
        let text = if name == "e.ipynb" { r#"{"cells":[],"nbformat":4}"# } else { "class A { int b = 1; }" };
        folder.write(&format!("in/{name}"), text);
    }
    let hint = "hint: these are programs; --profile code compares their structure";
    assert!(folder.ok(&["diff", "in/a.java", "in/b.java"]).stderr.starts_with(hint));
    for quiet in [
        &["diff", "in/a.java", "in/d"][..],
        &["diff", "in/a.java", "in/b.java", "--profile", "code"],
        &["diff", "in/a.java", "in/b.java", "--profile", "prose"],
    ] {
        assert_eq!(folder.ok(quiet).stderr, "", "{quiet:?}");
    }
    let note = "2 documents are in no programming language by name and compared as words: in/c.java.txt, in/d (--as LANGUAGE, such as python, reads them as programs)\n";
    let ingest = |database: &str, flags: &[&str]| {
        folder.ok(&[&["--db", database, "ingest", "--profile", "code"], flags, &["in"]].concat()).stderr
    };
    assert!(ingest("code", &[]).contains(note), "{}", ingest("again", &[]));
    assert!(!ingest("code", &[]).contains("no programming language"));
    assert!(!ingest("java", &["--as", "java"]).contains("no programming language"));
}

#[test]
fn a_folder_or_archive_of_handed_out_code_is_left_out() {
    let folder = Folder::new();
    let (task, frame, copied) = (program("Task", "task", 1), program("Frame", "frame", 5), program("Own", "own", 9));
    folder.write("task/Task.java", &task);
    folder.write("task/more/Frame.java", &frame);
    folder.write("task/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    folder.write("task.zip", zip([("Task.java", &task), ("Frame.java", &frame)]));
    folder.write("a.java", task.clone() + &copied + &frame);
    folder.write("b.java", frame.clone() + &copied + &task);
    let diff = |boilerplate: &[&str]| {
        let diff = ["diff", "a.java", "b.java", "--profile", "code", "--format", "json", "--boilerplate"];
        folder.ok(&[&diff[..], boilerplate].concat()).json().remove(0)
    };
    let expected = diff(&["task/Task.java", "task/more/Frame.java"]);
    assert!(expected["boilerplate"].as_u64().unwrap() > 0 && expected["found"].as_u64().unwrap() > 0, "{expected}");
    assert_eq!(diff(&["task"]), expected);
    assert_eq!(diff(&["task.zip"]), expected);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let run = folder.run(&["diff", "a.java", "b.java", "--boilerplate", "empty"]);
    let told = "error: no document is in empty\nhint: name a file, or a folder or archive with documents\n";
    assert!(run.status == 2 && run.stderr.starts_with(told), "{run:?}");
}
