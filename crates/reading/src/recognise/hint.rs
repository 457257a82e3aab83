//! Hint: facts beside the bytes of a document that tell its format.

/// Facts beside the bytes of a document that tell its format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// The name of a similar file, whose extension shows the format. May be empty.
    pub name: String,
    /// True for a text that was a string before, such as the text of a record. Its bytes are never those of a
    /// binary format.
    pub is_text: bool,
}

impl Hint {
    /// The hint of a record. A column of bytes may hold strings or files, so bytes in UTF-8 count as a
    /// string.
    pub fn of_record(text: &[u8]) -> Self {
        Self { is_text: std::str::from_utf8(text).is_ok(), ..Self::default() }
    }
}

impl<N: Into<String>> From<N> for Hint {
    fn from(name: N) -> Self {
        Self { name: name.into(), is_text: false }
    }
}
