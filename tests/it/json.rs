//! The JSON: it has exactly the fields of the report types and of the contract, and its offsets are right for
//! the original bytes.

use encoding_rs::{Encoding, UTF_8, UTF_16LE, WINDOWS_1252};
use fpdb::maintenance::DatabaseStats;
use fpdb::{DocumentInfo, IngestSummary, Location, QueryAnswer};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::support::Folder;

/// A text with accents that every encoding here can write; the characters stand for up to three bytes in
/// UTF-8.
const FRENCH: &str = "\
    Où l’été s’achève, les élèves français reviennent à l’école : ils sont frêles, gênés, inquiets.\n\
    « Ça ira », répète la maîtresse — et voilà qu’ils s’assoient près des fenêtres, bouche bée.\n\
    Un garçon naïf, du côté de Noël, rêvait d’être ingénieur ; sa sœur préférait les forêts, les îles.\n\
    \n\
    À midi, le goûter : crème brûlée, pâtes, œufs, café sans sucre, et même un peu de bœuf bourguignon.\n\
    Après dîner, le maître lut « Les Misérables », puis « L’Étranger », d’une voix très émue, presque brisée.\n";

/// Other text, to surround a copy.
const AROUND: &str = "\
    Der Wächter überprüfte täglich die Schlösser der Bücherei, müde zwar, aber pflichtbewußt.\n\
    Größere Störungen gab es höchstens, wenn die Mäuse in den Kellerräumen lärmten.\n";

/// Reads each line as `T`, and checks that `T` has every field of the line.
fn strict<T: DeserializeOwned + Serialize>(output: &str) -> Vec<(T, Value)> {
    let read = |line| {
        let value: Value = serde_json::from_str(line).unwrap();
        let report: T = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap(), value);
        (report, value)
    };
    output.lines().map(read).collect()
}

/// Checks fields by name and type: `s`tring, `n`umber without a fraction, `f`raction from 0 to 1, `b`oolean,
/// `a`rray, `o`bject.
fn has(value: &Value, fields: &[(&str, char)]) {
    for &(name, kind) in fields {
        let field = value.get(name).unwrap_or_else(|| panic!("no {name} in {value}"));
        let fits = match kind {
            's' => field.is_string(),
            'n' => field.is_u64(),
            'f' => field.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)),
            'b' => field.is_boolean(),
            'a' => field.is_array(),
            _ => field.is_object(),
        };
        assert!(fits, "{name} is {field}");
    }
}

