//! The wall clock, and times in texts, in the form that the database stores.

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

/// The seconds since 1970 at this time in UTC: the year, then month, day, hour, minute and second. `None` if
/// there is no such time.
pub fn utc_seconds(year: u16, [month, day, hour, minute, second]: [u8; 5]) -> Option<i64> {
    let [month, day, hour, minute, second] = [month, day, hour, minute, second].map(u8::cast_signed);
    let time = jiff::civil::DateTime::new(year.cast_signed(), month, day, hour, minute, second, 0).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

/// The time that a text states, in seconds since 1970: as ISO 8601, as in the head of a mail, or in the 14
/// digits of an ARC archive. It is in UTC unless the text has an offset.
pub fn seconds_of(text: &str) -> Option<i64> {
    let timestamp = text.parse::<jiff::Timestamp>().or_else(|_| {
        let of_mail = || jiff::fmt::rfc2822::parse(text).map(|zoned| zoned.timestamp());
        let local = text.parse().or_else(|_| jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text));
        let utc = |local: jiff::civil::DateTime| Ok(local.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp());
        local.and_then(utc).or_else(|_| of_mail())
    });
    timestamp.ok().map(|timestamp| timestamp.as_second())
}

/// The time that a document's metadata state as its `date`, in seconds since 1970. It tells more than the
/// time of a file, which may be that of a download. A name of other case is taken if none is spelled so.
pub fn date_of<'a>(metadata: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<i64> {
    let exact = metadata.clone().find(|(name, _)| *name == "date");
    let (_, date) = exact.or_else(|| metadata.clone().find(|(name, _)| name.eq_ignore_ascii_case("date")))?;
    seconds_of(date)
}
