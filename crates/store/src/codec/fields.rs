//! Fields: chooses documents by their metadata.

use super::records::DocumentRecord;

/// The key in a name of [`DocumentRecord::has_field`], without its end. With `~` at the end, values that
/// contain the given one fit, in any case. With `>`, values that are equal or later in the order of text fit.
/// With `<`, those that are equal or earlier, or begin with the given one: dates up to a day include the day.
#[must_use]
pub fn field_key(name: &str) -> &str {
    name.strip_suffix(['~', '>', '<']).unwrap_or(name)
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
        self.metadata
            .iter()
            .filter(|(known, _)| if is_exact { known == key } else { known.eq_ignore_ascii_case(key) })
            .any(|(_, found)| match asks {
                "~" => found.to_lowercase().contains(&value.to_lowercase()),
                ">" => found.as_str() >= value,
                "<" => found.as_str() <= value || found.starts_with(value),
                _ => found == value,
            })
    }
}
