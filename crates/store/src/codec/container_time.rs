//! Container time: the time of a container's last change, and what it proves.

use super::container_record::ContainerRecord;

/// Times before this one prove nothing. No file has such a time.
const UNPROVEN_BEFORE: i64 = i64::MIN / 2;

impl ContainerRecord {
    /// The time to record for a container that the next ingest must read again even if its file is unchanged.
    #[must_use]
    pub fn unproven((seconds, nanoseconds): (i64, u32)) -> (i64, u32) {
        let is_proven = seconds >= UNPROVEN_BEFORE;
        (if is_proven { i64::MIN + seconds.clamp(1, i64::MAX / 2) } else { seconds }, nanoseconds)
    }

    /// The time of the container's last change, and true if it proves the contents. `None` if the time is not
    /// known.
    #[must_use]
    pub fn time(&self) -> Option<((i64, u32), bool)> {
        let (seconds, nanoseconds) = self.modified;
        let is_proven = seconds >= UNPROVEN_BEFORE;
        let time = if is_proven { seconds } else { seconds - i64::MIN };
        (is_proven || time > 0).then_some(((time, nanoseconds), is_proven))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_proves_nothing_is_no_time_of_a_file() {
        let of = |modified| ContainerRecord { modified, ..ContainerRecord::UNREAD };
        for seconds in [0, 1, 1_700_000_000, i64::MAX, -5] {
            let unproven = ContainerRecord::unproven((seconds, 7));
            assert_eq!(ContainerRecord::unproven(unproven), unproven);
            let (time, is_proven) = of(unproven).time().unwrap();
            assert!(!is_proven && (time == (seconds, 7) || !(1..=i64::MAX / 2).contains(&seconds)), "{time:?}");
            assert_eq!(of((seconds, 7)).time(), Some(((seconds, 7), true)));
        }
        assert_eq!(ContainerRecord::unproven(ContainerRecord::UNREAD.modified), ContainerRecord::UNREAD.modified);
        assert_eq!(ContainerRecord::UNREAD.time(), None);
    }
}
