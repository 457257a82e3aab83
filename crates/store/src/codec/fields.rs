//! Fields: chooses documents by their metadata.

use std::cmp::Ordering;

use fpdb_host::dates;
use fpdb_host::error::{Error, Result};

use super::records::DocumentRecord;

/// Returns a name that [`DocumentRecord::has_field`] takes, without the operator at its end. With the
/// operator
/// `~`, values fit that contain the given one in upper or lower case. With `>`, equal or later values fit.
/// With `<`, equal or earlier values fit. Values are ordered as numbers if the given value is a number, by
/// time if it is a date, and otherwise as text.
#[must_use]
pub fn field_key(name: &str) -> &str {
    name.strip_suffix(['~', '>', '<']).unwrap_or(name)
}

/// Checks a name and value of [`DocumentRecord::has_field`]. A range of the key `date` must have a date as
/// its bound, because no other text has an order among dates.
///
/// # Errors
/// [`Error::InvalidParameter`], which names the expected forms of a date.
pub fn check_field(name: &str, value: &str) -> Result<()> {
    let key = field_key(name);
    if key.eq_ignore_ascii_case("date") && name.ends_with(['>', '<']) && !dates::is_date(value) {
        let expected = "a date as 2021, 2021-03, 2021-03-04 or 2021-03-04T10:00:00Z";
        return Err(Error::InvalidParameter {
            name: "the end of a range of dates",
            value: format!("{value:?}"),
            expected,
        });
    }
    Ok(())
}

impl DocumentRecord {
    /// True if the metadata have this value under this name. If no name in the metadata is spelled exactly
    /// so, names that differ only in case fit, because names of mail headers have no case. An operator at the
    /// end of `name` chooses [other values](field_key). But if the metadata have the whole of `name` as a
    /// name, its end is not an operator. With an operator, nothing fits an empty `value`.
    #[must_use]
    pub fn has_field(&self, name: &str, value: &str) -> bool {
        let is_key = |name: &str| self.metadata.iter().any(|(known, _)| known == name);
        let (key, asks) = if is_key(name) { (name, "") } else { name.split_at(field_key(name).len()) };
        if value.is_empty() && !asks.is_empty() {
            return false;
        }
        let is_exact = is_key(key);
        let order = |found: &str| order(key, found, value);
        self.metadata
            .iter()
            .filter(|(known, _)| if is_exact { known == key } else { known.eq_ignore_ascii_case(key) })
            .any(|(_, found)| match asks {
                "~" => found.to_lowercase().contains(&value.to_lowercase()),
                ">" => order(found).is_some_and(Ordering::is_ge),
                "<" => order(found).is_some_and(Ordering::is_le),
                _ => found == value,
            })
    }
}

/// The order of a value relative to the bound of a range. A bound that is a number has an order with numbers
/// only. But a bound of four digits can also be a year, which has an order with dates too. Under the key
/// `date` four digits are always a year. [`dates::order`] compares other bounds.
fn order(key: &str, found: &str, bound: &str) -> Option<Ordering> {
    let Some(number) = Number::of(bound).filter(|_| !key.eq_ignore_ascii_case("date")) else {
        return dates::order(found, bound);
    };
    let as_number = || Number::of(found).map(|found| found.cmp(&number));
    if !dates::is_date(bound) {
        return as_number();
    }
    // Eight or more digits may be a day without hyphens, or seconds. Neither is comparable with a year as a
    // number.
    let is_number = !is_digits(found) || found.len() < DAY_DIGITS;
    is_number.then(as_number).flatten().or_else(|| dates::order(found, bound))
}

/// Digits of a day such as 20210304.
const DAY_DIGITS: usize = 8;

/// A decimal number of any length, maybe with a sign and a fraction.
#[derive(PartialEq, Eq)]
struct Number<'a> {
    is_negative: bool,
    /// The digits before the point, without leading zeros.
    whole: &'a str,
    /// The digits after the point, without trailing zeros.
    fraction: &'a str,
}

impl<'a> Number<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        if !(is_digits(whole) && is_digits(fraction)) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let is_zero = whole.is_empty() && fraction.is_empty();
        Some(Self { is_negative: unsigned.len() < text.len() && !is_zero, whole, fraction })
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |number: &Self| number.whole.len();
        let order = size(self).cmp(&size(other)).then(self.whole.cmp(other.whole));
        let order = order.then(self.fraction.cmp(other.fraction));
        match (self.is_negative, other.is_negative) {
            (false, false) => order,
            (true, true) => order.reverse(),
            (is_negative, _) => {
                if is_negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `rm` may delete the documents of a range. So values of another kind than the bound are not in the
    /// range.
    #[test]
    fn values_have_an_order_among_their_kind() {
        use Ordering::{Equal, Greater, Less};
        for (key, found, bound, expected) in [
            ("published", "2 March 2024", "2021", None),
            ("published", "03/05/2024", "2021", None),
            ("published", "12.06.2025", "2021", None),
            ("published", "1999 or so", "2021", None),
            ("published", "soon", "2021", None),
            ("published", "", "2021", None),
            ("published", "2020-12-31T23:30:00-01:00", "2021", Some(Equal)),
            ("published", "2021-01-01T00:30:00+01:00", "2021", Some(Less)),
            ("published", "2021-05-04", "2021", Some(Equal)),
            ("published", "2021", "2021", Some(Equal)),
            ("published", "1998", "2021", Some(Less)),
            ("published", "20210504", "2021", None),
            ("published", "1614816000", "2021", None),
            ("published", "12000", "2021", Some(Greater)),
            ("date", "20210504", "2021", None),
            ("pages", "90", "1000", Some(Less)),
            ("pages", "90", "100", Some(Less)),
            ("pages", "1000", "100", Some(Greater)),
            ("pages", "0100", "100", Some(Equal)),
            ("pages", "100.0", "100", Some(Equal)),
            ("pages", "100.5", "100", Some(Greater)),
            ("pages", "0.93", "1", Some(Less)),
            ("pages", "-7", "5", Some(Less)),
            ("pages", "10.2", "9.5", Some(Greater)),
            ("pages", "9.45", "9.5", Some(Less)),
            ("pages", "9.50", "9.5", Some(Equal)),
            ("pages", "-7", "-5", Some(Less)),
            ("pages", "-5", "-7.5", Some(Greater)),
            ("pages", "soon", "9.5", None),
            ("pages", "-0", "0", Some(Equal)),
            ("pages", "100 pages", "50", None),
            ("pages", "2021-05-04", "100", None),
            ("pages", "1.2.3", "1", None),
            ("pages", "12.", "1", None),
            ("pages", "-", "1", None),
            ("part", "B200", "1000-A", Some(Greater)),
            ("part", "0999-Z", "1000-A", Some(Less)),
        ] {
            assert_eq!(order(key, found, bound), expected, "{key} {found} {bound}");
        }
    }
}
