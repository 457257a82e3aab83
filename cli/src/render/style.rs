//! Style: which text stands out, and how much fits a line, where the reader has a terminal.

/// Marks what matters with colour, or does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// True where the reader sees a terminal that wants it.
    pub(crate) colour: bool,
    /// The columns of that terminal; `None` without a terminal.
    pub(crate) width: Option<usize>,
    /// The columns that a line of text may take: those that COLUMNS asks for, else those of the terminal;
    /// `None` for any number.
    pub(crate) columns: Option<usize>,
}

impl Style {
    /// The columns that a line of text may take; any number where `None`.
    pub(crate) fn columns(self) -> Option<usize> {
        self.columns.map(|columns| columns.max(20))
    }

    pub(super) fn strong(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn faint(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
