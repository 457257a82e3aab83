//! Source code in two views: its structure, and the text as written. Each answer uses both views.

use std::collections::{BTreeMap, BTreeSet};

use fpdb::{Fingerprinter, Fingerprints, Format, Language, Profile, Selection, Unit, WordRule};
use serde_json::Value;

use crate::oracle::Random;
use crate::support::Folder;

/// The hashes of a program in each view, marked by the view. Profiles of one view compute them.
fn sets(program: &str, windows: [u32; 2]) -> [BTreeSet<u64>; 2] {
    let settings = [(7, windows[0], Format::Code(Language::C)), (3, windows[1], Format::Text)];
    let mut sets = settings.map(|(k, w, format)| {
        let profile = Profile::new(Unit::Token, WordRule::Letters, k, w, Selection::Robust).unwrap();
        let (mut fingerprinter, mut found) = (Fingerprinter::new(&profile), Fingerprints::new());
        fingerprinter.begin(format);
        fingerprinter.feed(program.as_bytes(), &mut found);
        fingerprinter.finish(&mut found).unwrap();
        found.iter().map(|fingerprint| fingerprint.hash).collect::<BTreeSet<u64>>()
    });
    sets[0] = sets[0].iter().map(|hash| hash & !1).collect();
    sets[1] = sets[1].iter().map(|hash| hash | 1).collect();
    sets
}

const WINDOWS: [u32; 2] = [2, 8];

/// Statements of a few kinds, some with comments, in random order. Programs share some text in each view.
fn program(random: &mut Random, statements: usize) -> String {
    let mut text = String::from("#include <stdio.h>\nint main(void) {\n");
    for _ in 0..statements {
        let [kind, name, number] = [6, 5, 9].map(|most| random.below(most as usize));
        let name = ["total", "count", "i", "price", "list"][name];
        text += &match kind {
            0 => format!("    {name} = {name} + {number};\n"),
            1 => format!("    while ({name} < {number}) {{ {name}++; }}\n"),
            2 => format!("    system(\"ls -l /home/student/{name} > {number}.txt\");\n"),
            3 => format!("    /* the {name} of line {number}, as the task says */\n"),
            4 => format!("    if ({name} > {number} && !{name}) return {name} * {number};\n"),
            _ => format!("    printf(\"%d {name}\\n\", {name}[{number}] - {number});\n"),
        };
    }
    text + "}\n"
}

fn number(line: &Value, field: &str) -> f64 {
    line[field].as_f64().unwrap_or_else(|| panic!("{field} in {line}"))
}

fn resemblance(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
    let both = a.intersection(b).count();
    both as f64 / (a.len() + b.len() - both) as f64
}

/// The score of a pair in a view, among all documents.
fn score<'a>(all: impl Iterator<Item = &'a BTreeSet<u64>>, [a, b]: [&BTreeSet<u64>; 2], view: usize) -> f64 {
    let (mut df, mut documents, mut postings) = (BTreeMap::new(), 0.0, 0.0);
    for set in all {
        documents += 1.0;
        postings += set.len() as f64;
        set.iter().for_each(|hash| *df.entry(*hash).or_insert(0.0) += 1.0);
    }
    let weight = |df: f64| if view == 0 { 1.0 + (documents / df.max(2.0)).ln() } else { 1.0 / df.max(2.0) };
    let sum = |set: &BTreeSet<u64>| set.iter().map(|hash| weight(df[hash])).sum::<f64>();
    let mean = df.values().map(|&df| df * weight(df)).sum::<f64>() / postings;
    let (both, all) = (sum(&(a & b)), sum(&(a | b)));
    let frame = 40.0 * 2.0 / (f64::from(WINDOWS[view]) + 1.0) * mean;
    both / (all + frame * if view == 0 { 1.0 } else { 1.0 - both / all })
}

fn containment(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
    a.intersection(b).count() as f64 / a.len() as f64
}

