//! Style: on a terminal, decides which text is highlighted and how much fits on a line.

/// Highlights text with colour, if colour is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// True if the output is a terminal that should have colour.
    pub(crate) colour: bool,
    /// The width of the terminal in columns; `None` without a terminal.
    pub(crate) width: Option<usize>,
    /// Maximum number of columns of a line of text: the value of COLUMNS, otherwise the width of the
    /// terminal. `None`: no limit.
    pub(crate) columns: Option<usize>,
}

impl Style {
    /// Maximum number of columns of a line of text. `None`: no limit.
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
