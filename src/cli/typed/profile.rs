//! The settings that a database keeps for good.

use clap::Args;
use fpdb::{Selection, Unit, WordRule};

/// The settings a database pins when it is made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profile (a database keeps the one it was made with)")]
pub(crate) struct ProfileArgs {
    /// A named choice of the settings below: text (characters, k 50, w 100; the default), prose
    /// (characters, k 25, w 20: finds a copied sentence), words (words, k 3, w 1: the 2001 paper), code (tokens of
    /// source code, k 7, w 2: copies with other names, comments and layout), bytes
    #[arg(long, value_name = "NAME", value_parser = fpdb::Profile::NAMES)]
    pub(crate) profile: Option<String>,
    /// What a symbol is: char, word, token (of source code) or byte
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<Unit>,
    /// The noise threshold: nothing shorter than K symbols can match
    #[arg(short, value_name = "K")]
    pub(crate) k: Option<u32>,
    /// The window: every shared run of W + K - 1 symbols is found
    #[arg(short, value_name = "W")]
    pub(crate) w: Option<u32>,
    /// Which k-grams are kept: robust (the default), plain, all, mod:P or safe-mod:P
    #[arg(long, value_name = "RULE")]
    pub(crate) selection: Option<Selection>,
    /// For unit word: letters (every other character separates; the default) or unicode
    #[arg(long, value_name = "RULE")]
    pub(crate) words: Option<WordRule>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}
