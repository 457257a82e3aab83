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

/// The text to which the byte offsets in a document's spans refer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offsets {
    /// Offsets count bytes of the document itself.
    #[default]
    Original,
    /// Offsets count bytes of the extracted text, for formats that do not hold their text in one piece (such
    /// as PDF).
    Extracted,
}

/// Defines an enum, its constant `ALL` with the variants in their order, and its method `name`. A variant
/// after a semicolon is not in `ALL`, and has the name of the value that it holds.
macro_rules! named {
    (
        $(#[$of_kind:meta])*
        pub enum $kind:ident {
            $($(#[$of_variant:meta])* $variant:ident => $name:literal,)+
            $(; $(#[$of_other:meta])* $other:ident($value:ty),)?
        }
        $(#[$of_all:meta])*
        pub const ALL;
        $(#[$of_name:meta])*
        pub fn name;
    ) => {
        $(#[$of_kind])*
        pub enum $kind {
            $($(#[$of_variant])* $variant,)+
            $($(#[$of_other])* $other($value),)?
        }

        impl $kind {
            $(#[$of_all])*
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            $(#[$of_name])*
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    $(Self::$other(value) => value.name(),)?
                }
            }
        }
    };
}

named! {
    /// The format of a document. It decides which reader extracts the text.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Format {
        /// Plain text in any encoding, and other formats read as plain text.
        #[default]
        Text => "text",
        /// Raw bytes, not read as text.
        Bytes => "bytes",
        /// HTML and XHTML.
        Html => "html",
        /// Markdown (CommonMark with tables, footnotes and strikethrough).
        Markdown => "markdown",
        /// reStructuredText.
        ReStructuredText => "rst",
        /// TeX and LaTeX.
        Tex => "tex",
        /// A Jupyter notebook.
        Notebook => "notebook",
        /// A mail message (RFC 5322, MIME).
        Mail => "mail",
        /// PDF.
        Pdf => "pdf",
        /// A Word document (Office Open XML).
        Docx => "docx",
        /// An OpenDocument text.
        Odt => "odt",
        /// An EPUB book.
        Epub => "epub",
        ;
        /// Source code.
        Code(Language),
    }
    /// All formats except source code.
    pub const ALL;
    /// The name used in flags and reports. Source code has the name of its language.
    pub fn name;
}

named! {
    /// A programming language.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[expect(missing_docs, reason = "their names say it")]
    pub enum Language {
        Bash => "bash",
        C => "c",
        Cpp => "c++",
        CSharp => "c#",
        Go => "go",
        Java => "java",
        JavaScript => "javascript",
        Kotlin => "kotlin",
        Php => "php",
        Python => "python",
        Ruby => "ruby",
        Rust => "rust",
        Scala => "scala",
        Sql => "sql",
        Swift => "swift",
        Tsx => "tsx",
        TypeScript => "typescript",
    }
    /// All languages. Their order is fixed, because saved fuzz inputs name a language by its place. A new
    /// language comes last.
    pub const ALL;
    /// The name used in flags and reports.
    pub fn name;
}

impl Format {
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
