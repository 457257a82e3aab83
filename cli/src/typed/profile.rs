//! The flags of the settings that a database keeps permanently.

use clap::Args;
use fpdb::{Profile, Selection, Unit, WordRule};

use super::values::choices;

/// The settings that a database keeps for good.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profile (a database keeps the one it was created with)")]
pub(crate) struct ProfileArgs {
    /// prose (the default), text, words, code or bytes
    #[arg(long, value_name = "NAME", value_parser = choices(PROFILES), hide_possible_values = true)]
    pub(crate) profile: Option<&'static str>,
    /// The unit of a symbol: char, word, token (of source code) or byte
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<Unit>,
    /// The shortest match: k symbols
    ///
    /// Nothing that shares fewer than K symbols in a row can match.
    #[arg(short, value_name = "K")]
    pub(crate) k: Option<u32>,
    /// The window: every shared run of w + k - 1 symbols is found
    #[arg(short, value_name = "W")]
    pub(crate) w: Option<u32>,
    /// Which k-grams are kept: robust (the default), plain, all, mod:P or safe-mod:P
    #[arg(long, value_name = "RULE")]
    pub(crate) selection: Option<Selection>,
    /// For unit word: letters (every other character separates; the default) or unicode
    #[arg(long, value_name = "RULE")]
    pub(crate) words: Option<WordRule>,
}

/// The profiles that have a name.
const PROFILES: [(&str, &str, &str); Profile::NAMES.len()] = [
    ("prose", "prose", "characters, k 25, w 20: finds a copied sentence"),
    (
        "text",
        "text",
        "characters, k 50, w 100: for large archives; a fifth of the space of prose, misses short quotations",
    ),
    ("words", "words", "words, k 3, w 1: every word trigram; for rewritten text and short records"),
    (
        "code",
        "code",
        "tokens of source code, k 7, w 2, and its text as written: copies with other names, comments and layout",
    ),
    ("bytes", "bytes", "bytes, k 50, w 100: any file, as it is"),
];

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_its_description() {
        for (typed, name, help) in PROFILES {
            let profile = Profile::named(name).unwrap();
            assert!(typed == name && help.contains(&format!("k {}, w {}", profile.k(), profile.w())), "{name}: {help}");
        }
        assert_eq!(Profile::named(PROFILES[0].0), Some(Profile::default()));
    }
}
