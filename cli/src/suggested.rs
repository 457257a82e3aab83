//! Suggested: the commands that messages print. Typed as printed, they act on the database of this run.

use std::path::PathBuf;

use crate::render::as_words;

/// Writes commands on the database of this run.
#[derive(Default)]
pub(crate) struct Suggested {
    /// The words of `--db`, if it was typed. Otherwise the next command finds the database as this one did,
    /// by the environment or the current folder.
    db: Option<String>,
}

impl Suggested {
    pub(crate) fn new(typed_db: Option<&PathBuf>) -> Self {
        Self { db: typed_db.map(|path| as_words(&flag("--db", &path.display().to_string()))) }
    }

    /// A command of these words, such as `verify --repair`.
    pub(crate) fn of(&self, words: &str) -> String {
        match (&self.db, words.split_once(' ')) {
            (None, _) => format!("fpdb {words}"),
            (Some(db), None) => format!("fpdb {words} {db}"),
            (Some(db), Some((verb, rest))) => format!("fpdb {verb} {db} {rest}"),
        }
    }

    /// A command with flags and operands that need quotes.
    pub(crate) fn with(&self, verb: &str, flags: Vec<String>, operands: &[&str]) -> String {
        let mut words = flags;
        words.extend(operands.iter().any(|operand| operand.starts_with('-')).then(|| "--".to_owned()));
        words.extend(operands.iter().map(|&operand| operand.to_owned()));
        self.of(&format!("{verb} {}", as_words(&words)))
    }
}

/// The words of a flag. A value that begins with a dash would be another flag if it were a word of its own.
pub(crate) fn flag(name: &str, value: &str) -> Vec<String> {
    match value.starts_with('-') {
        true => vec![format!("{name}={value}")],
        false => vec![name.to_owned(), value.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;
    use crate::typed::{Cli, Verb, command};

    #[test]
    fn a_suggested_command_is_parsed_as_it_was_meant() {
        let suggested = Suggested::new(Some(&"-my db".into()));
        assert_eq!(suggested.of("compact"), "fpdb compact '--db=-my db'");
        assert_eq!(Suggested::default().of("verify --repair"), "fpdb verify --repair");
        let prefix = suggested.with("rm", [flag("--prefix", "-dir/"), vec!["--yes".into()]].concat(), &[]);
        assert_eq!(prefix, "fpdb rm '--db=-my db' --prefix=-dir/ --yes");
        assert_eq!(Suggested::default().with("rm", flag("--prefix", "a b/"), &[]), "fpdb rm --prefix 'a b/'");
        let renamed = suggested.with("mv", Vec::new(), &["-a", "b"]);
        assert_eq!(renamed, "fpdb mv '--db=-my db' -- -a b");
        let parsed = command().try_get_matches_from(["fpdb", "mv", "--db=-my db", "--", "-a", "b"]).unwrap();
        let cli = Cli::from_arg_matches(&parsed).unwrap();
        let Verb::Mv(args) = cli.verb else { panic!("that was mv") };
        assert_eq!((args.old.as_str(), args.new.as_str(), cli.global.db), ("-a", "b", Some("-my db".into())));
    }
}
