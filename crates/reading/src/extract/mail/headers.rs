//! Headers: the headers of a mail that are kept as metadata.

use std::borrow::Cow;

use mail_parser::{DateTime, HeaderValue, Message, MessageParser};

use super::{charset, emlx};
use fpdb_host::clock::{rfc3339_of, seconds_of, utc_seconds};

/// The headers that state a date.
const DATES: [&str; 2] = ["date", "resent-date"];

/// The `wanted` headers of a message: the names as in `wanted`, and the decoded values. The case of a name
/// does not matter. Dates that [`rfc3339_of`] reads are written as in RFC 3339. If the header `Date` is
/// missing or unreadable, the date is that of the latest header `Received`. If another header is repeated,
/// the last one counts.
pub(in crate::extract) fn headers(bytes: &[u8], wanted: &[&str]) -> Vec<(String, String)> {
    let bytes = in_utf8(emlx::mail_in(bytes));
    let Some(message) = MessageParser::default().parse_headers(&*bytes) else { return Vec::new() };
    let received = |name: &str| {
        let found = message.headers().iter().filter_map(|header| {
            let received = header.value.as_received()?;
            let raw = bytes.get(header.offset_start as usize..header.offset_end as usize)?;
            let (_, date) = str::from_utf8(raw).ok()?.rsplit_once(';')?;
            let date = time_of(date, received.date.as_ref())?;
            Some((seconds_of(&date)?, date))
        });
        let latest = found.max_by_key(|(seconds, _)| *seconds).filter(|_| name.eq_ignore_ascii_case("date"));
        latest.map(|(_, date)| date)
    };
    let value = |name: &str| match message.header(name)? {
        HeaderValue::Text(text) => Some(text.to_string()),
        HeaderValue::TextList(texts) => Some(texts.join(", ")),
        HeaderValue::Address(addresses) => Some(
            addresses
                .iter()
                .map(|one| match (&one.name, &one.address) {
                    (Some(name), Some(address)) => format!("{name} <{address}>"),
                    (name, address) => name.as_ref().or(address.as_ref()).map(ToString::to_string).unwrap_or_default(),
                })
                .collect::<Vec<_>>()
                .join(", "),
        ),
        _ => message.header_raw(name).map(|raw| raw.trim().to_owned()),
    };
    let date = |name: &str| {
        let header = message.header(name)?;
        let raw = message.header_raw(name).unwrap_or_default();
        let is_date = DATES.iter().any(|date| name.eq_ignore_ascii_case(date));
        is_date.then(|| time_of(raw, header.as_datetime())).flatten()
    };
    let found = |name: &str| date(name).or_else(|| received(name)).or_else(|| value(name));
    let kept = wanted.iter().filter_map(|name| Some(((*name).to_owned(), found(name)?)));
    kept.filter(|(_, value)| !value.is_empty()).collect()
}

/// The subject of a message, in which raw bytes above 127 are decoded too.
pub(super) fn subject<'a>(message: &'a Message<'_>) -> Cow<'a, str> {
    let subject = message.subject().unwrap_or_default();
    if !subject.contains(char::REPLACEMENT_CHARACTER) {
        return subject.into();
    }
    let begin = message.parts.first().map_or(0, |root| root.offset_header as usize);
    let head = in_utf8(message.raw_message.get(begin..).unwrap_or_default());
    let decoded = MessageParser::default().parse_headers(&*head);
    decoded.and_then(|message| message.subject().map(str::to_owned)).map_or(subject.into(), Cow::Owned)
}

