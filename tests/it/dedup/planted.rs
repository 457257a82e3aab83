//! An archive of all kinds of near-copies, generated and judged by `tools/compare/dedup/planted.py`.

use std::path::Path;
use std::process::Command;

use crate::support::Folder;

#[test]
fn every_planted_copy_goes_and_nothing_else() {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tools/compare/dedup/planted.py");
    for (profile, seed) in [("prose", "7"), ("words", "8")] {
        let folder = Folder::new();
        let output = Command::new("python3")
            .arg(&script)
            .args(["run", "3000", "--words", "120", "--profile", profile, "--seed", seed, "--fpdb"])
            .arg(env!("CARGO_BIN_EXE_fpdb"))
            .arg("--work")
            .arg(folder.path())
            .output();
        match output {
            Ok(output) => assert!(output.status.success(), "{profile}: {}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => return eprintln!("skipped: no python3 ({error})"),
        }
    }
}
