//! Setting: a flag of a command with its value, as a report shows it, and how much of it an anonymous report
//! may show.

/// A flag and the value that it was given.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    flag: &'static str,
    /// `None` if the flag was not given.
    value: Option<String>,
    discloses: Discloses,
}

/// The kind of facts about documents that a value discloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discloses {
    /// The value discloses no name of a document, and no path.
    Nothing,
    /// The value is the path of a file whose text is excluded from every measure. The report must show that
    /// the flag was given.
    Place,
    /// The value has names of documents.
    Names,
}

/// Stands for a value that an anonymous report does not show.
const GIVEN: &str = "yes";

impl Setting {
    /// A flag whose value discloses no names or paths: a number, or one of several words.
    pub(crate) fn plain(flag: &'static str, value: Option<impl ToString>) -> Self {
        Self::new(flag, value, Discloses::Nothing)
    }

    /// A flag without a value.
    pub(crate) fn switch(flag: &'static str, is_given: bool) -> Self {
        Self::plain(flag, is_given.then_some(GIVEN))
    }

    /// A flag whose value is the path of a file with text to ignore.
    pub(crate) fn ignored_text(flag: &'static str, value: Option<impl ToString>) -> Self {
        Self::new(flag, value, Discloses::Place)
    }

    /// A flag whose value names documents or folders.
    pub(crate) fn names(flag: &'static str, value: Option<impl ToString>) -> Self {
        Self::new(flag, value, Discloses::Names)
    }

    fn new(flag: &'static str, value: Option<impl ToString>, discloses: Discloses) -> Self {
        Self { flag, value: value.map(|value| value.to_string()), discloses }
    }

    /// The flag and the value that a report shows, if any.
    pub(crate) fn shown(self, anonymous: bool) -> Option<(String, String)> {
        let value = match self.discloses {
            Discloses::Names if anonymous => return None,
            Discloses::Place if anonymous => self.value.map(|_| GIVEN.to_owned()),
            _ => self.value,
        };
        Some((self.flag.to_owned(), value?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anonymous_report_shows_no_value_that_names_something() {
        let shown = |anonymous| {
            let settings = [
                Setting::plain("--top", Some(3)),
                Setting::plain("--window", None::<u32>),
                Setting::switch("--skip-quotes", true),
                Setting::switch("--rewritten", false),
                Setting::ignored_text("--ignore-phrases", Some("ann/phrases.txt")),
                Setting::ignored_text("--ignore-phrases", None::<&str>),
                Setting::names("--across", Some("ann bob")),
            ];
            let shown = settings.into_iter().filter_map(|setting| setting.shown(anonymous));
            shown.map(|(flag, value)| format!("{flag} {value}")).collect::<Vec<_>>()
        };
        assert_eq!(
            shown(false),
            ["--top 3", "--skip-quotes yes", "--ignore-phrases ann/phrases.txt", "--across ann bob"]
        );
        assert_eq!(shown(true), ["--top 3", "--skip-quotes yes", "--ignore-phrases yes"]);
    }
}
