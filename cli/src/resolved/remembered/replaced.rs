//! Replaced: typed flags replace the flags remembered for the typed paths and for paths in them, once
//! documents were read with the typed flags.

use fpdb::maintenance::RememberedSource;
use fpdb::{Database, DatabaseWriter, IngestOptions};
use fpdb_reading::input::absolute_name;

use super::{Flags, below, rooted, there};
use crate::printer::Printer;
use crate::render::{as_words, count};
use crate::typed::IngestArgs;
use crate::typed::reading_flags::{words, words_of_json};

/// Maximum number of paths that a message names.
const NAMED: usize = 3;

/// A path, its form in messages, and the flags that were remembered for it before the run.
struct Earlier {
    path: String,
    shown: String,
    flags: Flags,
}

/// The paths for which typed flags hold.
#[derive(Default)]
pub(crate) struct Replaced {
    typed: Vec<Earlier>,
    /// Remembered paths in typed folders that the run reads.
    below: Vec<Earlier>,
    given: Vec<String>,
}

impl Replaced {
    /// The paths for which the typed flags hold; none if no flags are typed.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub(crate) fn of(database: &Database, args: &IngestArgs) -> anyhow::Result<Self> {
        if !args.are_reading_flags_typed {
            return Ok(Self::default());
        }
        let (options, known) = (args.options(), database.remembered_sources()?);
        let mut typed = Vec::new();
        for path in there(args) {
            let (shown, flags) = (path.display().to_string(), database.remembered(path)?);
            typed.push(Earlier { path: absolute_name(path)?, shown, flags });
        }
        let folders: Vec<String> = typed.iter().map(|earlier| earlier.path.clone()).collect();
        let earlier = |RememberedSource { path, options, .. }: &RememberedSource| Earlier {
            path: path.clone(),
            shown: path.clone(),
            flags: options.clone(),
        };
        let below = below::read_paths(&known, &folders, &options.walk)?.into_iter().map(earlier).collect();
        Ok(Self { typed, below, given: words(&rooted(&options)?) })
    }

    /// The absolute paths for which [`Self::finish`] must know if a document was read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.typed.iter().chain(&self.below).map(|earlier| &*earlier.path)
    }

    /// Before a run, remembers the options of typed paths that have none yet, because a killed run stores
    /// documents too.
    ///
    /// # Errors
    /// Fails if the database cannot be written.
    pub(crate) fn remember_new(&self, database: &DatabaseWriter, options: &IngestOptions) -> anyhow::Result<()> {
        let new = self.typed.iter().filter(|earlier| earlier.flags.is_empty());
        Ok(database.remember(&new.map(|earlier| &*earlier.path).collect::<Vec<_>>(), options)?)
    }

    /// After a run, remembers the options of each typed path if a document was read there, and prints the
    /// flags that are no longer used. If `is_whole`, the run has also read all paths in the typed folders, so
    /// the flags of these paths are forgotten. Default options replace remembered options even if no document
    /// was read. `database` is `None` in a dry run.
    ///
    /// # Errors
    /// Fails if the database cannot be written.
    pub(crate) fn finish(
        &self,
        database: Option<&DatabaseWriter>,
        (options, is_whole): (&IngestOptions, bool),
        has_read: impl Fn(&str) -> bool,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        let is_replaced = |earlier: &&Earlier| self.given.is_empty() || has_read(&earlier.path);
        let (typed, unread): (Vec<_>, Vec<_>) = self.typed.iter().partition(is_replaced);
        let below = self.below.iter().filter(|_| is_whole);
        let (forgotten, unread_below): (Vec<_>, Vec<_>) = below.partition(is_replaced);
        if let Some(database) = database {
            let paths = |all: &[&Earlier]| all.iter().map(|earlier| earlier.path.clone()).collect::<Vec<_>>();
            database.remember(&paths(&typed), options)?;
            let new = unread.iter().filter(|earlier| earlier.flags.is_empty());
            let none: Vec<&Earlier> = forgotten.iter().chain(new).copied().collect();
            database.remember(&paths(&none), &IngestOptions::default())?;
        }
        self.tell("no longer used", &typed, printer);
        if self.tell("no longer used", &forgotten, printer) {
            printer.note("hint: to keep what was read with such flags, leave such a path out here with --exclude");
        }
        self.tell("no document was read; still remembered", &[unread, unread_below].concat(), printer);
        Ok(())
    }

    /// Prints the earlier flags of these paths that were not typed again. Returns true if there are any.
    fn tell(&self, what: &str, paths: &[&Earlier], printer: &Printer) -> bool {
        let others = |earlier: &&Earlier| {
            let flags = words_of_json(&earlier.flags).into_iter().filter(|flag| !self.given.contains(flag));
            let flags: Vec<String> = flags.collect();
            (!flags.is_empty()).then(|| format!("{}: {what}: {}", earlier.shown, as_words(&flags)))
        };
        let told: Vec<String> = paths.iter().filter_map(others).collect();
        told.iter().take(NAMED).for_each(|note| printer.note(note));
        if let more @ 1.. = told.len().saturating_sub(NAMED) {
            printer.note(&format!("{}: other flags are {what}", count(more as u64, "more path")));
        }
        !told.is_empty()
    }
}
