//! Names: the words for the variants of an option, in flags, reports and bindings.

/// Implements `name`, `Display` and `FromStr` for an enum. The error of `FromStr` names the option and the
/// accepted words.
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
    };
}

pub use names;
