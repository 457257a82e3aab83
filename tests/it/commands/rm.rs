//! `fpdb rm --prefix` and `--where`: what they select is counted first, and removed with --yes.

use insta::assert_snapshot;

use super::names;
use crate::bad_input::prose;
use crate::support::{Folder, Run};

const DB: &str = ".fpdb";

fn labelled() -> Folder {
    let folder = Folder::new();
    let mut table = "filename,label,site\n".to_owned();
    for number in 0..30 {
        let name = format!("docs/{}/{number:02}.txt", ["a", "b", "bb"][number % 3]);
        folder.write(&name, prose(number));
        let label = if number % 5 == 0 { "spam" } else { "" };
        table += &format!("{name},{label},{}.example\n", ["x", "y"][number % 2]);
    }
    folder.write("labels.csv", table);
    folder.ok(&["ingest", "-q", "--profile", "prose", "--metadata", "labels.csv", "docs"]);
    folder
}

/// The exit status and both outputs, without sizes.
fn told(run: &Run) -> String {
    let sizeless =
        |line: &str| line.split_once(" documents, ").map_or(line.to_owned(), |(count, _)| format!("{count} documents"));
    let stdout: Vec<String> = run.stdout.lines().map(sizeless).collect();
    format!("{}\n{}\n---\n{}", run.status, stdout.join("\n"), run.stderr)
}

#[test]
fn documents_are_removed_by_prefix_and_by_value_and_counted_first() {
    let folder = labelled();
    assert_snapshot!(told(&folder.run(&["rm", "--prefix", "./docs//b/"])), @r#"
    0
    docs/b/01.txt
    docs/b/04.txt
    docs/b/07.txt
    docs/b/10.txt
    docs/b/13.txt
    docs/b/16.txt
    docs/b/19.txt
    docs/b/22.txt
    docs/b/25.txt
    docs/b/28.txt
    10 documents
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--where", "label=spam", "--where", "site=x.example"])), @r#"
    0
    docs/a/00.txt
    docs/b/10.txt
    docs/bb/20.txt
    3 documents
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--prefix", "none/", "--prefix", "docs/a/0", "--where", "label=ham"])), @r#"
    2

    ---
    error: no stored document has a name that begins with none/
    error: no stored document has label=ham
    hint: `fpdb list` shows the names, and `fpdb show NAME` the metadata of a document
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--format", "json", "-f", "--prefix", "none/", "--prefix", "docs/b"])), @r#"
    0
    {"schema":"fpdb.rm/1","removed":0,"unknown_names":[],"unknown_ids":[],"selected":20,"unmatched":["a name that begins with none/"]}
    ---
    a dry run: nothing was removed; --yes does it
    "#);
    assert_eq!(names(&folder, DB).len(), 30, "dry runs");
    for refused in [
        &["rm", "docs/a/00.txt", "--prefix", "docs"][..],
        &["rm", "--id", "1", "--where", "label=spam"],
        &["rm", "docs/a/00.txt", "--yes"],
        &["rm", "--yes"],
        &["rm", "--prefix", "", "--yes"],
        &["rm", "--prefix", "./", "--yes"],
        &["rm", "--prefix", ".//./", "--yes"],
        &["rm", "--where", "label"],
        &["rm", "--where", "=spam"],
    ] {
        assert_eq!(folder.run(refused).status, 2, "{refused:?}");
    }
    let answer = folder.ok(&["rm", "--format", "json", "--yes", "--where", "label=spam", "--prefix", "docs/b"]).json();
    // 5, 10, 20 and 25 are spam below docs/b and docs/bb.
    assert_eq!((&answer[0]["removed"], &answer[0]["selected"]), (&4.into(), &4.into()));
    let left = names(&folder, DB);
    assert!(left.len() == 26 && !left.contains(&"docs/bb/05.txt".into()) && left.contains(&"docs/a/15.txt".into()));
    let again = folder.run(&["rm", "--yes", "--where", "label=spam", "--prefix", "docs/b"]);
    assert_eq!((again.status, &*again.stderr), (0, ""), "there is such a prefix and such a value");
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/"])), @r#"
    0

    ---
    8 documents removed; `fpdb compact` frees the space, and an ingest adds them again while their files are there
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/"])), @r#"
    2

    ---
    error: no stored document has a name that begins with docs/bb/
    hint: `fpdb list` shows the names, and `fpdb show NAME` the metadata of a document
    "#);
    assert_snapshot!(told(&folder.run(&["rm", "--yes", "--prefix", "docs/bb/", "--ignore-missing"])), @r#"
    0

    ---
    "#);
    assert_eq!(folder.ok(&["verify", "--format", "json"]).json()[0]["problems"], serde_json::Value::Array(vec![]));
}
