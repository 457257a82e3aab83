//! Which profile: of a new database, or what is asked of one that exists.

use anyhow::Context;
use fpdb::{Error, Profile, Selection, Unit, WordRule};

use crate::cli::typed::ProfileArgs;

impl ProfileArgs {
    /// The profile of a new database: the named one, `text` without a name, with the other settings changed.
    pub(crate) fn for_new(&self) -> anyhow::Result<Profile> {
        let name = self.profile.as_deref().unwrap_or("text");
        // The names were checked when they were typed.
        let base = Profile::named(name).with_context(|| format!("there is no profile {name}"))?;
        Ok(self.over(&base)?)
    }

    /// Checks that what was given agrees with the profile of an existing database; what was not given does.
    pub(crate) fn check(&self, stored: &Profile) -> Result<(), Error> {
        let base = self.profile.as_deref().and_then(Profile::named).unwrap_or(*stored);
        let asked = self.over(&base)?;
        let asked = Profile { hash_version: stored.hash_version, ..asked };
        if asked == *stored {
            return Ok(());
        }
        Err(Error::ProfileMismatch { stored: Box::new(*stored), asked: Box::new(asked) })
    }

    fn over(&self, base: &Profile) -> Result<Profile, Error> {
        let unit = self.unit.unwrap_or(base.unit);
        if self.words.is_some() && unit != Unit::Word {
            return Err(Error::InvalidParameter {
                name: "--words",
                value: self.words.unwrap_or(WordRule::Letters).to_string(),
                expected: "to be left out unless the unit is word",
            });
        }
        let selection = self.selection.unwrap_or(base.selection);
        // `all` is the window of one hash, whatever the base had.
        let base_w = if selection == Selection::All { 1 } else { base.w };
        Profile::new(
            unit,
            self.words.unwrap_or(base.word_rule),
            self.k.unwrap_or(base.k),
            self.w.unwrap_or(base_w),
            selection,
        )
    }
}