/// The headers that `bytes` begin with, in UTF-8, with the blank line after them. If the headers are UTF-8
/// already, returns all of `bytes`. Lines in UTF-8 stay as they are. All other lines have one encoding, which
/// is detected.
fn in_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    // The library skips blank lines before the first header.
    let lines = || {
        let is_blank = |line: &&[u8]| line.trim_ascii().is_empty();
        bytes.split_inclusive(|&byte| byte == b'\n').skip_while(is_blank).take_while(move |line| !is_blank(line))
    };
    let foreign: Vec<&[u8]> = lines().filter(|line| str::from_utf8(line).is_err()).collect();
    if foreign.is_empty() {
        return bytes.into();
    }
    let encoding = charset::encoding(&foreign.concat());
    let mut decoded = String::new();
    for line in lines() {
        decoded.push_str(
            &str::from_utf8(line).map_or_else(|_| encoding.decode_without_bom_handling(line).0, Cow::Borrowed),
        );
    }
    decoded.push('\n');
    decoded.into_bytes().into()
}

/// The time that the text of a date states, as in RFC 3339. `found` is the time that the library read from
/// the text, for forms that [`rfc3339_of`] does not read.
fn time_of(text: &str, found: Option<&DateTime>) -> Option<String> {
    rfc3339_of(text).or_else(|| found.filter(|time| is_stated(time, text)).map(DateTime::to_rfc3339))
}

/// True if `time` exists in the calendar, and `text` has its time of day, its year and its offset. Without
/// this check, wrong times would pass: the library reads words in any order, and reduces impossible numbers
/// to possible ones.
fn is_stated(time: &DateTime, text: &str) -> bool {
    let has = |part: String| text.contains(&part);
    let day = [time.month, time.day, time.hour, time.minute, time.second];
    time.is_valid()
        && utc_seconds(time.year, day).is_some()
        && has(format!("{}:{:02}", time.hour, time.minute))
        && has(format!("{:02}", time.year % 100))
        && offset_in(text).is_none_or(|offset| {
            let offset_found = format!("{:02}{:02}", time.tz_hour, time.tz_minute);
            offset == offset_found || offset.strip_suffix(&offset_found[2..]) == Some(&format!("{:02}:", time.tz_hour))
        })
}

