//! Prints the result of an assembly for people.

use fpdb::staging::Assembly;

use super::numbers::{count, grouped, size};

/// The documents that were added, and the files that hold them.
pub(super) fn assembly_page(assembly: &Assembly) -> String {
    let Assembly { documents, added, unchanged, replaced, kept_out, removed, failures, .. } = assembly;
    let Assembly { files, file_bytes, fingerprints, seconds, .. } = assembly;
    let mut page = format!("{} assembled: {} added", count(*documents, "document"), grouped(*added));
    let others = [
        (unchanged, "unchanged"),
        (replaced, "replaced"),
        (kept_out, "kept out"),
        (failures, "not read by the build"),
        (removed, "removed"),
    ];
    for (number, what) in others {
        if *number > 0 {
            page += &format!(", {} {what}", grouped(*number));
        }
    }
    let (files, bytes) = (count(*files, "file"), size(*file_bytes));
    let fingerprints = count(*fingerprints, "fingerprint");
    page + &format!("\n{fingerprints} in {files} of {bytes}, in {seconds:.1} s\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_written_one_way() {
        let mut assembly: Assembly = serde_json::from_value(serde_json::json!({
            "schema": "fpdb.assemble/1", "generation": "0", "documents": 9999, "added": 9999, "unchanged": 0,
            "replaced": 0, "failures": 1234, "failed": [], "bytes": 0, "symbols": 0, "files": 2, "file_bytes": 2048, "fingerprints": 1_000_000, "seconds": 1.0
        }))
        .unwrap();
        let page = "9,999 documents assembled: 9,999 added, 1,234 not read by the build\n\
                    1,000,000 fingerprints in 2 files of 2.0 KiB, in 1.0 s\n";
        assert_eq!(assembly_page(&assembly), page);
        (assembly.added, assembly.kept_out, assembly.removed) = (9997, 2, 1);
        let page = page.replace("9,999 added", "9,997 added, 2 kept out").replace("build\n", "build, 1 removed\n");
        assert_eq!(assembly_page(&assembly), page);
    }
}
