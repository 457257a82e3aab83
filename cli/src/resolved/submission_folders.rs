//! Submission folders: the folders listed in `--submission-by`. A listed folder without any document is
//! probably a mistake, so a message names it. If no listed folder has a document, the database returns an
//! error.

use fpdb::Database;
use regex::Regex;

use crate::printer::Printer;

/// The folders in which no document was found so far.
pub(crate) struct SubmissionFolders {
    /// Each folder, and the pattern of the names of submissions in it.
    missing: Vec<(String, Regex)>,
    value: String,
}

impl SubmissionFolders {
    /// The folders of `value` if it is a list of several folders. Empty for any other value.
    pub(crate) fn of(value: Option<&str>) -> anyhow::Result<Self> {
        let value = value.unwrap_or_default();
        let is_list = value.contains(',') && fpdb::submission_pattern(value) != value;
        let folders = value.split(',').filter(|folder| is_list && !folder.is_empty());
        let missing = folders.map(|folder| Ok((folder.to_owned(), Regex::new(&fpdb::submission_pattern(folder))?)));
        Ok(Self { missing: missing.collect::<anyhow::Result<_>>()?, value: value.to_owned() })
    }

    /// Marks the folder of a document or submission with this name as found.
    pub(crate) fn find(&mut self, name: &str) {
        if !self.missing.is_empty() {
            let below = format!("{name}/");
            self.missing.retain(|(_, pattern)| !pattern.is_match(&below));
        }
    }

    /// Prints the folders in which neither an answer nor the database has a document.
    pub(crate) fn tell_missing(mut self, database: &Database, printer: &Printer) -> anyhow::Result<()> {
        if !self.missing.is_empty() {
            database.for_each_document(|document| -> fpdb::Result<()> {
                self.find(&document.name);
                Ok(())
            })?;
        }
        for (folder, _) in &self.missing {
            printer.warning(&format!(
                "warning: no document is in a folder or archive in {folder} (--submission-by {})",
                self.value
            ));
        }
        Ok(())
    }
}
