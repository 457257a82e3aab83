//! Output on a terminal: no name, text or metadata of a document controls the terminal or is invisible, in
//! any format of any command. Needs `script`, which gives the program a terminal.

use std::process::{Command, Stdio};

use crate::support::{Folder, word};

/// Characters that control a terminal, or that are invisible.
const HOSTILE: [char; 8] = ['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}', '\u{200e}', '\u{feff}', '\u{e0041}', '\u{85}'];

fn hostile(text: &str) -> String {
    let all: String = HOSTILE.into_iter().collect();
    format!("{all}[31m{text}{all}")
}

/// The output of the program on a terminal.
fn on_terminal(folder: &Folder, arguments: &[&str]) -> String {
    let program = folder.command(arguments);
    let words = std::iter::once(program.get_program()).chain(program.get_args());
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut script = Command::new("script");
    script.args(["-qefc", &quoted.join(" "), "/dev/null"]).current_dir(folder.path());
    script.env("NO_COLOR", "1").env("COLUMNS", "100").env("TERM", "dumb").env_remove("FPDB_DB");
    let output = script.stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn nothing_in_a_document_commands_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`");
        return;
    }
    let folder = Folder::new();
    let prose = |from: u64| (from..from + 80).map(|number| word(number * 7) + " ").collect::<String>();
    let text = |from: u64| prose(from) + &hostile("passage") + &prose(from + 500);
    for (number, name) in ["docs/one.txt", "docs/two.txt", "docs/three.txt"].into_iter().enumerate() {
        folder.write(&hostile(name).replace('/', "_").replace("docs_", "docs/"), text(number as u64 / 2 * 90));
    }
    let name = format!("docs/{}.txt", hostile("named"));
    folder.write(&name, text(0));
    let line = serde_json::json!({"id": hostile("id"), "text": text(0), "author": hostile("author")});
    folder.write("docs/a.jsonl", format!("{line}\n{line}\n"));
    folder.write(&format!("docs/{}", hostile("damaged.gz")), b"\x1f\x8b damaged");
    folder.write("table.csv", format!("document,{}\n{name},{}\n", hostile("column"), hostile("value")));
    let seen = on_terminal(
        &folder,
        &["ingest", "--store-text", "--profile", "words", "-v", "docs", "--metadata", "table.csv"],
    );
    let mut all = vec![("ingest".to_owned(), seen)];
    folder.run(&["dedup", "-q", "--format", "json", "-o", "report.jsonl"]);
    let absent = hostile("absent.txt");
    for format in ["human", "json", "csv"] {
        for command in [
            &["ingest", "docs", "-v"][..],
            &["query", &name],
            &["query", &name, "--metadata-columns"],
            &["query", &absent],
            &["pairs"],
            &["dedup"],
            &["dedup", "--passages"],
            &["apply", "report.jsonl", "--remove"],
            &["apply", "report.jsonl", "--write", "clean"],
            &["apply", "report.jsonl", "--check"],
            &["diff", &name, "docs/a.jsonl"],
            &["diff", &name, &absent],
            &["list"],
            &["list", "--prefix", &absent],
            &["show", &name],
            &["show", &absent],
            &["stats", "--hashes"],
            &["rm", &absent],
            &["mv", &absent, &name],
            &["verify"],
            &["backup", &absent],
            &["restore", "--db", "other", &absent],
            &["merge", &absent],
            &["assemble", &absent],
            &["list", "--db", &absent],
        ] {
            let arguments = [command, &["--format", format]].concat();
            all.push((format!("{arguments:?}"), on_terminal(&folder, &arguments)));
        }
    }
    let mut shown = 0;
    for (what, seen) in &all {
        assert!(!seen.contains("panicked"), "{what}: {seen}");
        let stray = seen.chars().filter(|c| HOSTILE.contains(c) || c.is_control() && !"\r\n\t".contains(*c));
        assert_eq!(stray.collect::<String>(), "", "{what}: {seen:?}");
        shown += usize::from(seen.contains("[31m"));
    }
    assert!(shown > 40, "names are shown {shown} times");
}

/// Standard error and output of a run on a terminal of 80 columns that draws progress bars.
fn with_bar(folder: &Folder, arguments: &str) -> String {
    let program = folder.command(&[]);
    let line = format!("stty cols 80 rows 24; '{}' {arguments}", program.get_program().to_str().unwrap());
    let mut script = Command::new("script");
    script.args(["-qefc", &line, "/dev/null"]).current_dir(folder.path());
    script.env("NO_COLOR", "1").env("TERM", "xterm").env_remove("COLUMNS").env_remove("FPDB_DB");
    let output = script.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The bar fits a line and is not drawn for each document. In the first second, it shows no rate.
#[test]
fn a_progress_bar_fits_a_line_and_is_drawn_ten_times_a_second() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script`");
        return;
    }
    let folder = Folder::new();
    const FILES: u64 = 3000;
    for number in 0..FILES {
        let text: String = (0..30).map(|place| word(number * 31 + place) + " ").collect();
        folder.write(&format!("docs/{:02}/{number}.txt", number % 50), text);
    }
    let begun = std::time::Instant::now();
    let seen = with_bar(&folder, "ingest --profile words docs");
    let seconds = begun.elapsed().as_secs_f64();
    let escapes = regex::Regex::new("\x1b\\[[0-9;?]*[A-Za-z]").unwrap();
    let drawn: Vec<String> = seen.split(['\r', '\n']).map(|line| escapes.replace_all(line, "").into_owned()).collect();
    let bars: Vec<&String> =
        drawn.iter().filter(|line| line.contains(" document") && !line.contains("added")).collect();
    assert!(!bars.is_empty(), "{seen}");
    assert!(drawn.iter().all(|line| line.chars().count() <= 80), "{drawn:#?}");
    // The bar is drawn ten times a second, and when a step begins or ends. It must not be drawn for each
    // document.
    assert!((bars.len() as f64) < 10.0 * seconds + 20.0, "{} in {seconds} s", bars.len());
    assert!(bars.len() < FILES as usize / 4 && seen.len() < 200 * (bars.len() + 20), "{}", seen.len());
    assert!(!bars[0].contains("/s"), "{bars:#?}");
}
