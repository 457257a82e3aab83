//! Binary files whose names promise a text or a mail, and texts in UTF-16 without a byte order mark.

use super::prose;
use crate::support::{Folder, gzip};

/// A text with a block of zeros, as a damaged disk leaves it.
fn zeroed(text: &str) -> Vec<u8> {
    [&text.as_bytes()[..100], &[0; 1000], text.as_bytes()].concat()
}

#[test]
fn a_binary_file_whose_name_promises_a_text_or_a_mail_is_a_failure() {
    let folder = Folder::new();
    let mail = format!("From: a@b.c\nMessage-ID: <1@x>\nSubject: x\n\n{}", prose(1));
    let failing = ["a.txt", "b.eml", "c.md", "d.csv", "e.html", "f.tex", "g.TXT", "h.tsv", "k.rs", "l.h"];
    for name in failing {
        folder.write(&format!("in/{name}"), zeroed(&mail));
    }
    for name in ["x.png", "z", "._a.txt", "._a.py", "~$a.txt", ".md"] {
        folder.write(&format!("in/{name}"), zeroed(&mail));
    }
    // These names are also those of videos in packets.
    for (name, start, size) in [("v.ts", 0, 188), ("w.mts", 4, 192)] {
        let mut video = vec![0; 9 * size];
        video.iter_mut().skip(start).step_by(size).for_each(|byte| *byte = b'G');
        folder.write(&format!("in/{name}"), video);
    }
    folder.write("in/i.txt.gz", gzip(zeroed(&mail)));
    let separator = "From a@x Sat Jan  3 01:05:34 2004\n";
    let damaged = String::from_utf8(zeroed(&mail)).unwrap();
    folder.write("in/j.mbox", [&mail, &damaged, &mail].map(|mail| format!("{separator}{mail}\n")).concat());
    let mut all: Vec<String> = failing.iter().map(|name| format!("in/{name}")).collect();
    all.extend(["in/i.txt.gz".into(), "in/j.mbox#2".into()]);
    all.sort();
    let ingest =
        |more: &[&str]| folder.run(&[&["ingest", "--profile", "prose", "in", "--format", "json"], more].concat());
    let failed = |run: &crate::support::Run| {
        let failed = run.json()[0]["failed"].as_array().unwrap().clone();
        let mut names: Vec<_> = failed.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let run = ingest(&[]);
    assert_eq!((run.status, failed(&run), &run.json()[0]["skips"]), (2, all, &8.into()), "{run:?}");
    assert_eq!(run.json()[0]["added"], 2);
    let told = "error: in/j.mbox#2: this is not a readable mail document: binary data: there are NUL bytes";
    assert!(run.stderr.contains(told) && run.stderr.contains("--exclude GLOB leaves it out"), "{run:?}");
    let globs = ["--exclude", "*.[a-z]*", "--exclude", "*.TXT"];
    let other = folder.run(&[&["ingest", "--db", "other", "--profile", "prose", "in"], &globs[..]].concat());
    assert_eq!(other.status, 0, "{other:?}");
    // A query reports such files too.
    let query = folder.run(&["query", "in/j.mbox", "--format", "json"]);
    assert!(query.status == 2 && query.stderr.contains("in/j.mbox#2: this is not a readable mail"), "{query:?}");
}

#[test]
fn utf_16_without_a_mark_is_read_in_several_scripts() {
    let folder = Folder::new();
    let texts = [
        ("ru", "Съешь ещё этих мягких французских булок, да выпей чаю (и «кофе») — сказал № 7. "),
        ("el", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, και οι άλλοι την είδαν. "),
        ("he", "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה, כך אמרו. "),
        ("ar", "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق. "),
        ("en", "The quick brown fox jumps over the lazy dog, and so on. "),
    ];
    for (name, text) in texts {
        let text = text.repeat(9);
        let wide: Vec<u16> = text.encode_utf16().collect();
        folder
            .write(&format!("in/{name}.le.txt"), wide.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>());
        folder
            .write(&format!("in/{name}.be.txt"), wide.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<u8>>());
        folder.write(&format!("{name}.txt"), text);
    }
    let run = folder.ok(&["ingest", "--profile", "text", "in", "--format", "json"]);
    assert_eq!(run.json()[0]["added"], 2 * texts.len(), "{run:?}");
    for (name, _) in texts {
        let query = folder.ok(&["query", &format!("{name}.txt"), "--format", "json"]);
        let matches = query.json()[0]["matches"].as_array().unwrap().clone();
        let whole = matches.iter().filter(|found| found["containment"] == 1.0).count();
        assert_eq!(whole, 2, "{name} {query:?}");
    }
}

/// A program with zeros in a comment still runs, so it must not leave the comparison unnoticed.
#[test]
fn a_program_with_zeros_is_a_failure_by_name() {
    let folder = Folder::new();
    let program = "int main(void) {\n    for (int i = 0; i < 9; i++) { puts(\"x\"); }\n    return 0;\n}\n".repeat(9);
    let spoiled = [&b"/*"[..], &[0; 32], b"*/\n", program.as_bytes()].concat();
    folder.write("k/anna/main.c", &program);
    for name in ["main.c", "Main.java", "main.js", "main.ts", "main.py"] {
        folder.write(&format!("k/ben/{name}"), &spoiled);
    }
    for profile in ["code", "prose"] {
        let run = folder.run(&["ingest", "--db", profile, "--profile", profile, "k", "--failures", "failures.jsonl"]);
        assert!(run.status == 2 && run.stdout.starts_with("1 document added, 5 failed\n"), "{run:?}");
        assert!(run.stderr.contains("k/ben/main.c: this is not a readable c document: binary data"), "{run:?}");
        let failures = std::fs::read_to_string(folder.path().join("failures.jsonl")).unwrap();
        assert_eq!(failures.matches("k/ben/").count(), 5, "{failures}");
    }
}

/// Marks like those of a video do not make a text one by its name alone, or by its first packets alone.
#[test]
fn a_text_with_marks_of_a_video_is_a_failure_by_name() {
    let folder = Folder::new();
    let with_marks = |packets: usize| {
        let mut text = [&b"/*"[..], &vec![0; packets * 192 + 99], b"*/\n", prose(1).as_bytes()].concat();
        text.iter_mut().skip(4).step_by(192).take(packets).for_each(|byte| *byte = b'G');
        text
    };
    for name in ["main.c", "essay.txt", "essay.md", "main.cts"] {
        folder.write(&format!("in/{name}"), with_marks(99));
    }
    for name in ["main.ts", "main.mts"] {
        folder.write(&format!("in/{name}"), with_marks(3));
    }
    // Two packets are too few to tell.
    let mut short = vec![0; 2 * 192];
    for at in [4, 196] {
        short[at] = b'G';
    }
    folder.write("in/short.ts", short);
    for profile in ["code", "prose"] {
        let run = folder.run(&["ingest", "--db", profile, "--profile", profile, "in", "--format", "json"]);
        let failed = run.json()[0]["failed"].as_array().unwrap().len();
        assert_eq!((run.status, failed), (2, 7), "{run:?}");
    }
}
