//! Leftovers: hidden names of unfinished files belong to the run whose log lists them.

use std::fs;

use super::{apply, files, report, six, text};
use crate::support::Folder;

#[test]
fn files_that_look_like_unfinished_ones_stay() {
    for action in [&["--write", "clean"][..], &["--remove"], &["--link", "hard"], &["--mark", "dup"]] {
        let folder = Folder::new();
        six(&folder);
        // A document and a survivor with such names.
        folder.write("in/1/.3.txt.fpdb-part", text(7));
        folder.write("in/0/.0.txt.fpdb-part", text(8));
        folder.write("clean/in/0/.0.txt.fpdb-part", "mine");
        report(&folder);
        apply(&folder, &[action, &["--yes"]].concat());
        assert_eq!(fs::read_to_string(folder.path().join("in/1/.3.txt.fpdb-part")).unwrap(), text(7));
        assert_eq!(fs::read_to_string(folder.path().join("in/0/.0.txt.fpdb-part")).unwrap(), text(8));
        if action[0] != "--write" {
            assert_eq!(fs::read_to_string(folder.path().join("clean/in/0/.0.txt.fpdb-part")).unwrap(), "mine");
        }
    }
}

#[test]
fn an_ingest_skips_what_a_killed_run_has_left() {
    let folder = Folder::new();
    six(&folder);
    folder.write("in/0/.0.txt.fpdb-part-0123456789abcdef", text(0));
    folder.write("in/0/.0.txt.fpdb-part-0123456789abcdeg", text(9));
    let run = folder.ok(&["ingest", "--profile", "words", "--format", "json", "in"]);
    let summary = &run.json()[0];
    assert_eq!((&summary["added"], summary["skipped"].as_array().map_or(0, Vec::len)), (&7.into(), 1), "{run:#?}");
    // A file with such a name is read if the user names it.
    folder.ok(&["ingest", "-q", "in/0/.0.txt.fpdb-part-0123456789abcdef"]);
    assert_eq!(files(&folder.path().join("in")).len(), 8);
}

/// The log beside the report may be of another user.
#[test]
fn a_log_leads_to_no_file_of_a_user() {
    for role in ["part", "aside"] {
        let folder = Folder::new();
        six(&folder);
        report(&folder);
        folder.write("precious", "mine");
        let precious = folder.path().join("precious");
        let line = serde_json::json!({
            "schema": "fpdb.act/1", "report": "", "act": "remove", "source": folder.path().join("gone"), "target": null,
            "bytes": 4, "done": false, role: precious,
        });
        folder.write("report.jsonl.remove.log", format!("{line}\n"));
        let run = folder.run(&["apply", "report.jsonl", "--remove", "--yes"]);
        assert_eq!((run.status, fs::read_to_string(&precious).unwrap().as_str()), (2, "mine"), "{run:#?}");
        assert!(run.stderr.contains("names an unfinished file that `apply` never makes"), "{run:#?}");
    }
}
