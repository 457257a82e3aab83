//! How shared runs become passages.

use clap::Args;

use super::values::parse_count;

/// How shared runs become passages.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Passages")]
pub(crate) struct JoiningArgs {
    /// Shared runs with at most N symbols between them are one passage [default: t = W + K - 1]
    #[arg(long, value_name = "N")]
    pub(crate) gap: Option<u32>,
    /// For rewritten text: join shared runs that are near each other in both documents in whatever order they stand
    /// there, with a gap of N where they are sparse and down to a quarter of it where they are dense, and leave out
    /// phrases that both documents repeat and passages that others explain better
    #[arg(long)]
    pub(crate) any_order: bool,
    /// Leave out passages with fewer than N symbols that agree, with --any-order in whatever order; what --skip-quotes and
    /// --ignore-phrases ignore is not counted
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count)]
    pub(crate) min_passage: u64,
}

impl JoiningArgs {
    /// `most` are the passages of one pair that are wanted, for a page; all where `None`.
    pub(crate) fn options(&self, most: Option<usize>) -> fpdb::PassageOptions {
        fpdb::PassageOptions { gap: self.gap, any_order: self.any_order, least: self.min_passage, most }
    }

    /// What was typed: flags and their values, `None` for those that were not.
    pub(crate) fn flags(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("--gap", self.gap.map(|gap| gap.to_string())),
            ("--any-order", self.any_order.then(|| "yes".to_owned())),
            ("--min-passage", (self.min_passage > 0).then(|| self.min_passage.to_string())),
        ]
    }
}
