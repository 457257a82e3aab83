//! Dates: compares texts with a bound, which may be a date in the form of ISO 8601.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::clock::time_in;

/// True if a text is a year, a month, a day, or a day with a time (maybe with an offset), in this form.
pub fn is_date(text: &str) -> bool {
    begins_as_date(text) && (completed(text).is_some_and(|text| time_in(&text).is_some()) || moment_of(text).is_some())
}

/// The order of a text relative to a bound. A text that begins with the bound is equal to it: a time on a day
/// is equal to the day. If the bound is a date, a text that is no date has no order (`None`). If the bound
/// has an offset, moments are compared. Otherwise the bound is compared with the text's date in UTC.
pub fn order(text: &str, bound: &str) -> Option<Ordering> {
    if !is_date(bound) {
        return Some(order_of_texts(text, bound));
    }
    if !(is_date(text) || begins_as_date(text) && time_in(text).is_some()) {
        return None;
    }
    if let Some(bound) = moment_of(bound) {
        let time = time_in(&completed(text).unwrap_or(Cow::Borrowed(text)))?;
        return Some(time.timestamp().cmp(&bound));
    }
    let time = if text.len() > DAY { time_in(text) } else { None };
    let in_utc = time.map_or(Cow::Borrowed(text), |time| Cow::Owned(time.timestamp().to_string()));
    Some(order_of_texts(&in_utc, &bound.replacen(' ', "T", 1)))
}

/// The earliest time of a year. `completed` appends the end of this text to a date that has one of these
/// lengths.
const EARLIEST: &str = "0000-01-01T00:00:00";
const LENGTHS: [usize; 6] = [4, 7, DAY, 13, 16, 19];
const DAY: usize = 10;

/// The order of a text relative to a bound. A text that begins with the bound is equal to it.
fn order_of_texts(text: &str, bound: &str) -> Ordering {
    if text.starts_with(bound) { Ordering::Equal } else { text.cmp(bound) }
}

/// True for a year of four digits, followed by `-` or nothing.
fn begins_as_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 4 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes.get(4).is_none_or(|&byte| byte == b'-')
}

/// Completes a date, or a time without an offset, to the earliest second that it can mean. `None` for any
/// other text.
fn completed(text: &str) -> Option<Cow<'_, str>> {
    let fits = |(byte, form): (u8, u8)| match form {
        b'0'..=b'9' => byte.is_ascii_digit(),
        b'T' => byte == b'T' || byte == b' ',
        _ => byte == form,
    };
    let is_beginning = LENGTHS.contains(&text.len()) && text.bytes().zip(EARLIEST.bytes()).all(fits);
    is_beginning.then(|| Cow::Owned(format!("{text}{}", &EARLIEST[text.len()..])))
}

/// The time that a text states, if the text has an offset.
fn moment_of(text: &str) -> Option<jiff::Timestamp> {
    let has_offset = jiff::fmt::temporal::Pieces::parse(text).ok()?.to_numeric_offset().is_some();
    has_offset.then(|| time_in(text)).flatten().map(|time| time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_other_texts() {
        for text in [
            "2021",
            "2021-03",
            "2021-03-04",
            "2021-03-04T10",
            "2021-03-04 10:00",
            "2021-03-04T10:00:00",
            "2021-03-04T10:00:00Z",
            "2021-03-04T10:00+01:00",
            "2021-03-04T10:00:00.5-0500",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "202",
            "20210",
            "20210304",
            "2021-",
            "2021-3",
            "2021-13",
            "2021-02-30",
            "2021-03-04T1",
            "2021-03-04T1000",
        ] {
            assert!(!is_date(text), "{text}");
        }
        for text in ["31.12.2020", "soon", "Wed, 3 Mar 2021 10:00:00 +0000", "2021/03/04", "2021-ü"] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn dates_have_the_order_of_time() {
        use Ordering::{Equal, Greater, Less};
        for (text, bound, expected) in [
            ("2021-03-03T20:00:00-05:00", "2021-03-04T00:30Z", Some(Greater)),
            ("2021-03-04T00:30:00Z", "2021-03-03T20:00-05:00", Some(Less)),
            ("2021-03-04T01:00:00Z", "2021-03-03T20:00-05:00", Some(Equal)),
            ("2021-03-04T01:00:00.5Z", "2021-03-04T01:00:00Z", Some(Greater)),
            ("2021-03-03T20:00:00-05:00", "2021-03-04", Some(Equal)),
            ("2021-03-03T20:00:00-05:00", "2021-03-04T01", Some(Equal)),
            ("2021-03-03T20:00:00-05:00", "2021-03-04 02:00", Some(Less)),
            ("2021-01-01T00:30:00+01:00", "2021", Some(Less)),
            ("2021-03-04", "2021-03-04T00:00:00Z", Some(Equal)),
            ("2021", "2021-03-04T00:00:00Z", Some(Less)),
            ("2021-03", "2021", Some(Equal)),
            ("2021", "2021-03", Some(Less)),
            ("yesterday at noon", "2020-12-31", None),
            ("Wed, 3 Mar 2021 10:00:00 +0000", "2022", None),
            ("20210304", "2021", None),
            ("2021-3-4", "2021-03-05", None),
            ("2021-13-01", "2021", None),
            ("2021-03-04T10:00:00.5", "2021-03-04", Some(Equal)),
            ("2021-99", "2021-03-04T00:00:00Z", None),
            ("m", "k", Some(Greater)),
            ("keep", "k", Some(Equal)),
            ("2021-03-04", "31.12.2020", Some(Less)),
            ("B200", "1000-A", Some(Greater)),
            ("1000-B", "1000-A", Some(Greater)),
            ("2021-03-04", "2021-3", Some(Less)),
        ] {
            assert_eq!(order(text, bound), expected, "{text} {bound}");
        }
    }
}
