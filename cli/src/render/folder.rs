//! Folder: on a terminal, names are shown without the folder that all of them share.

use std::borrow::Cow;

use super::escape::escape_terminal;
use super::style::Style;

/// The folder that all of these names share, for a terminal; empty for other outputs.
pub(crate) fn common_folder<'a>(names: impl Iterator<Item = &'a str>, style: Style) -> String {
    let mut folder = SharedFolder::default();
    if style.width.is_some() {
        names.for_each(|name| folder.add(name));
    }
    folder.into_folder()
}

/// Finds the folder that all documents share, if there are several. Takes names one by one.
#[derive(Debug, Default)]
pub(crate) struct SharedFolder {
    folder: Option<String>,
    documents: u64,
}

impl SharedFolder {
    /// Adds a name.
    pub(crate) fn add(&mut self, name: &str) {
        self.documents += 1;
        let Some(folder) = &mut self.folder else {
            self.folder = Some(name[..name.rfind('/').map_or(0, |slash| slash + 1)].to_owned());
            return;
        };
        while !name.starts_with(folder.as_str()) {
            folder.truncate(folder[..folder.len() - 1].rfind('/').map_or(0, |slash| slash + 1));
        }
    }

    /// The folder; empty if there is none.
    pub(crate) fn into_folder(self) -> String {
        self.folder.filter(|_| self.documents > 1).unwrap_or_default()
    }
}

/// A document's name without the shared folder.
pub(super) fn name_in<'a>(name: &'a str, folder: &str) -> Cow<'a, str> {
    escape_terminal(name.strip_prefix(folder).unwrap_or(name))
}

/// The line that names the shared folder; empty without one.
pub(crate) fn document_header_line(folder: &str) -> String {
    if folder.is_empty() { String::new() } else { format!("documents{}\n", in_folder(folder)) }
}

/// The part of a header that names the folder of all documents.
pub(super) fn in_folder(folder: &str) -> String {
    if folder.is_empty() { String::new() } else { format!(", in {}", escape_terminal(folder)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_the_folder_that_all_of_them_lie_in() {
        let on_terminal = Style { width: Some(80), ..Style::default() };
        for (names, folder) in [
            (&[][..], ""),
            (&["a/b/c"], ""),
            (&["a/b/c", "a/b/d"], "a/b/"),
            (&["a/b/c", "a/bb/d"], "a/"),
            (&["a/b/c", "a/b"], "a/"),
            (&["a/b", "b/a", "a/b"], ""),
            (&["/a/b", "/c"], "/"),
        ] {
            assert_eq!(common_folder(names.iter().copied(), on_terminal), folder, "{names:?}");
            assert_eq!(common_folder(names.iter().copied(), Style::default()), "");
            assert!(names.iter().all(|name| format!("{folder}{}", name_in(name, folder)) == **name), "{names:?}");
        }
    }
}
