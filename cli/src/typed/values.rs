//! Values that can be typed: one of a few names, numbers, shares, sizes and times.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fpdb_host::clock::seconds_of;

/// Parses one of a few names. Each name has a value and a text for the help.
pub(super) fn choices<T, const N: usize>(
    choices: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let names = choices.clone().map(|(name, _, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(move |typed| {
        let chosen = choices.iter().find(|(name, ..)| *name == typed).map(|(_, value, _)| value.clone());
        chosen.ok_or("expected one of the names that the help lists")
    })
}

/// Like [`choices`], for a value that the library parses from these names.
pub(super) fn names<T, const N: usize>(names: [(&'static str, &'static str); N]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = fpdb::Error> + Clone + Send + Sync + 'static,
{
    let names = names.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(|typed| typed.parse())
}

/// Parses a number of things.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or more".to_owned())
}

/// Parses a number of things that must be at least 1.
pub(super) fn parse_positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number, 1 or more".to_owned()),
    }
}

/// Parses a number of bytes such as `512M` or `4GiB`. Units are powers of 1,000 or, with an `i`, of 1,024.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|_| "expected a size such as 512M or 4GiB".to_owned())?;
    Ok(size.as_u64())
}

pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// Parses a document's number, or a time.
pub(super) fn parse_since(text: &str) -> Result<fpdb::pairs::Since, String> {
    if let Ok(number) = text.parse() {
        return Ok(fpdb::pairs::Since::Document(fpdb::DocId(number)));
    }
    match seconds_of(text) {
        Some(seconds) => Ok(fpdb::pairs::Since::Time(seconds)),
        None => Err("expected a document's number, or a time such as 2026-11-21 or 2026-11-21T08:30:00Z".into()),
    }
}

/// Parses a time. Returns seconds since 1970.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    seconds_of(text).ok_or_else(|| "expected a time such as 2026-11-21 or 2026-11-21T08:30:00Z".into())
}

/// Parses a name and a value of metadata. The name may end with `~`, `>` or `<`, as in KEY~=VALUE.
pub(super) fn parse_field(text: &str) -> Result<(String, String), String> {
    let ends = text.match_indices('=').find(|&(at, _)| !text[..at].ends_with('\\'));
    let (key, value) = match ends {
        Some((at, _)) if at > 0 => (text[..at].replace("\\=", "="), &text[at + 1..]),
        _ => {
            let range = text.split_once(['>', '<']).filter(|(key, _)| !key.is_empty());
            let meant = range.map(|(key, bound)| form(text, key, &text[key.len()..=key.len()], bound));
            return Err(meant.unwrap_or_else(|| "expected KEY=VALUE; in a key, = is written \\=".into()));
        }
    };
    let (name, sign) = key.split_at(key.trim_end_matches(['~', '>', '<']).len());
    // A text to search may begin with white space.
    let is_bound = sign.contains(['>', '<']);
    let is_apart = name.ends_with(char::is_whitespace) || (is_bound && value.starts_with(char::is_whitespace));
    if is_apart { Err(form(text, name, sign, value)) } else { Ok((key, value.to_owned())) }
}

/// The error for a comparison, with the form that was probably meant.
fn form(typed: &str, key: &str, sign: &str, value: &str) -> String {
    let meant = format!("{}{sign}={}", key.trim(), value.trim());
    let apart = if typed.contains(char::is_whitespace) { ", without white space around the sign" } else { "" };
    format!("expected KEY=VALUE, KEY~=TEXT, KEY>=VALUE or KEY<=VALUE{apart}, as in '{meant}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_unless_they_say() {
        let time = |seconds| Ok(fpdb::pairs::Since::Time(seconds));
        assert_eq!(parse_since("1970-01-02"), time(86_400));
        assert_eq!(parse_since("1970-01-02T01:00"), time(90_000));
        assert_eq!(parse_since("1970-01-02T01:00:00+01:00"), time(86_400));
        assert_eq!(parse_since("1970-01-02T00:00:00Z"), time(86_400));
        let same =
            ["1999-03-01T12:00:00+01:00", "1999-03-01 11:00", "Mon, 1 Mar 1999 12:00:00 +0100", "19990301110000"];
        assert_eq!(same.map(seconds_of), [Some(920_286_000); 4]);
        assert_eq!(["1999", "March", "", "12:00", "99999999999999"].map(seconds_of), [None; 5]);
        assert_eq!(parse_since("17"), Ok(fpdb::pairs::Since::Document(fpdb::DocId(17))));
        assert!(parse_since("yesterday").is_err() && parse_since("-1").is_err());
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(parse_size("512M"), Ok(512_000_000));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("1048576"), Ok(1 << 20));
        assert!(parse_size("much").is_err());
        assert!(parse_size("-1M").is_err());
    }

    #[test]
    fn the_first_equals_sign_that_is_not_escaped_ends_the_key() {
        for (text, key, value) in [
            ("a=b", "a", "b"),
            ("a=b=c", "a", "b=c"),
            (r"a\=b=c=d", "a=b", "c=d"),
            (r"a\b=\=", r"a\b", r"\="),
            ("a=", "a", ""),
            ("a>=b", "a>", "b"),
            ("a~= b", "a~", " b"),
        ] {
            assert_eq!(parse_field(text), Ok((key.into(), value.into())), "{text}");
        }
        for text in ["", "a", "=b", r"a\=b"] {
            assert!(parse_field(text).is_err(), "{text}");
        }
        for (text, meant) in [
            ("a>b", "a>=b"),
            ("a < 3", "a<=3"),
            ("size >= 3", "size>=3"),
            ("size>= 3", "size>=3"),
            ("by = Ann Lee", "by=Ann Lee"),
            ("by ~=ann", "by~=ann"),
        ] {
            let told = parse_field(text).unwrap_err();
            assert!(told.ends_with(&format!("as in '{meant}'")), "{told}");
        }
        assert_eq!(parse_field(" a= b "), Ok((" a".into(), " b ".into())));
    }
}