#[test]
fn every_answer_has_the_measures_of_both_sets() {
    let folder = Folder::new();
    let mut random = Random(11);
    let programs: BTreeMap<String, String> =
        (0..14).map(|number| (format!("in/p{number:02}.c"), program(&mut random, 4 + 3 * number))).collect();
    for (name, text) in &programs {
        folder.write(name, text);
    }
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let of: BTreeMap<&str, [BTreeSet<u64>; 2]> =
        programs.iter().map(|(name, text)| (name.as_str(), sets(text, WINDOWS))).collect();

    let pairs = folder.ok(&["pairs", "--min-resemblance", "0", "--format", "json", "--top", "0"]).json();
    let mut listed = BTreeSet::new();
    for pair in &pairs {
        let [a, b] = ["a", "b"].map(|side| pair[side].as_str().unwrap());
        let [x, y] = [&of[a], &of[b]];
        let shares = [0, 1].map(|view| resemblance(&x[view], &y[view]));
        assert_eq!([number(pair, "resemblance"), number(pair, "text_resemblance")], shares, "{pair}");
        let score = [0, 1].map(|view| score(of.values().map(|sets| &sets[view]), [&x[view], &y[view]], view));
        assert!((number(pair, "score") - score[0].max(score[1])).abs() < 1e-9, "{score:?} {pair}");
        let shared = [0, 1].map(|view| x[view].intersection(&y[view]).count() as f64);
        assert_eq!([number(pair, "shared"), number(pair, "text_shared")], shared);
        assert_eq!(number(pair, "containment_a"), containment(&x[0], &y[0]));
        assert_eq!(number(pair, "text_containment_b"), containment(&y[1], &x[1]));
        listed.insert((a.to_owned(), b.to_owned()));
    }
    assert!(pairs.is_sorted_by(|x, y| number(x, "score") >= number(y, "score")));
    // Candidates come from either view.
    let names: Vec<&str> = of.keys().copied().collect();
    for (place, a) in names.iter().enumerate() {
        for b in &names[place + 1..] {
            let share = (0..2).any(|view| !of[a][view].is_disjoint(&of[b][view]));
            assert_eq!(listed.contains(&((*a).to_owned(), (*b).to_owned())), share, "{a} {b}");
        }
    }

    let query = program(&mut random, 20);
    folder.write("q.c", &query);
    for (flags, windows) in [(&[][..], WINDOWS), (&["--window", "5"], [5, 8]), (&["--window", "9"], [9, 9])] {
        let of_query = sets(&query, windows);
        let command = [&["query", "q.c", "--top", "0", "--format", "json"], flags].concat();
        let answer = &folder.ok(&command).json()[0];
        assert_eq!(number(answer, "looked_up") as usize, of_query[0].len());
        assert_eq!(number(&answer["text"], "looked_up") as usize, of_query[1].len());
        for found in answer["matches"].as_array().unwrap() {
            let stored = &of[found["document"].as_str().unwrap()];
            let shares = [0, 1].map(|view| containment(&of_query[view], &stored[view]));
            assert_eq!([number(found, "containment"), number(found, "text_containment")], shares, "{found}");
            assert_eq!(number(found, "score"), shares[0].max(shares[1]));
            if flags.is_empty() {
                assert_eq!(number(found, "resemblance"), resemblance(&of_query[0], &stored[0]));
                assert_eq!(number(found, "text_resemblance"), resemblance(&of_query[1], &stored[1]));
                assert_eq!(number(found, "text_document_containment"), containment(&stored[1], &of_query[1]));
            }
        }
    }
    // Each view has its own sample of hashes.
    let answer = &folder.ok(&["query", "q.c", "--mode", "resemblance", "-n", "8", "--format", "json"]).json()[0];
    assert_eq!((number(answer, "looked_up"), number(&answer["text"], "looked_up")), (8.0, 8.0));
    let of_query = sets(&query, WINDOWS);
    for found in answer["matches"].as_array().unwrap() {
        let stored = &of[found["document"].as_str().unwrap()];
        for (view, field) in ["shared", "text_shared"].iter().enumerate() {
            let first = of_query[view].iter().take(8);
            assert_eq!(number(found, field) as usize, first.filter(|hash| stored[view].contains(hash)).count());
        }
    }

    let diff = folder.ok(&["diff", "--profile", "code", "q.c", "in/p13.c", "--format", "json"]).json();
    let (found, stored) = (&diff[0]["matches"][0], &of["in/p13.c"]);
    for (view, field) in ["resemblance", "text_resemblance"].iter().enumerate() {
        assert_eq!(number(found, field), resemblance(&of_query[view], &stored[view]));
    }
    // If its file is missing, a document is queried through its postings.
    let of_file = folder.ok(&["query", "--document", "in/p13.c", "--top", "0", "--no-passages", "--format", "json"]);
    std::fs::remove_file(folder.path().join("in/p13.c")).unwrap();
    let of_postings =
        folder.ok(&["query", "--document", "in/p13.c", "--top", "0", "--no-passages", "--format", "json"]);
    assert_eq!(of_file.stdout, of_postings.stdout);
    let inferred = &folder.ok(&["query", "--document", "in/p13.c", "--format", "json"]).json()[0]["matches"][0];
    assert!(inferred["passages"].as_array().unwrap().iter().all(|passage| passage["exact"] == false), "{inferred}");

    let verified = folder.ok(&["verify"]).stdout;
    assert!(verified.contains("all is well"), "{verified}");
    folder.ok(&["rm", "-q", "in/p00.c", "in/p05.c"]);
    folder.ok(&["compact", "-q"]);
    assert!(folder.ok(&["verify"]).stdout.contains("all is well"));
    let again = folder.ok(&["pairs", "--min-resemblance", "0", "--format", "json", "--top", "0"]).json();
    let gone = |pair: &&Value| ["a", "b"].iter().all(|side| pair[*side] != "in/p00.c" && pair[*side] != "in/p05.c");
    // The weights of hashes depend on all documents, and so do the scores.
    let without_score = |pairs: Vec<Value>| {
        let mut pairs: Vec<String> = pairs
            .into_iter()
            .map(|mut pair| {
                pair.as_object_mut().unwrap().remove("score");
                pair.to_string()
            })
            .collect();
        pairs.sort();
        pairs
    };
    let kept = pairs.iter().filter(gone).cloned().collect();
    assert_eq!(without_score(again), without_score(kept));
}

