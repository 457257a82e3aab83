//! Style: which text stands out, where the reader has colours.

/// Whether to mark what matters with colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// True where the reader sees a terminal that wants it.
    pub(crate) colour: bool,
}

impl Style {
    pub(super) fn strong(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn faint(self, text: &str) -> String {
        if self.colour { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
