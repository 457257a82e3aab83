//! Submissions: which documents count as one.

/// Signs that only a regular expression has.
const SIGNS: [char; 13] = ['^', '$', '(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '\\'];

/// The regular expression for `--submission-by`: the one that was typed, or one for the folders and archives directly in the
/// folder that was typed.
pub(crate) fn submission_pattern(typed: &str) -> String {
    if typed.contains(SIGNS) {
        return typed.to_owned();
    }
    let parts: Vec<&str> = typed.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let root = if typed.starts_with('/') { "/" } else { "" };
    let folder: String = parts.iter().map(|part| format!("{part}/")).collect();
    format!("^({root}{}[^/!]+)[/!]", regex::escape(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_a_pattern_and_a_pattern_stays() {
        for (typed, pattern) in [
            (".", "^([^/!]+)[/!]"),
            ("./", "^([^/!]+)[/!]"),
            ("in", "^(in/[^/!]+)[/!]"),
            ("./in/a.b//", "^(in/a\\.b/[^/!]+)[/!]"),
            ("/in", "^(/in/[^/!]+)[/!]"),
            ("^([a-z]*)_", "^([a-z]*)_"),
        ] {
            assert_eq!(submission_pattern(typed), pattern);
        }
    }
}
