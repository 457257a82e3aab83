//! Prints the result of an assembly for people.

use fpdb::staging::Assembly;

use super::numbers::{count, size};

/// The documents that were added, and the files that hold them.
pub(super) fn assembly_page(assembly: &Assembly) -> String {
    let Assembly { documents, added, unchanged, replaced, failures, files, file_bytes, fingerprints, seconds, .. } =
        assembly;
    let mut page = format!("{} assembled: {added} added", count(*documents, "document"));
    for (number, what) in [(unchanged, "unchanged"), (replaced, "replaced"), (failures, "not read by the build")] {
        if *number > 0 {
            page += &format!(", {number} {what}");
        }
    }
    let (files, bytes) = (count(*files, "file"), size(*file_bytes));
    page + &format!("\n{fingerprints} fingerprints in {files} of {bytes}, in {seconds:.1} s\n")
}
