//! Memory: the bytes that the machine has, or that the control groups of the process allow.
//!
//! Rejected: the crate `sysinfo`. One number from three files is needed, and the crate also covers processes,
//! disks and networks.

use std::fs;
use std::path::Path;

/// Bytes assumed if the system does not report any.
const UNKNOWN: u64 = 4 << 30;

/// Bytes of memory that this process may use. This is the memory of the machine, or the lowest limit of its
/// control groups if that is less.
pub fn of_machine() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text)).unwrap_or(UNKNOWN);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limit_of(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |limit| limit.min(machine))
}

/// The lowest limit of the control groups in `/proc/self/cgroup` and their parents, in either version of
/// control groups.
fn limit_of(groups: &str, mount: &Path) -> Option<u64> {
    let memory_group = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (top, file) = match controllers {
            "" => (mount.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                (mount.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = top.join(path.trim_start_matches('/'));
        let within = group.ancestors().take_while(|group| group.starts_with(&top));
        within.filter_map(|group| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok()).min()
    };
    groups.lines().filter_map(memory_group).min()
}

/// The total in `/proc/meminfo`, which counts in units of 1,024 bytes. Returns bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        assert_eq!(total_of("MemTotal:       24675896 kB\nMemFree: 1 kB\n"), Some(24_675_896 * 1024));
        assert_eq!(total_of("nothing of the kind"), None);
        assert!(of_machine() > 0);
    }

    #[test]
    fn the_least_limit_of_nested_groups_counts() {
        let mount = tempfile::tempdir().unwrap();
        let group = mount.path().join("outer/inner");
        let old = mount.path().join("memory/outer");
        fs::create_dir_all(&group).unwrap();
        fs::create_dir_all(&old).unwrap();
        let limit = |groups: &str| limit_of(groups, mount.path());
        assert_eq!(limit("0::/outer/inner\n"), None);
        fs::write(group.join("memory.max"), "max\n").unwrap();
        assert_eq!(limit("0::/outer/inner\n"), None);
        fs::write(mount.path().join("outer/memory.max"), "3000\n").unwrap();
        assert_eq!(limit("0::/outer/inner\n"), Some(3000));
        fs::write(group.join("memory.max"), "2000\n").unwrap();
        assert_eq!(limit("0::/outer/inner\n"), Some(2000));
        assert_eq!(limit("0::/outer\n"), Some(3000));
        // A container sees its own group at the mount point. The path reported to it may not exist there.
        fs::write(mount.path().join("memory.max"), "1000\n").unwrap();
        assert_eq!(limit("0::/elsewhere/far\n"), Some(1000));
        fs::write(old.join("memory.limit_in_bytes"), "500\n").unwrap();
        assert_eq!(limit("4:cpu,memory:/outer\n3:pids:/\n"), Some(500));
    }
}