/// Two programs that call the shell: statements between calls differ. So no eight tokens in a row are equal,
/// but most of the text is.
pub(crate) fn callers() -> [String; 2] {
    let calls = [
        "echo backing up the project of group seven",
        "mkdir -p /home/student/backup/project7",
        "cp -r /home/student/project7/src /home/student/backup/project7",
        "tar czf /home/student/backup/project7.tgz /home/student/backup/project7",
        "ls -l /home/student/backup/project7.tgz",
        "rm -rf /home/student/backup/project7",
        "echo the backup of group seven is done",
    ];
    [0, 1].map(|side| {
        let main = ["int main(void)", "void main(int argc, char *argv[])"][side];
        let mut text = format!("#include <stdlib.h>\n#include <stdio.h>\n\n{main}\n{{\n");
        for (number, call) in calls.iter().enumerate() {
            // Each program has other tokens before and after each call.
            let between =
                [format!("if (i < {number}) i -= {number};"), format!("--user[{number}]; user++;")][side].clone();
            text += &format!("    {between}\n    system(\"{call} && echo step {number} of the backup is done\");\n");
        }
        text + "}\n"
    })
}

#[test]
fn the_same_calls_are_found_where_structure_shares_nothing() {
    let folder = Folder::new();
    let [one, other] = callers();
    folder.write("a.c", &one);
    folder.write("b.c", &other);
    let sets = [&one, &other].map(|text| sets(text, WINDOWS));
    assert!(sets[0][0].is_disjoint(&sets[1][0]), "structure has nothing in common");
    assert!(resemblance(&sets[0][1], &sets[1][1]) > 0.4);

    let found = folder.ok(&["diff", "--profile", "code", "a.c", "b.c", "--format", "json"]).json();
    let found = &found[0]["matches"][0];
    assert_eq!(number(found, "shared"), 0.0);
    assert!(number(found, "score") > 0.5, "{found}");
    let passages = found["passages"].as_array().unwrap();
    assert!(!passages.is_empty());
    for passage in passages {
        assert_eq!(passage["as_written"], true);
        let text = |side: &str, of: &str| {
            let at = |end: &str| passage[side][end].as_u64().unwrap() as usize;
            of[at("start")..at("end")].to_owned()
        };
        if passage["agreement"] == 1.0 {
            assert_eq!(text("query", &one), text("document", &other));
            assert_eq!(passage["same_names"], 1.0);
        }
    }
    let page = folder.ok(&["diff", "--profile", "code", "a.c", "b.c"]).stdout;
    assert!(page.contains("text as written"), "{page}");

    folder.ok(&["ingest", "-q", "--profile", "code", "a.c", "b.c"]);
    let pairs = folder.ok(&["pairs", "--passages", "--format", "json"]).json();
    assert_eq!(pairs.len(), 1, "above the default thresholds");
    assert_eq!(pairs[0]["passages"], found["passages"]);
    let page = folder.ok(&["pairs"]).stdout;
    assert!(page.starts_with("    score       text  resemblance     a in b     b in a     shared"), "{page}");
}

