//! Disguise: words that look like other words do not match them, and answers say so.

use serde_json::Value;

use super::data::Overview;
use super::files::overview;
use crate::support::{Folder, zip};

/// Sentences of English words.
fn essay() -> String {
    let words = ["the committee", "reported", "that several", "members", "opposed", "a measure", "of economy"];
    (0..60usize).map(|place| format!("{} {} ", words[place * place % 7], words[(place * 5 + place / 7) % 7])).collect()
}

/// The text with Cyrillic letters for some Latin ones.
fn in_disguise(text: &str) -> String {
    text.replace('o', "о").replace('e', "е")
}

/// A folder with two databases of the essay, one for each unit.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("docs/anna/essay.txt", essay());
    for profile in ["prose", "words"] {
        folder.ok(&["--db", profile, "ingest", "-q", "--profile", profile, "docs"]);
    }
    folder
}

fn query(folder: &Folder, database: &str, more: &[&str]) -> Value {
    folder.ok(&[&["--db", database, "query", "--format", "json"], more].concat()).json().remove(0)
}

#[test]
fn look_alike_letters_are_told_with_an_example_and_its_place() {
    let folder = folder();
    let hidden = in_disguise(&essay());
    let wide =
        |text: &str| -> Vec<u8> { format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let html = format!("<html><body><p>Eine &uuml;ber</p><p>{hidden}</p></body></html>");
    folder.write("copy.txt", format!("Own. {hidden}"));
    folder.write("wide.txt", wide(&hidden));
    folder.write("copy.html", &html);
    folder.write("copy.c", format!("/* {hidden} */"));
    let example = in_disguise("the");
    let at_in_html = html.find(&example).unwrap() as u64;
    for database in ["prose", "words"] {
        for (name, start) in [("copy.txt", 5), ("wide.txt", 2), ("copy.html", at_in_html)] {
            let answer = query(&folder, database, &[name]);
            let disguised = &answer["query"]["disguised"];
            assert_eq!(
                (&disguised["example"], &disguised["start"]),
                (&example.as_str().into(), &start.into()),
                "{answer}"
            );
            assert!(disguised["words"].as_u64().unwrap() > 60 && disguised.get("file").is_none(), "{answer}");
        }
        assert!(query(&folder, database, &["docs/anna/essay.txt"])["query"].get("disguised").is_none());
        assert_eq!(query(&folder, database, &["docs/anna/essay.txt"])["matches"][0]["containment"], 1.0);
    }
    let page = folder.ok(&["--db", "prose", "query", "copy.txt"]).stdout;
    assert!(
        page.contains(&format!(" words look like others and do not match them, such as {example} at byte 5 (")),
        "{page}"
    );
    // Offsets in an office document are those of its text.
    let document = format!("<w:document><w:body><w:p><w:r><w:t>Own. {hidden}</w:t></w:r></w:p></w:body></w:document>");
    let relations =
        r#"<Relationships><Relationship Type="http://x/officeDocument" Target="word/document.xml"/></Relationships>"#;
    let parts =
        [("[Content_Types].xml", "<Types/>"), ("_rels/.rels", relations), ("word/document.xml", document.as_str())];
    folder.write("copy.docx", zip(parts));
    let page = folder.ok(&["--db", "prose", "query", "copy.docx"]).stdout;
    assert!(page.contains(&format!("such as {example} at byte 5 of its text (")), "{page}");
    folder.write("late/dan/copy.docx", std::fs::read(folder.path().join("copy.docx")).unwrap());
    let page = folder.ok(&["--db", "prose", "query", "late/dan", "--submission-by", "docs,late"]).stdout;
    assert!(page.contains(&format!("such as {example} at byte 5 of the text of late/dan/copy.docx (")), "{page}");
    let diff = ["diff", "copy.txt", "docs/anna/essay.txt", "--profile"];
    assert!(folder.ok(&[&diff[..], &["prose"]].concat()).stdout.contains("look like others"));
    assert!(!folder.ok(&[&diff[..], &["code"]].concat()).stdout.contains("look like others"));

    // For a submission the answer names the file. Stored documents are checked too.
    folder.write("late/eve/a.txt", essay());
    folder.write("late/eve/b.txt", &hidden);
    folder.write("stored/b.txt", &hidden);
    let joined = query(&folder, "prose", &["late/eve", "--submission-by", "docs,late"]);
    assert_eq!(
        (&joined["query"]["disguised"]["file"], &joined["query"]["files"]),
        (&"late/eve/b.txt".into(), &2.into())
    );
    folder.ok(&["--db", "prose", "ingest", "-q", "stored"]);
    assert_eq!(query(&folder, "prose", &["--document", "stored/b.txt"])["query"]["disguised"]["start"], 0);

    let report = |more: &[&str]| -> Overview {
        let flags =
            ["--db", "prose", "query", "late/eve", "--submission-by", "docs,late", "--format", "html", "--single-file"];
        folder.ok(&[&flags[..], &["-o", "report"], more].concat());
        overview(&std::fs::read(folder.path().join("report")).unwrap())
    };
    let told = |overview: &Overview| {
        let mut all = overview.documents.iter().filter_map(|document| document.disguised.clone());
        let one = all.next().unwrap();
        assert_eq!(all.next(), None);
        (one.example, one.file)
    };
    assert_eq!(told(&report(&[])), (example.clone(), Some("late/eve/b.txt".to_owned())));
    assert_eq!(told(&report(&["--no-text"])), (String::new(), Some("late/eve/b.txt".to_owned())));
    assert_eq!(told(&report(&["--anonymise"])), (example, None));
}

/// Invisible characters are no symbols. Only a zero-width space separates words.
#[test]
fn invisible_characters_hide_no_copy_without_a_warning() {
    let folder = folder();
    for (hidden, separates) in [
        ('\u{200B}', true),
        ('\u{AD}', false),
        ('\u{200C}', false),
        ('\u{200D}', false),
        ('\u{2060}', false),
        ('\u{FEFF}', false),
    ] {
        folder.write("copy.txt", essay().replace("mm", &format!("m{hidden}m")).replace("po", &format!("p{hidden}o")));
        for database in ["prose", "words"] {
            let answer = query(&folder, database, &["copy.txt"]);
            let is_told = answer["query"].get("disguised").is_some();
            assert_eq!(is_told, separates && database == "words", "{hidden:?} {database}: {answer}");
            assert_eq!(answer["matches"][0]["containment"] == 1.0, !is_told, "{hidden:?} {database}: {answer}");
        }
    }
}
