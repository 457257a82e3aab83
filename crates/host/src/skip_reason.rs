//! Skip reason: why a file, a member of a container or a row is not a document.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// Generates the variants, their phrases and the parser of the phrases from one table.
macro_rules! reasons {
    ($($variant:ident => $phrase:literal),+ $(,)?) => {
        /// The reason why a file, a member of a container or a row is not a document.
        /// [`Display`](fmt::Display) and JSON give a noun phrase.
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
        #[serde(from = "Cow<'static, str>")]
        #[non_exhaustive]
        pub enum SkipReason {
            $(#[doc = concat!("It is \"", $phrase, "\".")] $variant,)+
            /// Another reason, given by the host that supplies documents.
            Other(Cow<'static, str>),
        }

        impl SkipReason {
            fn phrase(&self) -> &str {
                match self {
                    $(Self::$variant => $phrase,)+
                    Self::Other(phrase) => phrase,
                }
            }
        }

        impl From<Cow<'static, str>> for SkipReason {
            fn from(phrase: Cow<'static, str>) -> Self {
                match &*phrase {
                    $($phrase => Self::$variant,)+
                    _ => Self::Other(phrase),
                }
            }
        }
    };
}

reasons! {
    Binary => "binary data: there are NUL bytes near its beginning",
    SevenZip => "a 7z archive, which is not read",
    Rar => "a rar archive, which is not read",
    Cab => "a cab archive, which is not read",
    Ar => "an ar archive, which is not read",
    Cpio => "a cpio archive, which is not read",
    Lzip => "an lzip file, which is not read",
    Lz4 => "an lz4 file, which is not read",
    Compress => "a file of compress, which is not read",
    Lzma => "an lzma file, which is not read",
    Package => "an archive or an office document of a kind that is not read",
    Database => "a database of fpdb, or a backup of one",
    Report => "a report of fpdb, which repeats texts of other files",
    UnderWay => "a file under way of `fpdb apply`",
    SymbolicLink => "a symbolic link, which is not followed",
    NotAFile => "neither a file nor a folder",
    LinkInArchive => "a link inside an archive",
    UnknownEntry => "an entry of an unknown type",
    Segment => "a record in segments, which are not put together",
    NullText => "its text is null",
    Closed => "an archive that was not opened",
    SameName => "a part of a file in which a later part has the same name",
    KeptOut => "removed for good, and kept out (`fpdb rm --keep-out`)",
}

impl SkipReason {
    /// True for an archive or compressed file of a kind that fpdb recognises but does not read.
    #[must_use]
    pub fn is_unread_archive(&self) -> bool {
        let is_archive = matches!(self, Self::SevenZip | Self::Rar | Self::Cab | Self::Ar | Self::Cpio);
        is_archive || matches!(self, Self::Lzip | Self::Lz4 | Self::Compress | Self::Lzma)
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}

impl Serialize for SkipReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.phrase())
    }
}
