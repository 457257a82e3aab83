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

/// True for a time in seconds since 1970 that can be written as a date, with a year of four digits.
pub fn is_in_calendar(seconds: i64) -> bool {
    jiff::Timestamp::from_second(seconds).is_ok()
}

/// The time that a text states, in seconds since 1970: as ISO 8601, as in the head of a mail, or in the 14
/// digits of an ARC archive. It is in UTC unless the text has an offset.
pub fn seconds_of(text: &str) -> Option<i64> {
    let timestamp = text.parse::<jiff::Timestamp>().or_else(|_| {
        let of_mail = || {
            let parse = |text: &str| jiff::fmt::rfc2822::parse(text).map(|zoned| zoned.timestamp());
            parse(text).or_else(|_| parse(&format!("{text} +0000")))
        };
        let local = text.parse().or_else(|_| jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text));
        let utc = |local: jiff::civil::DateTime| Ok(local.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp());
        local.and_then(utc).or_else(|_| of_mail())
    });
    timestamp.ok().map(|timestamp| timestamp.as_second())
}

/// The time in the field `date` of a document's metadata, in seconds since 1970. It tells more than the time
/// of a file, which may be that of a download. If no field has exactly this name, a field counts whose name
/// differs only in case.
pub fn date_of<'a>(metadata: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<i64> {
    let exact = metadata.clone().find(|(name, _)| *name == "date");
    let (_, date) = exact.or_else(|| metadata.clone().find(|(name, _)| name.eq_ignore_ascii_case("date")))?;
    seconds_of(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_state_times() {
        let dates =
            ["2022-03-01T23:30:00Z", "2022-03-01 23:30:00", "20220301233000", "Tue, 01 Mar 2022 23:30:00 +0000"];
        for text in dates.into_iter().chain(["Tue, 01 Mar 2022 23:30:00", "2022-03-02T01:30:00+02:00"]) {
            assert_eq!(seconds_of(text), Some(1_646_177_400), "{text}");
        }
        assert!(["", "yesterday", "2022-13-01"].iter().all(|text| seconds_of(text).is_none()));
        assert!(is_in_calendar(0) && !is_in_calendar(i64::MAX));
    }
}
