//! Tampering: changes rows without any check, to test the checks.

use super::Engine;

impl Engine {
    /// Writes a row without any check.
    pub(crate) fn put_row(&self, family: &str, key: &[u8], value: &[u8]) {
        self.db.put_cf(self.family(family).unwrap(), key, value).unwrap();
    }

    /// Sets the size at which a compaction closes a table of a family.
    pub(crate) fn set_table_bytes(&self, family: &str, bytes: u64) {
        let options = [("target_file_size_base", &*bytes.to_string())];
        self.db.set_options_cf(self.family(family).unwrap(), &options).unwrap();
    }

    /// Writes the rows of a family from the log as a table.
    pub(crate) fn flush(&self, family: &str) {
        self.db.flush_cf(self.family(family).unwrap()).unwrap();
    }

    /// Moves the rows of a family from the log into one table.
    pub(crate) fn move_rows(&self, family: &str) {
        let family = self.family(family).unwrap();
        self.db.flush_cf(family).unwrap();
        self.db.compact_range_cf(family, None::<&[u8]>, None::<&[u8]>);
    }

    /// Deletes a row without any check.
    pub(crate) fn delete_row(&self, family: &str, key: &[u8]) {
        self.db.delete_cf(self.family(family).unwrap(), key).unwrap();
    }
}
