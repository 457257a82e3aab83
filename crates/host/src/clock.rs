//! The wall clock, in the form that the database stores.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time in seconds since the start of 1970; negative for earlier times.
pub fn now() -> i64 {
    seconds_and_nanoseconds(SystemTime::now()).0
}

/// Converts a time to whole seconds since the start of 1970 and the nanoseconds after them.
pub fn seconds_and_nanoseconds(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).unwrap_or(i64::MAX), after.subsec_nanos()),
        Err(error) => {
            let before = error.duration();
            let seconds = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            match before.subsec_nanos() {
                0 => (-seconds, 0),
                nanoseconds => (-seconds - 1, 1_000_000_000 - nanoseconds),
            }
        }
    }
}
