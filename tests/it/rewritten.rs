//! Queries for rewritten text: they find the same passages as a comparison with each document, without most
//! of the comparisons.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fpdb::{DiffOptions, PassageOptions, Profile, QuerySource, Task};
use serde_json::Value;

use crate::support::{Folder, lcg};

/// A generator of sentences of 12 words. Half of the words are among sixty common ones, so unrelated texts
/// share k-grams.
struct Writer<N>(N);

impl<N: FnMut(u64) -> u64> Writer<N> {
    fn word(&mut self) -> String {
        let number = if (self.0)(2) == 0 { (self.0)(8) * (self.0)(8) } else { 60 + (self.0)(5000) };
        in_letters(number) + "x"
    }

    /// A word that no other text has.
    fn rare_word(&mut self) -> String {
        in_letters((self.0)(1 << 30)) + "y"
    }

    fn sentences(&mut self, count: usize) -> Vec<Vec<String>> {
        (0..count).map(|_| (0..12).map(|_| self.word()).collect()).collect()
    }

    /// Exchanges some neighbours, and replaces one word in eight.
    fn rewrite(&mut self, sentences: &[Vec<String>]) -> Vec<Vec<String>> {
        let mut sentences = sentences.to_vec();
        for sentence in &mut sentences {
            for place in 1..sentence.len() {
                if (self.0)(3) == 0 {
                    sentence.swap(place, place - 1);
                }
                if (self.0)(8) == 0 {
                    sentence[place] = self.word();
                }
            }
        }
        sentences
    }
}

/// Spells a number in letters, because words of the profile may consist of letters only.
fn in_letters(number: u64) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn text(sentences: &[Vec<String>]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let _ = writeln!(text, "{}.", sentence.join(" "));
    }
    text
}

/// A folder with these documents in a database of words.
fn stored(documents: &[Vec<Vec<String>>]) -> Folder {
    let folder = Folder::new();
    for (number, document) in documents.iter().enumerate() {
        folder.write(&format!("docs/{number:03}"), text(document));
    }
    folder.ok(&["ingest", "--profile", "words", "docs"]);
    folder
}

fn query(folder: &Folder, sentences: &[Vec<String>], flags: &[&str]) -> Value {
    folder.write("query", text(sentences));
    let arguments = [&["query", "--rewritten", "--format", "json", "query"], flags].concat();
    folder.ok(&arguments).json().remove(0)
}