fn samples() -> String {
    format!("{}/../data-samples", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn ingest_reports_one_line() {
    let folder = Folder::new();
    folder.write("docs/a.txt", FRENCH);
    folder.write("docs/b.bin", b"\0\x01\x02");
    let run = folder.run(&["ingest", "docs", "missing.txt", "--format", "json"]);
    assert_eq!(run.status, 2);
    let lines = strict::<IngestSummary>(&run.stdout);
    let [(report, value)] = &lines[..] else { panic!("one line: {lines:?}") };
    has(value, &[("schema", 's'), ("documents", 'n'), ("added", 'n'), ("unchanged", 'n'), ("replaced", 'n')]);
    has(value, &[("failed", 'a'), ("bytes", 'n'), ("symbols", 'n'), ("fingerprints", 'n')]);
    assert!(value["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));
    assert_eq!(value["schema"], "fpdb.ingest/1");
    assert_eq!((report.documents, report.added, report.bytes), (1, 1, FRENCH.len() as u64));
    let failed: Vec<&str> = report.failed.iter().map(|failure| failure.name.as_str()).collect();
    assert_eq!(failed, ["missing.txt"]);
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.name.as_str()).collect();
    assert_eq!(skipped, ["docs/b.bin"]);
    has(value, &[("undecodable", 'n'), ("undecodable_documents", 'n'), ("formats", 'o'), ("skipped", 'a')]);
    value["failed"].as_array().unwrap().iter().for_each(|failure| has(failure, &[("name", 's'), ("error", 's')]));
}

#[test]
fn query_reports_one_line_per_document() {
    let folder = Folder::new();
    let samples = samples();
    folder.ok(&["ingest", "--profile", "prose", &format!("{samples}/federalist")]);
    let essay = format!("{samples}/planted/essay-lifted-paragraphs.txt");
    let copy = format!("{samples}/planted/paper-10-copy.txt");
    for mode in ["containment", "resemblance"] {
        let run = folder.ok(&["query", &essay, &copy, "--mode", mode, "-n", "64", "--top", "0", "--format", "json"]);
        let lines = strict::<QueryAnswer>(&run.stdout);
        assert_eq!(lines.iter().map(|(report, _)| &report.query.name).collect::<Vec<_>>(), [&essay, &copy]);
        for (report, value) in &lines {
            has(value, &[("schema", 's'), ("mode", 's'), ("profile", 'o'), ("query", 'o'), ("looked_up", 'n')]);
            has(value, &[("found", 'n'), ("boilerplate", 'n'), ("common", 'n'), ("corpus_containment", 'f')]);
            has(value, &[("matching_documents", 'n'), ("ignored", 'a'), ("matches", 'a')]);
            has(&value["profile"], &[("unit", 's'), ("k", 'n'), ("w", 'n'), ("selection", 's')]);
            has(&value["query"], &[("name", 's'), ("bytes", 'n'), ("symbols", 'n'), ("fingerprints", 'n')]);
            has(&value["query"], &[("window", 'n')]);
            assert_eq!(
                (value["schema"].as_str(), report.mode.name(), report.looked_up),
                (Some("fpdb.query/1"), mode, 64)
            );
            check_matches(report, value);
        }
        assert!(lines[1].0.matches[0].identical);
    }
    // Values without sampling are exact.
    let exact = strict::<QueryAnswer>(&folder.ok(&["query", &copy, "--format", "json"]).stdout);
    assert!(exact[0].1["matches"].as_array().unwrap().iter().all(|found| found["interval"].is_null()));
    assert_eq!(exact[0].0.looked_up, exact[0].0.query.fingerprints);
}

fn check_matches(report: &QueryAnswer, value: &Value) {
    let matches = value["matches"].as_array().unwrap();
    assert!(!matches.is_empty());
    for (found, match_report) in matches.iter().zip(&report.matches) {
        has(found, &[("document", 's'), ("shared", 'n'), ("containment", 'f'), ("document_containment", 'f')]);
        has(found, &[("resemblance", 'f'), ("identical", 'b'), ("coverage", 'f'), ("passages", 'a'), ("repeats", 'n')]);
        assert!(found["inferred"].is_null(), "the texts are there: {found}");
        let [low, high] = match_report.interval.unwrap();
        let score = score(report, found);
        assert!(0.0 <= low && low <= score && score <= high && high <= 1.0, "{found}");
        for passage in found["passages"].as_array().unwrap() {
            has(passage, &[("query", 'o'), ("document", 'o'), ("symbols", 'n'), ("exact", 'b'), ("agreement", 'f')]);
            for side in ["query", "document"] {
                has(&passage[side], &[("start", 'n'), ("end", 'n'), ("lines", 'a')]);
            }
        }
    }
    for pair in matches.windows(2) {
        let key = |found: &Value| {
            let [coverage, resemblance] = ["coverage", "resemblance"].map(|field| -found[field].as_f64().unwrap());
            let is_other = found["identical"] == false;
            (-score(report, found), is_other, coverage, resemblance, found["document"].as_str().unwrap().to_owned())
        };
        assert!(key(&pair[0]) < key(&pair[1]), "by score, then by coverage, resemblance and name");
    }
}

fn score(report: &QueryAnswer, found: &Value) -> f64 {
    found[report.mode.name()].as_f64().unwrap()
}

#[test]
fn list_show_and_stats_report_what_is_stored() {
    let folder = Folder::new();
    folder.write("a.txt", FRENCH);
    folder.write("b.txt", FRENCH);
    folder.ok(&["ingest", "--profile", "prose", "a.txt", "b.txt"]);
    let fields = [("schema", 's'), ("id", 'n'), ("name", 's'), ("source", 's'), ("bytes", 'n'), ("symbols", 'n')];
    for command in [&["list", "--format", "json"][..], &["show", "a.txt", "b.txt", "--format", "json"]] {
        let lines = strict::<DocumentInfo>(&folder.ok(command).stdout);
        assert_eq!(lines.len(), 2);
        for (report, value) in lines {
            has(&value, &fields);
            has(&value, &[("lines", 'n'), ("fingerprints", 'n'), ("distinct", 'n'), ("encoding", 's')]);
            has(&value, &[("undecodable", 'n'), ("digest", 's'), ("ingested_at", 'n')]);
            assert_eq!(
                (value["schema"].as_str(), report.bytes, report.lines),
                (Some("fpdb.document/1"), FRENCH.len() as u64, 6)
            );
            assert_eq!(report.symbols, normalised(FRENCH).chars().count() as u64);
            let digest = value["digest"].as_str().unwrap();
            assert!(digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let file = folder.path().canonicalize().unwrap().join(&report.name);
            assert_eq!(std::fs::canonicalize(report.source.unwrap()).unwrap(), file);
        }
    }
    let stats = strict::<DatabaseStats>(&folder.ok(&["stats", "--hashes", "--format", "json"]).stdout);
    let [(report, value)] = &stats[..] else { panic!("one line: {stats:?}") };
    has(
        value,
        &[("schema", 's'), ("path", 's'), ("format", 'n'), ("profile", 'o'), ("documents", 'n'), ("bytes", 'n')],
    );
    has(value, &[("symbols", 'n'), ("fingerprints", 'n'), ("distinct", 'n'), ("singletons", 'n'), ("stored", 'a')]);
    assert_eq!((value["schema"].as_str(), report.documents, report.singletons), (Some("fpdb.stats/1"), 2, Some(0)));
    assert_eq!(report.postings, report.fingerprints);
    has(value, &[("df", 'a'), ("run_postings", 'a'), ("levels", 'a'), ("cache", 'o'), ("committed_at", 'n')]);
    // Both documents hold every hash.
    let df: Vec<(u64, u64, u64)> = report.df.iter().flatten().map(|df| (df.from, df.to, df.hashes)).collect();
    assert_eq!(df, [(1, 1, 0), (2, 2, report.distinct.unwrap())]);
    assert_eq!(report.run_postings.iter().sum::<u64>(), report.postings);
    assert!(report.levels.iter().all(|level| level.files > 0 && level.bytes > 0) && !report.levels.is_empty());
    assert!(report.cache.bytes <= report.cache.capacity && report.cache.capacity > 1 << 20);
}

/// The encodings of stored documents and queries.
fn encodings() -> [(&'static Encoding, &'static str); 3] {
    [(UTF_8, "UTF-8"), (UTF_16LE, "UTF-16LE"), (WINDOWS_1252, "windows-1252")]
}

#[test]
fn offsets_are_true_of_the_original_bytes_in_every_encoding() {
    let folder = Folder::new();
    for (encoding, name) in encodings() {
        folder.write(&format!("{name}.txt"), encode(&format!("{AROUND}{FRENCH}{AROUND}"), encoding));
        folder.write(&format!("query-{name}.txt"), encode(&format!("Vorab: {FRENCH}Ende.\n"), encoding));
    }
    let names = encodings().map(|(_, name)| format!("{name}.txt"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.ok(&[&["ingest", "--profile", "prose"], &names[..]].concat());
    for line in strict::<DocumentInfo>(&folder.ok(&["list", "--format", "json"]).stdout) {
        assert_eq!(format!("{}.txt", line.0.encoding), line.0.name);
        assert_eq!(line.0.symbols, normalised(&format!("{AROUND}{FRENCH}{AROUND}")).chars().count() as u64);
    }
    let mut pairs = 0;
    for (encoding, name) in encodings() {
        let query = format!("query-{name}.txt");
        let report = &strict::<QueryAnswer>(&folder.ok(&["query", &query, "--format", "json"]).stdout)[0].0;
        assert_eq!(report.query.symbols, normalised(&format!("Vorab {FRENCH} Ende")).chars().count() as u64);
        for (stored, stored_name) in encodings() {
            let found = report.matches.iter().find(|found| found.document == format!("{stored_name}.txt")).unwrap();
            assert_eq!(found.passages.len(), 1, "{name} and {stored_name}: one copy, one passage");
            let passage = &found.passages[0];
            let in_query = Slice::of(&folder, &query, encoding, &passage.query);
            let in_document = Slice::of(&folder, &found.document, stored, &passage.document);
            assert_eq!(in_query.symbols, in_document.symbols, "{name} and {stored_name}");
            assert_eq!(in_query.symbols.chars().count() as u64, passage.symbols);
            assert_eq!(in_query.symbols, normalised(FRENCH), "exactly the copy");
            assert!(passage.exact && passage.agreement == Some(1.0));
            pairs += 1;
        }
    }
    assert_eq!(pairs, 9);
}

#[test]
fn offsets_are_true_of_compositions_and_ligatures() {
    let folder = Folder::new();
    // The same text with combining accents, ligatures, full-width letters and soft hyphens.
    let other = FRENCH.replace('é', "e\u{301}").replace('à', "a\u{300}").replace("fr", "\u{ff46}r").replace("fi", "ﬁ");
    let other = other.replace("rr", "r\u{ad}r");
    assert_ne!(other, FRENCH);
    folder.write("stored.txt", format!("{AROUND}{FRENCH}"));
    folder.write("query.txt", format!("Vorab:\n\n{other}"));
    folder.ok(&["ingest", "--profile", "prose", "stored.txt"]);
    let report = &strict::<QueryAnswer>(&folder.ok(&["query", "query.txt", "--format", "json"]).stdout)[0].0;
    let passage = &report.matches[0].passages[0];
    let in_query = Slice::of(&folder, "query.txt", UTF_8, &passage.query);
    let in_document = Slice::of(&folder, "stored.txt", UTF_8, &passage.document);
    let undone = in_query.text.replace("e\u{301}", "é").replace("a\u{300}", "à").replace('\u{ff46}', "f");
    assert_eq!(normalised(&undone.replace('ﬁ', "fi")), in_document.symbols);
    assert!(passage.symbols > 300);
}

#[test]
fn offsets_are_true_of_every_sample_document() {
    let folder = Folder::new();
    let samples = samples();
    folder.ok(&["ingest", "--profile", "prose", &format!("{samples}/federalist")]);
    for (file, encoding) in
        [("essay-lifted-paragraphs", UTF_8), ("essay-reflowed", UTF_8), ("paper-10-utf16", UTF_16LE)]
    {
        let file = format!("{samples}/planted/{file}.txt");
        let run = folder.ok(&["query", &file, "--top", "0", "--format", "json"]);
        let report = &strict::<QueryAnswer>(&run.stdout)[0].0;
        for found in &report.matches {
            for passage in &found.passages {
                let in_query = Slice::of(&folder, &file, encoding, &passage.query).symbols;
                let in_document = Slice::of(&folder, &found.document, UTF_8, &passage.document).symbols;
                // Two neighbouring copies with other text between them may be one passage.
                let ends = in_query[..25] == in_document[..25]
                    && in_query[in_query.len() - 25..] == in_document[in_document.len() - 25..];
                assert!(ends && passage.exact, "{file}, {}: {passage:?}", found.document);
                let whole = passage.agreement == Some(1.0);
                assert_eq!(in_query == in_document, whole, "{file}, {}: {passage:?}", found.document);
            }
        }
    }
}

/// A part of an original document, with its symbols.
struct Slice {
    text: String,
    symbols: String,
}

impl Slice {
    fn of(folder: &Folder, name: &str, encoding: &'static Encoding, span: &Location) -> Self {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        let (start, end) = (usize::try_from(span.start).unwrap(), usize::try_from(span.end).unwrap());
        assert!(start < end && end <= bytes.len(), "{name}: {span:?}");
        let text = decode(&bytes[start..end], encoding);
        let before = decode(&bytes[..start], encoding);
        let first = 1 + newlines(&before);
        assert_eq!(span.lines, [first, first + newlines(&text)], "{name}: lines of {span:?}");
        // The span begins and ends with a character that became a symbol.
        assert!(text.starts_with(char::is_alphanumeric), "{name}: {text}");
        assert!(text.ends_with(|c: char| c.is_alphanumeric() || c == '\u{301}' || c == '\u{300}'), "{name}: {text}");
        Self { symbols: normalised(&text), text }
    }
}

/// Decodes bytes, without a byte order mark. Checks that they begin and end on character boundaries.
fn decode(bytes: &[u8], encoding: &'static Encoding) -> String {
    let bytes = if encoding == UTF_16LE { bytes.strip_prefix(b"\xff\xfe").unwrap_or(bytes) } else { bytes };
    let (text, malformed) = encoding.decode_without_bom_handling(bytes);
    assert!(!malformed, "not on a character boundary");
    text.into_owned()
}

fn encode(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    if encoding == UTF_16LE {
        return [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    }
    let (bytes, _, unmappable) = encoding.encode(text);
    assert!(!unmappable);
    bytes.into_owned()
}

fn newlines(text: &str) -> u64 {
    text.matches('\n').count() as u64
}

/// The letters and digits of a text in lower case. Like case folding, replaces ß by ss.
fn normalised(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>().replace('ß', "ss")
}
