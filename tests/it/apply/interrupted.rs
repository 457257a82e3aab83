//! Interrupted: after a kill at any moment, the same command continues, and ends like an undisturbed run.

use std::process::Stdio;
use std::time::Duration;

use super::{files, report, text};
use crate::support::Folder;

/// Many small files, and a container that takes some time to write.
fn corpus(folder: &Folder) {
    for number in 0..60u64 {
        folder.write(&format!("in/{number}.txt"), text(number % 40));
    }
    let lines: String = (0..3000u64).map(|n| format!("{{\"text\":\"{}\"}}\n", text(100 + n % 2000))).collect();
    folder.write("in/a.jsonl.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
}

#[test]
fn a_killed_run_goes_on() {
    for action in
        [&["--write", "clean"][..], &["--remove"], &["--move", "gone"], &["--mark", "dup"], &["--link", "hard"]]
    {
        let whole = Folder::new();
        corpus(&whole);
        let command = [&["apply", "report.jsonl", "--yes", "-q"], action].concat();
        report(&whole);
        whole.ok(&command);
        let expected: Vec<_> = files(whole.path())
            .into_iter()
            .filter(|(name, _)| !name.starts_with(".fpdb") && !name.contains("report") && !name.ends_with(".log"))
            .collect();

        let folder = Folder::new();
        corpus(&folder);
        report(&folder);
        for kill in 0..12u64 {
            let mut child = folder.command(&command).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(20 + kill * 15));
            // The process may already have ended.
            let _ = child.kill();
            child.wait().unwrap();
        }
        let run = folder.run(&command);
        assert_eq!(run.status, 0, "{action:?} {run:#?}");
        let found: Vec<_> = files(folder.path())
            .into_iter()
            .filter(|(name, _)| !name.starts_with(".fpdb") && !name.contains("report") && !name.ends_with(".log"))
            .collect();
        let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "{action:?}");
        assert!(found == expected, "{action:?}: other bytes");
    }
}