fn names(answer: &Value) -> Vec<String> {
    answer["matches"].as_array().unwrap().iter().map(|found| found["document"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_passages_are_those_of_comparing_each_document() {
    let mut writer = Writer(lcg(5));
    let documents: Vec<_> = (0..600).map(|_| writer.sentences(40)).collect();
    let folder = stored(&documents);
    let mut asked = writer.sentences(20);
    for (document, from, to) in [(17, 3, 9), (230, 20, 25), (411, 30, 40), (599, 0, 7)] {
        asked.extend(writer.rewrite(&documents[document][from..to]));
        asked.extend(writer.sentences(10));
    }
    // Adds a summary of one document, and a copied part of another.
    let every: Vec<_> = documents[77].iter().step_by(8).cloned().collect();
    asked.extend(writer.rewrite(&every));
    asked.extend(writer.sentences(10));
    asked.extend_from_slice(&documents[300][10..14]);
    let answer = query(&folder, &asked, &["--top", "0"]);

    let mut expected = BTreeMap::new();
    let (profile, options) =
        (Profile::named("words").unwrap(), DiffOptions::default().joining(PassageOptions::default().rewritten(true)));
    let mut sharing = 0;
    for number in 0..documents.len() {
        let place = |name: &str| QuerySource::File(folder.path().join(name));
        let [a, b] = ["query", &format!("docs/{number:03}")].map(place);
        let answer = fpdb::diff(&a, &b, &profile, &options, &Task::new()).unwrap();
        sharing += answer.matches.len();
        let passages = answer.matches.into_iter().next().map(|found| found.passages).unwrap_or_default();
        if !passages.is_empty() {
            expected.insert(format!("docs/{number:03}"), serde_json::to_value(passages).unwrap());
        }
    }
    for document in [17, 77, 230, 300, 411, 599] {
        assert!(expected.contains_key(&format!("docs/{document:03}")), "{document}: {:?}", expected.keys());
    }
    let found: BTreeMap<String, Value> = answer["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["document"].as_str().unwrap().to_owned(), found["passages"].clone()))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(answer["matching_documents"], expected.len());
    let compared = answer["compared"].as_u64().unwrap();
    assert!(sharing > 500 && compared < 200, "{compared} of {sharing} compared");
}

#[test]
fn the_document_with_more_text_in_passages_comes_first() {
    let mut writer = Writer(lcg(9));
    let piece = writer.sentences(20);
    let copy = writer.sentences(4);
    let mut rewritten = piece.clone();
    // No three words stay in a row, except in two sentences.
    rewritten[2..].iter_mut().for_each(|sentence| sentence.sort());
    let scattered: Vec<_> = (piece.iter().chain(&copy)).map(|sentence| sentence[3..6].to_vec()).collect();
    let scattered: Vec<_> =
        scattered.into_iter().flat_map(|words| [[words, writer.sentences(10).concat()].concat()]).collect();
    let documents = [
        [writer.sentences(20), rewritten].concat(),
        [writer.sentences(20), copy.clone()].concat(),
        scattered,
        writer.sentences(40),
    ];
    let folder = stored(&documents);
    let answer = query(&folder, &[piece, copy].concat(), &[]);
    assert_eq!(names(&answer), ["docs/000", "docs/001"]);
    let shared = |place: usize| answer["matches"][place]["shared"].as_u64().unwrap();
    assert!(shared(0) < shared(1), "{} {}", shared(0), shared(1));
}

#[test]
fn a_passage_of_most_documents_is_found_in_each() {
    let mut writer = Writer(lcg(13));
    let common = writer.sentences(3);
    let documents: Vec<_> = (0..400)
        .map(|number| match number % 4 {
            0 => writer.sentences(40),
            _ => [writer.sentences(20), common.clone(), writer.sentences(20)].concat(),
        })
        .collect();
    let folder = stored(&documents);
    let asked = [writer.sentences(20), common, writer.sentences(20)].concat();
    let answer = query(&folder, &asked, &["--top", "0"]);
    let mut found = names(&answer);
    found.sort();
    let expected: Vec<_> = (0..400).filter(|number| number % 4 > 0).map(|number| format!("docs/{number:03}")).collect();
    assert_eq!(found, expected);
    assert_eq!(names(&query(&folder, &asked, &["--top", "3"])).len(), 3);
}

#[test]
fn submissions_count_the_passages_of_their_documents_and_equal_bytes_match() {
    let folder = Folder::new();
    let mut writer = Writer(lcg(21));
    let pieces = [writer.sentences(5), writer.sentences(5)];
    for (name, sentences) in
        [("a/1", &pieces[0]), ("a/2", &pieces[1]), ("b/1", &pieces[0]), ("c/1", &writer.sentences(9))]
    {
        let around = [writer.sentences(10), sentences.clone()].concat();
        folder.write(&format!("docs/{name}"), text(&around));
    }
    folder.write("docs/d/1", "two words");
    folder.ok(&["ingest", "--profile", "words", "docs"]);
    let answer = query(&folder, &pieces.concat(), &["--submission-by", "docs/([a-d])/"]);
    assert_eq!(names(&answer), ["a", "b"]);
    assert_eq!(answer["matches"][0]["files"].as_array().unwrap().len(), 2);
    assert!(answer["matches"][0]["coverage"].as_f64().unwrap() > 0.9);
    let answer = query(&folder, &pieces.concat(), &["--min-score", "0.6"]);
    assert_eq!((names(&answer), &answer["below"]), (Vec::new(), &3.into()));
    folder.write("short", "two words");
    let answer = folder.ok(&["query", "--rewritten", "--format", "json", "short"]).json().remove(0);
    assert_eq!(names(&answer), ["docs/d/1"]);
}

/// Without passages, rewritten text is not searched for.
#[test]
fn rewritten_text_needs_passages() {
    let folder = Folder::new();
    let mut writer = Writer(lcg(7));
    let copied = writer.sentences(10);
    for name in ["a", "b"] {
        folder.write(&format!("docs/{name}"), text(&[writer.sentences(5), copied.clone()].concat()));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "docs"]);
    let no_passages = "--rewritten lists the documents with a passage, so it cannot be used with --no-passages";
    let no_pairs = "--rewritten lists pairs by their passages, so it needs --format html, --sort longest, or --passages \
                    with --format json or csv";
    for (flags, message) in [
        (&["query", "docs/a", "--rewritten", "--no-passages"][..], no_passages),
        (&["query", "docs/a", "--rewritten", "--no-passages", "--format", "html", "-o", "pages"], no_passages),
        (&["pairs", "--rewritten"], no_pairs),
        (&["pairs", "--rewritten", "--format", "json"], no_pairs),
        (&["pairs", "--rewritten", "--format", "csv"], no_pairs),
    ] {
        let run = folder.run(flags);
        assert!(run.status == 2 && run.stdout.is_empty() && run.stderr.contains(message), "{flags:?}: {run:?}");
    }
    for flags in [&["--sort", "longest"][..], &["--passages", "--format", "json"], &["--format", "html", "-o", "pages"]]
    {
        folder.ok(&[&["pairs", "--rewritten"], flags].concat());
    }
}

#[test]
fn the_encoding_of_a_text_changes_no_passage() {
    let utf16 = |text: &str| format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let (profile, options) =
        (Profile::named("words").unwrap(), DiffOptions::default().joining(PassageOptions::default().rewritten(true)));
    let mut passages = 0;
    for seed in 0..30 {
        let mut writer = Writer(lcg(seed));
        let document = writer.sentences(40);
        let mut asked = writer.sentences(20);
        for from in [3, 14, 30] {
            asked.extend(writer.rewrite(&document[from..from + 6]));
            asked.extend(writer.sentences(10));
        }
        let [asked, document] = [asked, document].map(|sentences| text(&sentences));
        let found = |encode: &dyn Fn(&str) -> Vec<u8>| {
            let [a, b] =
                [&asked, &document].map(|text| QuerySource::Bytes { name: "a.txt".into(), bytes: encode(text) });
            let answer = fpdb::diff(&a, &b, &profile, &options, &Task::new()).unwrap();
            let passages = answer.matches.into_iter().flat_map(|found| found.passages);
            passages.map(|passage| (passage.query.lines, passage.document.lines, passage.symbols)).collect::<Vec<_>>()
        };
        let expected = found(&|text| text.as_bytes().to_vec());
        assert_eq!(found(&utf16), expected, "{seed}");
        passages += expected.len();
    }
    assert!(passages > 30, "{passages}");
}

#[test]
fn a_comparison_without_a_passage_says_why() {
    let folder = Folder::new();
    folder.write("a", "The cat sat on the mat and looked at the dog.");
    folder.write("b", "The cat sat on the mat, far from any window.");
    let run = folder.ok(&["diff", "--rewritten", "a", "b"]);
    assert!(run.stderr.contains("no passage has enough words in common, some 20"), "{run:?}");
}

/// A verbatim part of a text is one passage with that text, without a further word on either side.
#[test]
fn a_verbatim_part_has_a_passage_of_its_own_words() {
    let folder = Folder::new();
    let path = format!("{}/../data-samples/federalist/fed51.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    for length in [45, 90] {
        for start in (0..words.len() - length).step_by(150) {
            folder.write("part.txt", words[start..start + length].join(" "));
            for [a, b] in [["part.txt", &path], [&path, "part.txt"]] {
                let answer = &folder.ok(&["diff", "--rewritten", a, b, "--format", "json"]).json()[0];
                let passages = answer["matches"][0]["passages"].as_array().unwrap();
                let agreement: Vec<f64> =
                    passages.iter().map(|passage| passage["agreement"].as_f64().unwrap()).collect();
                assert_eq!(agreement, [1.0], "{a} {start} {length}");
            }
        }
    }
}

/// A paraphrase of a small part of a long text shares too few fingerprints for the threshold of pairs.
#[test]
fn pairs_of_rewritten_text_are_listed_by_their_passages() {
    let mut writer = Writer(lcg(11));
    let source = writer.sentences(400);
    let paraphrase = [writer.rewrite(&source[200..212]), writer.sentences(4)].concat();
    let folder = stored(&[source, paraphrase, writer.sentences(40), writer.sentences(40)]);
    let [longest, passages, typed] =
        [&["--sort", "longest"][..], &["--passages"], &["--sort", "longest", "--min-resemblance", "0.03"]]
            .map(|flags| folder.ok(&[&["pairs", "--rewritten", "--format", "json"], flags].concat()));
    for run in [&longest, &passages] {
        let pairs = run.json();
        assert_eq!(names_of_pairs(&pairs), [["docs/000", "docs/001"]]);
        assert!(pairs[0]["resemblance"].as_f64().unwrap() < 0.03 && pairs[0]["longest"].as_u64().unwrap() > 60);
        let note = "5 more pairs have a resemblance below 0.03 and no rewritten passage, and are left out \
                    (--min-resemblance 0 shows them)\n";
        assert_eq!(run.stderr, note);
    }
    assert_eq!(typed.json().len(), 0);
    let human = folder.ok(&["pairs", "--rewritten", "--sort", "longest"]).stdout;
    assert!(human.ends_with("\n1 pair\n"), "{human}");
    folder.ok(&["pairs", "--rewritten", "--format", "html", "-o", "report"]);
    assert!(
        folder.path().join("report/data/pair-1.js").exists() && !folder.path().join("report/data/pair-2.js").exists()
    );
}

/// A text that has the first words of each sentence of `common`, with rare words between them.
fn scattered<N: FnMut(u64) -> u64>(writer: &mut Writer<N>, common: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut own = || (0..40).map(|_| writer.rare_word()).collect::<Vec<_>>();
    common.iter().map(|group| [&group[..3], &own()].concat()).collect()
}

/// The best pairs are chosen among those that have a passage.
#[test]
fn the_best_pairs_of_rewritten_text_are_those_listed() {
    let mut writer = Writer(lcg(17));
    let source = writer.sentences(400);
    let paraphrase = [writer.rewrite(&source[200..212]), writer.sentences(4)].concat();
    let common = writer.sentences(45);
    let documents = [source, paraphrase, scattered(&mut writer, &common), scattered(&mut writer, &common)];
    let folder = stored(&documents);
    let all = folder.ok(&["pairs", "--min-resemblance", "0", "--format", "json"]).json();
    assert_eq!([&all[0]["a"], &all[0]["b"]], ["docs/002", "docs/003"]);
    assert!(all[0]["score"].as_f64().unwrap() < 0.03);
    for flags in [&["--passages"][..], &["--sort", "longest"]] {
        let [one, every] = ["1", "0"]
            .map(|top| folder.ok(&[&["pairs", "--rewritten", "--format", "json", "--top", top], flags].concat()));
        assert_eq!(names_of_pairs(&one.json()), [["docs/000", "docs/001"]]);
        assert_eq!([&one.stdout, &one.stderr], [&every.stdout, &every.stderr]);
    }
    let run = folder.ok(&["pairs", "--rewritten", "--top", "1", "--format", "html", "-o", "report"]);
    assert!(folder.path().join("report/data/pair-1.js").exists(), "{run:?}");
}

/// A pair of files that reaches the threshold is found, however many other pairs share more.
#[test]
fn submissions_keep_their_pairs_with_rewritten_text() {
    let folder = Folder::new();
    let mut writer = Writer(lcg(19));
    let (common, copied) = (writer.sentences(45), writer.sentences(3));
    for submission in ["A", "B"] {
        for number in 0..12 {
            let content = text(&scattered(&mut writer, &common));
            folder.write(&format!("s/{submission}/{number:02}.txt"), content);
        }
        folder.write(&format!("s/{submission}/copied.txt"), text(&copied));
    }
    folder.ok(&["ingest", "-q", "--profile", "words", "s"]);
    let pairs = ["pairs", "--submission-by", "s", "--format", "json"];
    let expected = folder.ok(&pairs).json();
    assert!(expected[0]["by_files"] == true && expected[0]["files_left_out"].as_u64().unwrap() > 100);
    for flags in [&["--sort", "longest"][..], &["--passages"]] {
        let run = folder.ok(&[&pairs[..], &["--rewritten"], flags].concat());
        let found = run.json();
        assert_eq!(names_of_pairs(&found), [["s/A", "s/B"]]);
        assert_eq!((&found[0]["longest"], &found[0]["by_files"]), (&36.into(), &true.into()));
        assert_eq!(names_of_pairs(found[0]["files"].as_array().unwrap())[0], ["s/A/copied.txt", "s/B/copied.txt"]);
        assert!(run.stderr.contains("1 pair is below the threshold as a whole"), "{run:?}");
    }
}

fn names_of_pairs(pairs: &[Value]) -> Vec<[&str; 2]> {
    pairs.iter().map(|pair| [&pair["a"], &pair["b"]].map(|name| name.as_str().unwrap())).collect()
}