/// A shared idiom, such as a call, hides no copied line.
#[test]
fn a_short_copied_line_is_shown_beside_an_idiom() {
    let folder = Folder::new();
    let line =
        "the quick hedgehog computes nine eccentric moments before lunch because nobody else wanted to carry melons";
    folder.write("a.py", format!("# {line}\ndef alpha(n, m):\n    total = n * 31 + m\n    return helper(total, 5)\n"));
    let other =
        "class Zed:\n    x = [1, 2, 3]\n    def run(self):\n        for q in self.x:\n            yield {q: q ** 7}\n";
    folder.write("b.py", format!("{other}        # {line}\n        self.w.helper(q, 5)\n        return other(r, 5)\n"));
    let shown = |a: &str, b: &str| -> Vec<(String, bool)> {
        let text = std::fs::read_to_string(folder.path().join(a)).unwrap();
        let answer = folder.ok(&["diff", "--profile", "code", a, b, "--format", "json"]).json().remove(0);
        let passages = answer["matches"][0]["passages"].as_array().unwrap().clone();
        let place = |passage: &Value, end: &str| passage["query"][end].as_u64().unwrap() as usize;
        let of_text = |passage: &Value| text[place(passage, "start")..place(passage, "end")].to_owned();
        passages.iter().map(|passage| (of_text(passage), passage["as_written"] == true)).collect()
    };
    let both = shown("a.py", "b.py");
    assert_eq!(both[0], (format!("# {line}"), true), "{both:?}");
    assert!(both.iter().any(|(text, as_written)| text.contains("helper(total, 5)") && !as_written), "{both:?}");

    // Beside a passage that is longer than an idiom, the short line is not shown.
    let common = "        if q > 3 and len(x) < 9:\n            return [y * 2 for y in x if y not in {q, 4}]\n        else:\n            raise ValueError(x)\n";
    for name in ["a.py", "b.py"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        folder.write(&format!("long-{name}"), text + "    def last(x, q):\n" + common);
    }
    let long = shown("long-a.py", "long-b.py");
    assert!(long.iter().any(|(text, _)| text.contains("ValueError")), "{long:?}");
    assert!(long.iter().all(|(text, _)| !text.contains("hedgehog")), "{long:?}");
}

