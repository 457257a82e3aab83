//! Memory: how much the machine has, or the container it plays.

use std::fs;

/// What is assumed where the system does not tell.
const UNKNOWN: u64 = 4 << 30;

/// Bytes of memory this process may use: the smaller of the machine's and its control group's.
pub(crate) fn of_machine() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text)).unwrap_or(UNKNOWN);
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok())
        .min();
    group.map_or(machine, |group: u64| group.min(machine))
}

/// The total of `/proc/meminfo`, which counts in units of 1,024 bytes.
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
}
