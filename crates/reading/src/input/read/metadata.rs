//! Metadata: a table with metadata of documents, by name or path.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::input::About;
use fpdb_host::bounded;
use fpdb_host::error::{Error, Result};

/// The column with the name or path of the document.
const KEY: &str = "filename";

/// The columns that fpdb knows. In a header they may have capital letters, as spreadsheets write them.
const KNOWN: [&str; 3] = [KEY, "label", "group"];

/// Metadata of documents: a CSV file whose header has a column `filename`. Columns are separated by commas,
/// or by semicolons or tabs if the header has no comma. The columns `filename`, `label` and `group` are known
/// in capital letters too, if the header has none in small letters.
#[derive(Debug)]
pub struct MetadataTable {
    /// The other columns.
    columns: Vec<String>,
    rows: HashMap<String, MetadataRow>,
    digest: u64,
}

#[derive(Debug)]
struct MetadataRow {
    values: Vec<String>,
    matched: AtomicBool,
}

impl MetadataTable {
    /// Reads a table. If two rows name the same document, the last one counts.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::BadTable`] if it is not a metadata table.
    pub fn read(path: &Path) -> Result<Self> {
        let text = bounded::read_file(path, bounded::LIST_BYTES).map_err(Error::io("read", path))?;
        Self::parse(path, &text)
    }

    /// Reads the table at `path` from its bytes.
    pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Self> {
        let bad = |detail: String| Error::BadTable { path: path.to_owned(), detail };
        let digest = xxh3_64(text);
        let text = bounded::without_byte_order_mark(text);
        let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = *b",;\t".iter().find(|delimiter| first_line.contains(delimiter)).unwrap_or(&b',');
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::Headers).from_reader(text);
        let typed = reader.headers().map_err(|error| bad(error.to_string()))?.clone();
        let stands_for =
            |known: &str, column: &str| known.eq_ignore_ascii_case(column) && !typed.iter().any(|typed| typed == known);
        let named = |column| KNOWN.into_iter().find(|known| stands_for(known, column)).unwrap_or(column);
        let header: Vec<&str> = typed.iter().map(named).collect();
        let key = header.iter().position(|&column| column == KEY);
        let key = key.ok_or_else(|| bad(format!("its header has no column {KEY}")))?;
        let mut seen = HashSet::new();
        if let Some(twice) = header.iter().find(|column| !seen.insert(**column)) {
            return Err(bad(format!("its header has the column {twice} twice")));
        }
        let columns =
            header.iter().enumerate().filter(|&(at, _)| at != key).map(|(_, &name)| name.to_owned()).collect();
        let mut rows = HashMap::new();
        for record in reader.records() {
            let record = record.map_err(|error| bad(error.to_string()))?;
            let values = record.iter().enumerate().filter(|&(at, _)| at != key);
            let values = values.map(|(_, value)| value.to_owned()).collect();
            let name = record.get(key).unwrap_or_default().trim_start_matches("./");
            rows.insert(name.to_owned(), MetadataRow { values, matched: AtomicBool::new(false) });
        }
        Ok(Self { columns, rows, digest })
    }

    /// Adds the metadata of a document from the table. The table's metadata replace metadata of the same
    /// names from the document's container.
    #[doc(hidden)]
    pub fn apply(&self, about: &mut About) {
        let source = about.file.as_ref().map(|file| file.source.as_str());
        let Some(row) = self.row(&about.name, source, about.member.as_deref()) else { return };
        row.matched.store(true, Ordering::Relaxed);
        let said = self.columns.iter().zip(&row.values).filter(|(_, value)| !value.is_empty());
        about.metadata.retain(|(name, _)| !self.columns.contains(name));
        about.metadata.extend(said.map(|(name, value)| (name.clone(), value.clone())));
    }

    /// True if the table has a row for a document.
    #[doc(hidden)]
    pub fn names(&self, name: &str, source: Option<&str>, member: Option<&str>) -> bool {
        self.row(name, source, member).is_some()
    }

    fn row(&self, name: &str, source: Option<&str>, member: Option<&str>) -> Option<&MetadataRow> {
        let by_path = || self.rows.get(&format!("{}{}", source?, member.unwrap_or("")));
        self.rows.get(name).or_else(by_path)
    }

    /// Names of rows that [`MetadataTable::apply`] has not matched with any document, sorted.
    #[doc(hidden)]
    pub fn unmatched(&self) -> Vec<String> {
        let unmatched = self.rows.iter().filter(|(_, row)| !row.matched.load(Ordering::Relaxed));
        let mut names: Vec<String> = unmatched.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// A digest of the table, which distinguishes it from others.
    #[doc(hidden)]
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<MetadataTable> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        MetadataTable::read(&path)
    }

    fn said(table: &MetadataTable, name: &str) -> Vec<(String, String)> {
        let mut about = About {
            name: name.into(),
            hint: "".into(),
            file: None,
            member: None,
            modified: None,
            metadata: vec![("label".into(), "old".into()), ("url".into(), "u".into())],
            repeated: false,
            named: false,
        };
        table.apply(&mut about);
        about.metadata
    }

    #[test]
    fn rows_are_found_by_name() {
        let table = table("\u{feff}label, filename,group\nspam,./a.txt,\n\"x,\ny\",b.txt,7\nz,c.txt,\n").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(said(&table, "a.txt"), [pair("url", "u"), pair("label", "spam")]);
        assert_eq!(said(&table, "b.txt"), [pair("url", "u"), pair("label", "x,\ny"), pair("group", "7")]);
        assert_eq!(said(&table, "d.txt"), [pair("label", "old"), pair("url", "u")]);
        assert_eq!(table.unmatched(), ["c.txt"]);
    }

    /// Spreadsheets write semicolons where the decimal sign is a comma.
    #[test]
    fn columns_are_separated_by_semicolons_or_tabs_too() {
        for delimiter in [";", "\t"] {
            let text = "\u{feff}filename|label|grade\r\n\"a|b.txt\"|x, y|\"1,5\"\r\n".replace('|', delimiter);
            let found = said(&table(&text).unwrap(), &format!("a{delimiter}b.txt"));
            let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            assert_eq!(found, [pair("url", "u"), pair("label", "x, y"), pair("grade", "1,5")]);
        }
        assert!(table("name;label\na;b\n").unwrap_err().to_string().contains("no column filename"));
    }

    #[test]
    fn known_columns_may_have_capital_letters() {
        let found = said(&table("Filename,LABEL,Group,Grade\na.txt,x,7,1\n").unwrap(), "a.txt");
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["url", "label", "group", "Grade"]);
        // Beside a column in small letters they are columns like any other.
        let found = said(&table("Filename,filename,label,Label,group,Group\nx,a.txt,l,L,g,G\n").unwrap(), "a.txt");
        let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [("Filename", "x"), ("label", "l"), ("Label", "L"), ("group", "g"), ("Group", "G")];
        assert_eq!(found, [&[("url", "u")], &expected[..]].concat());
    }

    #[test]
    fn tables_without_names_are_refused() {
        assert!(matches!(table("name,label\na,b\n"), Err(Error::BadTable { .. })));
        assert!(matches!(table("filename,label\na\n"), Err(Error::BadTable { .. })));
        for header in [
            "filename,label,label",
            "filename,Label,LABEL",
            "Filename,FILENAME",
            "filename,label,filename",
            "filename,a,,",
        ] {
            let error = table(&format!("{header}\n")).unwrap_err().to_string();
            assert!(error.contains("twice"), "{header}: {error}");
        }
        assert!(table("filename\n").unwrap().unmatched().is_empty());
    }
}