/// The order in which documents were added changes no digit of a score.
#[test]
fn scores_do_not_depend_on_the_order_of_documents() {
    let folder = Folder::new();
    let mut random = Random(31);
    let names: Vec<String> = (0..24).map(|number| format!("in/p{number:02}.c")).collect();
    for (number, name) in names.iter().enumerate() {
        folder.write(name, program(&mut random, 5 + 2 * number));
    }
    let scores = |database: &str, names: &mut dyn Iterator<Item = &String>| -> BTreeMap<BTreeSet<String>, Value> {
        for name in names {
            folder.ok(&["--db", database, "ingest", "-q", "--profile", "code", name]);
        }
        let pairs = ["--db", database, "pairs", "--top", "0", "--min-resemblance", "0", "--format", "json"];
        let of_pair = |pair: &Value| {
            let [a, b] = ["a", "b"].map(|side| pair[side].as_str().unwrap().to_owned());
            (BTreeSet::from([a, b]), pair["score"].clone())
        };
        folder.ok(&pairs).json().iter().map(of_pair).collect()
    };
    assert_eq!(scores("one", &mut names.iter()), scores("other", &mut names.iter().rev()));
}

/// A common frame does not raise the score of short programs, but copies come first.
#[test]
fn two_copies_of_a_short_program_come_first() {
    let folder = Folder::new();
    let mut random = Random(29);
    let short = "int main(void) {\n    int n = read();\n    print(n + 1);\n    return 0;\n}\n";
    folder.write("in/copy-a.c", short);
    folder.write("in/copy-b.c", short);
    folder.write("in/structure.c", short.replace("read", "ask").replace("print", "say").replace(" n", " k"));
    // Long programs that share two thirds.
    let (common, ends) = (program(&mut random, 60), [0, 1].map(|_| program(&mut random, 30)));
    for (side, end) in ends.iter().enumerate() {
        folder.write(&format!("in/long-{side}.c"), common.clone() + end);
    }
    for number in 0..20 {
        folder.write(&format!("in/other-{number}.c"), program(&mut random, 20));
    }
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let pairs = folder.ok(&["pairs", "--min-resemblance", "0", "--format", "json"]).json();
    let first = &pairs[0];
    assert_eq!((first["a"].as_str(), first["b"].as_str()), (Some("in/copy-a.c"), Some("in/copy-b.c")), "{first}");
    assert!((number(first, "score") - 1.0).abs() < 1e-9, "{first}");
    let place = |a: &str, b: &str| pairs.iter().position(|pair| pair["a"] == a && pair["b"] == b).unwrap();
    let (long, structure) = (place("in/long-0.c", "in/long-1.c"), place("in/copy-a.c", "in/structure.c"));
    assert_eq!(number(&pairs[structure], "resemblance"), 1.0);
    assert!(long < structure, "{} {}", pairs[long], pairs[structure]);
}

