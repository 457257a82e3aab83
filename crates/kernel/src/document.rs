//! Document: a named sequence of bytes. This file defines the number and the format of a document, and byte
//! ranges in it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a stored document. Numbers are given in order of arrival and never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct DocId(pub u32);

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A byte range of the original document. `end` is exclusive. Both ends are on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// The bytes that a document's spans count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offsets {
    /// Bytes of the document itself.
    #[default]
    Original,
    /// Bytes of the extracted text, for formats that do not hold their text in one piece (such as PDF).
    Extracted,
}

/// The format of a document. It decides which reader extracts the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Plain text in any encoding, and other formats read as plain text.
    #[default]
    Text,
    /// Raw bytes, not read as text.
    Bytes,
    /// HTML and XHTML.
    Html,
    /// Markdown (CommonMark with tables, footnotes and strikethrough).
    Markdown,
    /// reStructuredText.
    ReStructuredText,
    /// TeX and LaTeX.
    Tex,
    /// A Jupyter notebook.
    Notebook,
    /// A mail message (RFC 5322, MIME).
    Mail,
    /// PDF.
    Pdf,
    /// A Word document (Office Open XML).
    Docx,
    /// An OpenDocument text.
    Odt,
    /// An EPUB book.
    Epub,
    /// Source code.
    Code(Language),
}

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Language {
    Bash,
    C,
    Cpp,
    CSharp,
    Go,
    Java,
    JavaScript,
    Kotlin,
    Php,
    Python,
    Ruby,
    Rust,
    Scala,
    Sql,
    Swift,
    Tsx,
    TypeScript,
}

impl Format {
    /// All formats except source code.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Bytes,
        Self::Html,
        Self::Markdown,
        Self::ReStructuredText,
        Self::Tex,
        Self::Notebook,
        Self::Mail,
        Self::Pdf,
        Self::Docx,
        Self::Odt,
        Self::Epub,
    ];

    /// The name used in flags and reports. Source code has the name of its language.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::ReStructuredText => "rst",
            Self::Tex => "tex",
            Self::Notebook => "notebook",
            Self::Mail => "mail",
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Odt => "odt",
            Self::Epub => "epub",
            Self::Code(language) => language.name(),
        }
    }

    /// The programming language. `None` if the document is not source code.
    #[must_use]
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Code(language) => Some(language),
            _ => None,
        }
    }

    /// The format with this [`name`](Self::name). `None` if there is no such format.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let code = Language::ALL.into_iter().map(Self::Code);
        Self::ALL.into_iter().chain(code).find(|format| format.name() == name)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Language {
    /// All languages. Their order is fixed, because saved fuzz inputs name a language by its place. A new
    /// language comes last.
    pub const ALL: [Self; 17] = [
        Self::Bash,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Kotlin,
        Self::Php,
        Self::Python,
        Self::Ruby,
        Self::Rust,
        Self::Scala,
        Self::Sql,
        Self::Swift,
        Self::Tsx,
        Self::TypeScript,
    ];

    /// The name used in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::C => "c",
            Self::Cpp => "c++",
            Self::CSharp => "c#",
            Self::Go => "go",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Kotlin => "kotlin",
            Self::Php => "php",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Rust => "rust",
            Self::Scala => "scala",
            Self::Sql => "sql",
            Self::Swift => "swift",
            Self::Tsx => "tsx",
            Self::TypeScript => "typescript",
        }
    }
}

/// The XXH3-128 digest of a document's original bytes.
pub type Digest = [u8; 16];

/// Serialises a digest as 32 hexadecimal digits, for `#[serde(with = "...")]`.
pub mod hexadecimal {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Digest;
    use crate::hex;

    /// Writes the digest as 32 lower-case hexadecimal digits.
    pub fn serialize<S: Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(digest))
    }

    /// Reads a digest from 32 hexadecimal digits, in either case. Anything else is an error.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let bytes = hex::decode(&String::deserialize(deserializer)?).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| D::Error::custom("a digest is 32 hexadecimal digits"))
    }
}

/// The time of a file's last change, as the file system reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Modified {
    /// Whole seconds since the start of 1970; negative for earlier times.
    pub seconds: i64,
    /// Nanoseconds within that second, below 10^9.
    pub nanoseconds: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL.into_iter().chain(Language::ALL.map(Format::Code)) {
            assert_eq!(Format::named(format.name()), Some(format));
        }
        assert_eq!(Format::named("cobol"), None);
    }
}
