//! Clock: reads the wall clock, and the times that texts state, as seconds since 1970.

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

/// The time that a text states, in seconds since 1970. The text may have the form of ISO 8601, of a mail
/// header, of `asctime`, or of the 14 digits in an ARC archive. The time is in UTC unless the text has an
/// offset.
pub fn seconds_of(text: &str) -> Option<i64> {
    Some(time_in(text)?.timestamp().as_second())
}

/// The time that a text states, in the form of RFC 3339, with the offset of the text. Reads the same forms as
/// [`seconds_of`].
pub fn rfc3339_of(text: &str) -> Option<String> {
    let time = time_in(text)?;
    let local = time.strftime("%Y-%m-%dT%H:%M:%S");
    Some(if time.offset().is_zero() { format!("{local}Z") } else { format!("{local}{}", time.strftime("%:z")) })
}

pub(crate) fn time_in(text: &str) -> Option<jiff::Zoned> {
    let text = text.trim();
    let in_mail = || of_mail(&with_short_months(text));
    let time = of_iso(text).or_else(|| of_digits(text)).or_else(in_mail);
    let time = time.or_else(|| of_mail(&asctime_as_in_mail(text)?));
    // RFC 3339 has no offset of a day or more.
    time.filter(|time| time.offset().seconds().unsigned_abs() < 24 * 60 * 60)
}

fn of_iso(text: &str) -> Option<jiff::Zoned> {
    let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset().unwrap_or(jiff::tz::Offset::UTC);
    pieces.date().to_datetime(pieces.time().unwrap_or_default()).to_zoned(offset.to_time_zone()).ok()
}

fn of_digits(text: &str) -> Option<jiff::Zoned> {
    let local = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
    local.to_zoned(jiff::tz::TimeZone::UTC).ok()
}

fn of_mail(text: &str) -> Option<jiff::Zoned> {
    // Some programs write a wrong weekday.
    let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    parser.parse_zoned(text).or_else(|_| parser.parse_zoned(format!("{text} +0000"))).ok()
}

/// Replaces the full names of months: `March` becomes `Mar`.
fn with_short_months(text: &str) -> String {
    const MONTHS: [&str; 11] = [
        "January",
        "February",
        "March",
        "April",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let short = |word: &'_ str| MONTHS.iter().find(|month| month.eq_ignore_ascii_case(word)).map(|month| &month[..3]);
    let words: Vec<&str> = text.split_ascii_whitespace().map(|word| short(word).unwrap_or(word)).collect();
    words.join(" ")
}

/// Puts the parts of a time like `Wed Mar  3 10:00:00 2021` into the order of a mail header. A time zone may
/// stand before or after the year.
fn asctime_as_in_mail(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let (month, day, time, year, zone) = match words[..] {
        [_, month, day, time, year] => (month, day, time, year, ""),
        [_, month, day, time, year, zone] if year.len() == 4 && !year.starts_with(['+', '-']) => {
            (month, day, time, year, zone)
        }
        [_, month, day, time, zone, year] => (month, day, time, year, zone),
        _ => return None,
    };
    Some(format!("{day} {month} {year} {time} {zone}").trim_end().to_owned())
}

/// The time in the field `date` of a document's metadata, in seconds since 1970. This date is preferred to
/// the time of the file, which may be the time of a download. If no field has exactly this name, a field
/// counts if its name differs only in case.
pub fn date_of<'a>(metadata: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<i64> {
    let exact = metadata.clone().find(|(name, _)| *name == "date");
    let (_, date) = exact.or_else(|| metadata.clone().find(|(name, _)| name.eq_ignore_ascii_case("date")))?;
    seconds_of(date)
}

/// The source of the [time of a document](DocumentTime). A date in the metadata comes first, because the time
/// of a file may be that of a copy or of a whole mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeSource {
    /// The date in its metadata.
    Date,
    /// The last change of its file, or of the member of an archive.
    File,
    /// Its ingest.
    Ingest,
}

/// The time of a document. All orders by age, such as those of `query --sort oldest` and `dedup --keep
/// oldest`, are by source, then by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentTime {
    /// The source of the time.
    pub source: TimeSource,
    /// Seconds since 1970, and the nanoseconds after them.
    pub time: (i64, u32),
}

impl DocumentTime {
    /// The time of a document with this metadata, whose file was changed at this time. `None` if neither is
    /// known.
    pub fn of<'a>(
        metadata: impl Iterator<Item = (&'a str, &'a str)> + Clone,
        modified: Option<(i64, u32)>,
    ) -> Option<Self> {
        let dated = date_of(metadata).map(|seconds| Self { source: TimeSource::Date, time: (seconds, 0) });
        dated.or(modified.map(|time| Self { source: TimeSource::File, time }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_state_times() {
        for (text, in_form) in [
            ("2022-03-01T23:30:00Z", "2022-03-01T23:30:00Z"),
            ("2022-03-01 23:30:00", "2022-03-01T23:30:00Z"),
            ("20220301233000", "2022-03-01T23:30:00Z"),
            ("Tue, 01 Mar 2022 23:30:00 +0000", "2022-03-01T23:30:00Z"),
            ("Tue, 01 Mar 2022 23:30:00", "2022-03-01T23:30:00Z"),
            ("Mon, 1 Mar 2022 23:30 GMT", "2022-03-01T23:30:00Z"),
            ("1 March 2022 23:30:00 UTC", "2022-03-01T23:30:00Z"),
            ("1 Mar 2022 18:30 EST", "2022-03-01T18:30:00-05:00"),
            ("2022-03-02T01:30:00+02:00", "2022-03-02T01:30:00+02:00"),
            ("Tue Mar  1 23:30:00 2022", "2022-03-01T23:30:00Z"),
            ("Tue Mar  1 18:30:00 EST 2022", "2022-03-01T18:30:00-05:00"),
            ("Tue Mar  1 18:30:00 -0500 2022", "2022-03-01T18:30:00-05:00"),
            ("Tue Mar 01 18:30:00 2022 -0500", "2022-03-01T18:30:00-05:00"),
            (" Wed, 2 Mar 2022 05:00:00 +0530 (IST)\n", "2022-03-02T05:00:00+05:30"),
        ] {
            assert_eq!(seconds_of(text), Some(1_646_177_400), "{text}");
            assert_eq!(rfc3339_of(text).as_deref(), Some(in_form), "{text}");
        }
        assert_eq!(rfc3339_of("2022-03-01").as_deref(), Some("2022-03-01T00:00:00Z"));
        assert_eq!(seconds_of("20220301"), seconds_of("2022-03-01"));
        assert!(
            ["", "yesterday", "2022-13-01", "Tue Mar 1 2022", "Tue Foo  1 23:30:00 2022", "1 Mar 2022 23:30:00 +2400"]
                .iter()
                .all(|text| seconds_of(text).is_none())
        );
        assert!(is_in_calendar(0) && !is_in_calendar(i64::MAX));
    }
}
