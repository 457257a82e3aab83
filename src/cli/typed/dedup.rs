//! What can be typed after `fpdb dedup`.

use clap::Args;
use clap::builder::TypedValueParser;
use fpdb::{DedupBy, Keep};

use super::values::{choices, parse_count, parse_share, parse_size};

#[derive(Debug, Args)]
pub(crate) struct DedupArgs {
    /// What makes a document removable, beside being identical to another
    #[arg(long, value_name = "BY", default_value = "exact", value_parser = by())]
    pub(crate) by: DedupBy,
    /// The least resemblance, or containment in the survivor (0 to 1), with --by resemblance or containment [default: 0.8]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub(crate) threshold: Option<f64>,
    /// Which document of several alike stays
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = keep())]
    pub(crate) keep: Keep,
    /// Never remove documents whose names begin with this; may be repeated
    #[arg(long, value_name = "PREFIX")]
    pub(crate) protect: Vec<String>,
    /// Ignore fingerprints that more than N documents hold
    ///
    /// The number of ignored fingerprints is printed. 0 ignores none.
    #[arg(long, value_name = "N", default_value_t = fpdb::PairsOptions::MAX_DF, value_parser = parse_count)]
    pub(crate) max_df: u64,
    /// Memory to use for counting, such as 512M or 4GiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
}

/// What makes a document removable.
fn by() -> impl TypedValueParser<Value = DedupBy> {
    choices([
        ("exact", DedupBy::Exact, "Nothing else"),
        ("resemblance", DedupBy::Resemblance, "A survivor resembles it"),
        ("containment", DedupBy::Containment, "A survivor contains it"),
    ])
}

/// Which of several alike stays.
fn keep() -> impl TypedValueParser<Value = Keep> {
    choices([
        ("first", Keep::First, "The one ingested first"),
        ("longest", Keep::Longest, "The one with the most symbols"),
        ("newest", Keep::Newest, "The one written last"),
        ("oldest", Keep::Oldest, "The one written first"),
    ])
}
