//! Fields: chooses documents by their metadata.

use std::cmp::Ordering;

use fpdb_host::dates;
use fpdb_host::error::{Error, Result};

use super::records::DocumentRecord;

/// The key in a name of [`DocumentRecord::has_field`], without its end. With `~` at the end, values that
/// contain the given one fit, in any case. With `>`, values that are equal or later fit, and with `<`, those
/// that are equal or earlier, in the order of [`dates::order`]: of time for dates, otherwise of text.
#[must_use]
pub fn field_key(name: &str) -> &str {
    name.strip_suffix(['~', '>', '<']).unwrap_or(name)
}

/// Checks a name and value of [`DocumentRecord::has_field`]. A range of dates needs a date: any other text
/// has no order among them.
///
/// # Errors
/// [`Error::InvalidParameter`], which names the form.
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
    /// True if the metadata have this value under this name. Names of mail headers have no case, so a name of
    /// other case fits too if none is spelled exactly so. The end of `name` may ask for [other
    /// values](field_key), unless the metadata have a name of this spelling. Nothing fits an empty `value`
    /// then.
    #[must_use]
    pub fn has_field(&self, name: &str, value: &str) -> bool {
        let is_key = |name: &str| self.metadata.iter().any(|(known, _)| known == name);
        let (key, asks) = if is_key(name) { (name, "") } else { name.split_at(field_key(name).len()) };
        if value.is_empty() && !asks.is_empty() {
            return false;
        }
        let is_exact = is_key(key);
        // Four digits alone may be a number under another key. Words are neither.
        let is_number = !key.eq_ignore_ascii_case("date") && value.bytes().all(|byte| byte.is_ascii_digit());
        let order = |found: &str| match is_number {
            true if found.starts_with(|first: char| first.is_ascii_digit()) => {
                Some(dates::order_of_texts(found, value))
            }
            true => None,
            false => dates::order(found, value),
        };
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
