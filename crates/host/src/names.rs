//! Names: the words for the variants of an option, in flags, reports and bindings.

/// Implements `name`, `Display`, `FromStr`, and serde's traits by name, for an enum. The error of `FromStr`
/// names the option and the accepted words.
#[macro_export]
macro_rules! names {
    ($kind:ident, $option:literal, $expected:literal, { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $kind {
            /// The name used in flags and reports. [`FromStr`](std::str::FromStr) reads it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::error::Error;

            fn from_str(text: &str) -> $crate::error::Result<Self> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Self::Err::InvalidParameter { name: $option, value: text.into(), expected: $expected }),
                }
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use names;
