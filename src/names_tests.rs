mod tests {
    use std::fmt::Display;
    use std::str::FromStr;

    use crate::archive::dedup::{DedupBy, Keep};
    use crate::{Mode, OnChange, Weight};
    use fpdb_host::error::Error;

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