#[test]
fn each_view_keeps_its_guarantee() {
    let folder = Folder::new();
    // One program has a run of 10 words and marks in a comment. The other has a run of 8 tokens with other
    // names.
    folder.write("in/comment.c", "int a; /* quick brown fox jumps over the lazy dog and runs */ long b = 7;\n");
    folder.write("in/tokens.c", "char q[] = { p ? r : s }; x = y + z * t - u / w; goto out;\n");
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let stats = folder.ok(&["stats"]).stdout;
    assert!(stats.contains("every shared run of 8 tokens is found"), "{stats}");
    assert!(stats.contains("k 3, w 8: every shared run of 10 words and marks is found"), "{stats}");

    folder.write("q1.c", "double c() { return QUICK; } // Brown\n//\n");
    folder.write("q2.c", "void f() { puts(\"Quick  Brown\\tFOX jumps\"); }\n");
    folder.write("q3.c", "struct t { int one; } k; aa = bb + cc * gg - dd / ee; if (k.one) ++ff;\n");
    let best = |query: &str| folder.ok(&["query", query, "--format", "json"]).json()[0]["matches"].clone();
    assert_eq!(best("q1.c"), serde_json::json!([]));
    // `\t` is a mark and a letter, which break the run; a space does not.
    assert_eq!(best("q2.c"), serde_json::json!([]));
    folder.write("q2.c", "void f() { puts(\"Quick  Brown FOX jumps over the lazy dog and runs\"); }\n");
    let found = &best("q2.c")[0];
    assert_eq!((found["document"].as_str(), number(found, "shared")), (Some("in/comment.c"), 0.0), "{found}");
    let passage = &found["passages"][0];
    let query = std::fs::read_to_string(folder.path().join("q2.c")).unwrap();
    let [start, end] = ["start", "end"].map(|end| passage["query"][end].as_u64().unwrap() as usize);
    assert!(query[start..end].contains("Quick  Brown FOX jumps over the lazy dog and runs"), "{passage}");
    let found = &best("q3.c")[0];
    assert_eq!((found["document"].as_str(), number(found, "text_shared")), (Some("in/tokens.c"), 0.0), "{found}");
    assert_eq!(found["passages"][0]["as_written"], Value::Null);
    let query = std::fs::read_to_string(folder.path().join("q3.c")).unwrap();
    let [start, end] = ["start", "end"].map(|end| found["passages"][0]["query"][end].as_u64().unwrap() as usize);
    assert!(query[start..end].contains("aa = bb + cc * gg - dd / ee"), "{found}");
}

