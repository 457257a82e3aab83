//! Names: the words for the variants of an option, in flags, reports and bindings.

/// For an enum, its names: `name`, `Display`, and `FromStr`, whose error names the option and the words that it takes.
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
            type Err = crate::error::Error;

            fn from_str(text: &str) -> crate::error::Result<Self> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Self::Err::InvalidParameter { name: $option, value: text.into(), expected: $expected }),
                }
            }
        }
    };
}

pub(crate) use names;

#[cfg(test)]
mod tests {
    use std::fmt::Display;
    use std::str::FromStr;

    use crate::dedup::{DedupBy, Keep};
    use crate::error::Error;
    use crate::{Mode, OnChange, Weight};

    /// Each name leads back to its variant, and the error lists exactly the names.
    fn check<T: FromStr<Err = Error> + Display + Copy + PartialEq>(option: &str, variants: &[T]) {
        let names: Vec<String> = variants.iter().map(ToString::to_string).collect();
        for (name, variant) in names.iter().zip(variants) {
            assert!(name.parse::<T>().is_ok_and(|parsed| parsed == *variant), "{name}");
            assert!(name.to_uppercase().parse::<T>().is_err());
        }
        let Err(Error::InvalidParameter { name, value, expected }) = "other".parse::<T>() else { panic!("{option}") };
        let (last, first) = names.split_last().unwrap();
        assert_eq!((name, value.as_str()), (option, "other"));
        assert_eq!(expected, format!("{} or {last}", first.join(", ")));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        check("mode", &[Mode::Containment, Mode::Resemblance]);
        check("weight", &[Weight::None, Weight::Idf]);
        check("on_change", &[OnChange::Replace, OnChange::Keep, OnChange::Both]);
        check("keep", &[Keep::Longest, Keep::First, Keep::Newest, Keep::Oldest]);
        check("by", &[DedupBy::Exact, DedupBy::ExactText, DedupBy::Resemblance, DedupBy::Containment]);
    }
}