/// The digits and colons after the last `+` or `-` before any comment.
fn offset_in(text: &str) -> Option<&str> {
    let text = text.split('(').next()?;
    let digits = &text[text.rfind(['+', '-'])? + 1..];
    let end = digits.find(|character: char| !character.is_ascii_digit() && character != ':');
    Some(&digits[..end.unwrap_or(digits.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_kept_as_text() {
        let mail = "From: =?utf-8?q?J=C3=BCrgen?= <j@x.org>, b@x.org\nsubject: =?iso-8859-1?q?Gr=FC=DFe?= an\n alle\nDate: Mon, 1 Mar \
                    1999 12:00:00 +0100\nMessage-ID: <1@x>\nX-Spam: no\nBcc:\n\nSubject: of the text";
        let wanted = ["from", "Subject", "date", "message-id", "x-spam", "bcc", "to"];
        let kept = headers(mail.as_bytes(), &wanted);
        let expected = [
            ("from", "J\u{fc}rgen <j@x.org>, b@x.org"),
            ("Subject", "Gr\u{fc}\u{df}e an alle"),
            ("date", "1999-03-01T12:00:00+01:00"),
            ("message-id", "1@x"),
            ("x-spam", "no"),
        ];
        assert_eq!(kept, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(headers(b"", &wanted).is_empty());
    }

    #[test]
    fn a_date_is_kept_in_one_form() {
        for given in [
            "Wed, 3 Mar 2021 10:00:00 +0000",
            "3 Mar 2021 05:00 EST",
            "Wed, 3 Mar 2021 10:00:00",
            "Wed, 3 Mar 2021 10:00",
            "2021-03-03 10:00:00",
            "2021-03-03T10:00:00Z",
            "Wed Mar  3 10:00:00 2021",
            "Wed Mar  3 05:00:00 EST 2021",
            "Wed Mar  3 11:00:00 2021 +0100",
            "Wednesday, 3 Mar 2021 10:00:00 GMT",
            "Wed, 3 Mar 21 10:00:00 +0000",
            "Wed, 3 March 2021 10:00:00 +0000",
            "Thu, 03 Mar 2021 10:00:00 UTC",
        ] {
            for name in ["Date", "Resent-Date"] {
                let kept = headers(format!("{name}: {given}\nFrom: a@x\n\ntext").as_bytes(), &[name]);
                assert!(kept[0].1.starts_with("2021-03-03T"), "{given}: {kept:?}");
                assert_eq!(fpdb_host::clock::seconds_of(&kept[0].1), Some(1_614_765_600), "{given}: {kept:?}");
            }
        }
    }

    #[test]
    fn an_unreadable_date_is_that_of_the_latest_received_header() {
        let hop = |time: &str| format!("Received: from a.org by b.org with SMTP; {time}\n");
        let late = hop("Mon, 1 Mar 1999 13:30:00 +0100");
        let early = hop("Mon, 1 Mar 1999 12:20:00 +0000");
        let date = |head: &str| {
            let kept = headers(format!("{head}From: a@x\n\ntext").as_bytes(), &["Date"]);
            kept.into_iter().next().map(|(_, value)| value)
        };
        for given in ["Date: yesterday\n", "Date: Mar 1 11:00 1999\n", "Date: Mon Mar 40 12:00:00 1999 +0100\n", ""] {
            for hops in [format!("{late}{early}"), format!("{early}{late}")] {
                let found = date(&format!("{hops}{given}"));
                assert_eq!(found.as_deref(), Some("1999-03-01T13:30:00+01:00"), "{given}{hops}");
            }
        }
        assert_eq!(
            date(&format!("{late}Date: Sun, 28 Feb 1999 01:00:00 GMT\n")).as_deref(),
            Some("1999-02-28T01:00:00Z")
        );
        assert_eq!(date("Date: yesterday\n").as_deref(), Some("yesterday"));
        assert_eq!(date(""), None);
    }

    #[test]
    fn a_date_with_an_impossible_offset_or_day_is_unreadable() {
        let date = |head: &str| {
            let kept = headers(format!("{head}From: a@x\n\ntext").as_bytes(), &["Date"]);
            kept.into_iter().next().map(|(_, value)| value).unwrap_or_default()
        };
        let impossible = [
            "Mon, 1 Mar 2021 12:30:00 +9999",
            "Mon, 1 Mar 2021 12:30:00 -9900",
            "Mon, 1 Mar 2021 12:30:00 +0575",
            "Mon, 1 Mar 2021 12:30:00 +10000",
            "Mon, 1 Mar 2021 12:30:00 +100",
            "Mon, 1 Mar 2021 12:30:00 +2400",
            "Mon, 1 Mar 2021 12:30:00 GMT+0100",
            "Sun, 31 Feb 2021 12:30:00 +0000",
            "29 Feb 2021 12:30:00 GMT",
        ];
        for given in impossible {
            assert_eq!(date(&format!("Date: {given}\n")), given);
            let hop = |time: &str| format!("Received: from a.org by b-c.org (x; y) with SMTP; {time}\n");
            let real = hop("Tue, 2 Mar 2021 09:00:00 -0500 (EST)");
            assert_eq!(date(&format!("{real}Date: {given}\n")), "2021-03-02T09:00:00-05:00", "{given}");
            // In a header `Received` it is as unreadable.
            let hops = format!("{}{real}", hop(given));
            assert_eq!(date(&format!("{hops}Date: soon\n")), "2021-03-02T09:00:00-05:00", "{given}");
            assert_eq!(date(&format!("{}Date: soon\n", hop(given))), "soon", "{given}");
        }
        // Forms that only the library reads.
        for (given, kept) in [
            ("Monday, 1 Mar 2021 12:30:00 +05:30", "2021-03-01T12:30:00+05:30"),
            ("Monday, 1 Mar 2021 12:30:00 -0500 (a-b)", "2021-03-01T12:30:00-05:00"),
            ("Mon, 1 Mar 2021 12:30:00 CET", "2021-03-01T12:30:00Z"),
        ] {
            assert_eq!(date(&format!("Date: {given}\n")), kept);
        }
    }
}