#[test]
fn a_database_of_one_view_stays_as_it_is_and_says_so() {
    let folder = Folder::new();
    let [one, other] = callers();
    folder.write("in/a.c", &one);
    folder.write("in/b.c", &other);
    folder.ok(&["init", "-q", "--unit", "token", "-k", "7", "-w", "2"]);
    // A database with its own settings keeps its one view.
    folder.ok(&["ingest", "-q", "--profile", "code", "in"]);
    let stats = folder.ok(&["stats", "--format", "json"]).json();
    assert_eq!(stats[0]["profile"]["text"], Value::Null);
    let page = folder.ok(&["stats"]).stdout;
    assert!(page.contains("it was made with one view"), "{page}");
    let answer = folder.ok(&["query", "in/a.c", "--format", "json"]).json();
    assert_eq!(answer[0]["text"], Value::Null);
    assert_eq!(answer[0]["matches"].as_array().unwrap().len(), 1, "itself only: {answer:?}");
    assert_eq!(folder.ok(&["pairs", "--min-resemblance", "0", "--format", "json"]).stdout, "");

    // A database of two views accepts the same typed settings. A database of one view cannot be merged into a
    // database of two views.
    folder.ok(&["ingest", "-q", "--db", "two", "--profile", "code", "in"]);
    folder.ok(&["ingest", "-q", "--db", "two", "--unit", "token", "-k", "7", "-w", "2", "in"]);
    let refused = folder.run(&["merge", "--db", "two", ".fpdb"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("text as written: k 3, w 8"), "{}", refused.stderr);
}

/// The fingerprints of a program of some hundred kB lie in many blocks, batches and parts.
#[test]
fn a_long_program_is_numbered_the_same_however_it_comes() {
    let folder = Folder::new();
    let mut random = Random(3);
    let long = program(&mut random, 9000);
    assert!(long.len() > 300_000);
    folder.write("in/long.c", &long);
    folder.write("in/short.c", program(&mut random, 30));
    let profile = Profile::named("code").unwrap();
    let fingerprints = |piece: usize| {
        let (mut fingerprinter, mut found) = (Fingerprinter::new(&profile), Fingerprints::new());
        fingerprinter.begin(Format::Code(Language::C));
        long.as_bytes().chunks(piece).for_each(|piece| fingerprinter.feed(piece, &mut found));
        fingerprinter.finish(&mut found).unwrap();
        found
    };
    let whole = fingerprints(long.len());
    assert!([7, 1000, 65_536, 70_001].iter().all(|&piece| fingerprints(piece) == whole));
    let both: BTreeSet<u64> = whole.iter().map(|fingerprint| fingerprint.hash).collect();
    let [structure, text] = sets(&long, WINDOWS);
    assert_eq!(both, &structure | &text);
    folder.ok(&["ingest", "-q", "--profile", "code", "--memory", "1MiB", "in"]);
    assert!(folder.ok(&["verify"]).stdout.contains("all is well"));
    let found = folder.ok(&["query", "in/long.c", "--format", "json", "--no-passages"]).json();
    let best = &found[0]["matches"][0];
    let shares = ["containment", "text_containment", "document_containment", "text_document_containment"];
    assert!(shares.iter().all(|field| number(best, field) == 1.0), "{best}");
}

/// Programs, most of them edited copies of earlier ones. Statements repeat, so fingerprints can be further
/// apart than k.
fn edited_programs(random: &mut Random) -> Vec<String> {
    let mut programs: Vec<Vec<String>> = Vec::new();
    for _ in 0..60 {
        let program = if programs.is_empty() || random.below(10) < 3 {
            let mut lines = Vec::new();
            for _ in 0..40 {
                let (name, number) = (["total", "count", "i", "price"][random.below(4)], random.below(4));
                let line = match random.below(5) {
                    0 => format!("    {name} = {name} + {number};\n"),
                    1 => format!("    {name}({number}, {number}, {number});\n"),
                    2 => format!("    /* the {name} of {number} */\n"),
                    3 => "    return;\n".to_owned(),
                    _ => format!("    system(\"ls {name} {number}\");\n"),
                };
                let times = if random.below(4) == 0 { 6 } else { 1 };
                lines.extend(std::iter::repeat_n(line, times));
            }
            lines
        } else {
            let mut lines = programs[random.below(programs.len())].clone();
            for _ in 0..1 + random.below(3) {
                let first = random.below(lines.len());
                let end = lines.len().min(first + random.below(7));
                let other = programs[random.below(programs.len())][0].clone();
                lines.splice(first..end, std::iter::repeat_n(other, random.below(9)));
            }
            lines
        };
        programs.push(program);
    }
    programs.into_iter().map(|lines| lines.concat()).collect()
}

#[test]
fn a_dedup_of_two_views_is_that_of_the_structure() {
    let folder = Folder::new();
    for (number, program) in edited_programs(&mut Random(5)).iter().enumerate() {
        folder.write(&format!("in/{number:02}.c"), program);
    }
    folder.ok(&["ingest", "--db", "two", "--profile", "code", "in"]);
    folder.ok(&["ingest", "--db", "one", "--unit", "token", "-k", "7", "-w", "2", "in"]);
    for by in [["--by", "exact-text"], ["--by", "containment"], ["--by", "resemblance"]] {
        for most in [None, Some("0"), Some("1"), Some("2"), Some("5"), Some("20")] {
            if most.is_some() && by[1] != "containment" {
                continue;
            }
            let threshold: &[&str] = if by[1] == "exact-text" { &[] } else { &["--threshold", "0.5"] };
            let novel: Vec<&str> = most.iter().flat_map(|&most| ["--max-novel", most]).collect();
            let removed = |db| {
                let asked = [&["dedup", "--db", db, "--format", "json"][..], &by, threshold, &novel].concat();
                let rows = folder.ok(&asked).stdout;
                let rows: Vec<String> =
                    rows.lines().filter(|row| row.contains("\"fpdb.dedup/1\"")).map(str::to_owned).collect();
                rows
            };
            let rows = removed("two");
            assert_eq!(rows, removed("one"), "{by:?} {most:?}");
            assert!(by[1] != "containment" || rows.len() > 5, "{most:?}");
        }
    }
}
