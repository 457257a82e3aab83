//! Skipped reports: prints which reports of fpdb a run skipped. So no file that only looks like a report is
//! skipped unnoticed.

/// Chooses the name to print for each skipped file of a report.
#[derive(Default)]
pub(super) struct SkippedReports {
    /// The folder of data that was printed last. The files of one folder come one after the other.
    folder: String,
}

impl SkippedReports {
    /// The name to print for a skipped file. For the first file in a folder of data of a report, this is the
    /// folder. `None` for the other files in that folder.
    pub(super) fn named<'n>(&mut self, file: &'n str) -> Option<&'n str> {
        let folder = file.rfind('/').map_or("", |end| &file[..=end]);
        if !(file.ends_with(".js") && (folder == "data/" || folder.ends_with("/data/"))) {
            return Some(file);
        }
        let is_said = self.folder == folder;
        folder.clone_into(&mut self.folder);
        (!is_said).then_some(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_of_data_is_named_once_and_each_other_file() {
        let mut reports = SkippedReports::default();
        let files = [
            "a/data/pair-1.js",
            "a/data/text-1.js",
            "a/index.html",
            "b/data/pair-1.js",
            "hw.js",
            "c/hw.js",
            "data/pair-1.js",
            "data/text-1.js",
            "metadata/hw.js",
        ];
        let named: Vec<&str> = files.iter().filter_map(|file| reports.named(file)).collect();
        assert_eq!(named, ["a/data/", "a/index.html", "b/data/", "hw.js", "c/hw.js", "data/", "metadata/hw.js"]);
    }
}
