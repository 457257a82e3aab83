//! The flags that decide how shared runs become passages.

use clap::Args;

use super::values::parse_count;
use crate::setting::Setting;

/// How much of the text of a passage is shown, and where.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Passages")]
pub(crate) struct ExcerptArgs {
    /// Show N lines of text before and after the beginning and the end of each passage
    ///
    /// Lines of the passage have a colon after their number, others a dash; -- stands for lines that are left
    /// out. Without this flag a terminal shows the first words of each passage. The text is that of the
    /// stored document. A terminal cuts long lines; COLUMNS sets their width anywhere. --no-text shows no
    /// text.
    #[arg(short = 'C', long, value_name = "N")]
    pub(crate) context: Option<u16>,
}

/// How shared runs become passages.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Passages")]
pub(crate) struct JoiningArgs {
    /// Find rewritten text: paraphrases, moved sentences, summaries
    ///
    /// For databases of the profile words; diff reads both files so. Sentences that say the same in other
    /// words and another order count beside shared runs. A passage has at least some 20 words in common, rare
    /// words counting more. A query compares the documents whose shared fingerprints lie nearest each
    /// other, until 128 in a row have no passage. It lists documents with a passage only, ordered by the
    /// share of the query that the passages cover.
    #[arg(long, conflicts_with = "gap")]
    rewritten: bool,
    /// Join shared runs with at most N symbols between them into one passage [default: t = w + k - 1]
    #[arg(long, value_name = "N")]
    gap: Option<u32>,
    /// Leave out passages with fewer than N symbols that agree
    ///
    /// Text that --skip-quotes and --ignore-phrases ignore does not count, nor do lines of dashes or stars.
    /// In source code passages that add fewer than N symbols to longer ones are left out as well; N is 20
    /// there, unless all passages are shorter, and 1 shows all that add something.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    min_passage: Option<u64>,
}

impl JoiningArgs {
    /// The options that the flags set. `most` is the maximum number of passages of one pair, for a page of a
    /// report. `None`: no limit.
    pub(crate) fn options(&self, most: Option<usize>) -> fpdb::PassageOptions {
        fpdb::PassageOptions::default()
            .gap(self.gap)
            .rewritten(self.rewritten)
            .least(self.min_passage.unwrap_or(0))
            .most(most)
    }

    /// The flags on the command line and their values; `None` for flags that were not given.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        vec![
            Setting::switch("--rewritten", self.rewritten),
            Setting::plain("--gap", self.gap),
            Setting::plain("--min-passage", self.min_passage.filter(|&least| least > 0)),
        ]
    }

    /// True if rewritten text is searched for.
    pub(crate) fn rewritten(&self) -> bool {
        self.rewritten
    }
}
