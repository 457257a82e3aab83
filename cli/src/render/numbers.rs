//! Numbers: formats counts, shares, sizes and times for people.

use bytesize::ByteSize;
use indicatif::HumanCount;

/// A number with commas: 12,345.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things. The noun is in the plural unless the number is 1.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// The verb after a number of things: "is" or "are".
pub(crate) fn is(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// "was" or "were".
pub(crate) fn was(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// "has" or "have".
pub(crate) fn has(number: u64) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// States that attachments of mails were not read, and the remedy, if any.
pub(crate) fn attachments_left_out(attachments: u64, way_out: &str) -> String {
    format!("{} of mails {} not read{way_out}", count(attachments, "attachment"), was(attachments))
}

/// A share of 1 as a percentage. A share above 0 is never shown as 0%, and a share below 1 never as 100%.
pub(crate) fn percent(share: f64) -> String {
    match share {
        _ if share > 0.0 && share < 0.0005 => "<0.1%".to_owned(),
        _ if share < 1.0 => format!("{:.1}%", share.min(0.999) * 100.0),
        _ => format!("{:.1}%", share * 100.0),
    }
}

/// A number of bytes, in the largest unit that gives a value of at least 1.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < bytesize::KIB { count(bytes, "byte") } else { ByteSize(bytes).display().iec().to_string() }
}

/// A duration in its two largest units.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A time in seconds since 1970, in UTC.
pub(crate) fn moment(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!([0.0, 0.000_01, 0.000_49, 0.0005, 0.5].map(percent), ["0.0%", "<0.1%", "<0.1%", "0.1%", "50.0%"]);
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(1, "document"), "1 document");
        assert_eq!(size(1023), "1,023 bytes");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(u64::MAX), "16.0 EiB");
        assert_eq!([0.596, 0.9994, 0.999_95, 1.0].map(percent), ["59.6%", "99.9%", "99.9%", "100.0%"]);
        let times = [-2_111_529_600, 0, 1_795_687_814].map(moment);
        assert_eq!(times, ["1903-02-03T00:00:00Z", "1970-01-01T00:00:00Z", "2026-11-26T10:10:14Z"]);
        assert_eq!([59.9, 61.0, 7260.0].map(duration), ["59 s", "1 min 1 s", "2 h 1 min"]);
    }
}
