//! Free space: the bytes that a disk has room for.

use std::path::Path;

/// Free bytes on the disk of a path, which need not exist yet. `None` if the system does not report them.
#[must_use]
pub fn free_bytes(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    let disk = path.ancestors().find_map(|place| rustix::fs::statvfs(place).ok())?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_there_yet_has_the_disk_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).is_some());
        assert!(free_bytes(&folder.path().join("a/b")).is_some());
        assert!(free_bytes(Path::new("none")).is_some());
    }
}
