//! Which profile: of a new database, or what is asked of one that exists.

use fpdb::{Error, Profile, Selection, Unit, WordRule};

use crate::typed::ProfileArgs;

/// Refuses to look for rewritten text in a database that is not of words, before any work is done.
pub(crate) fn check_rewritten(rewritten: bool, profile: &Profile) -> Result<(), Error> {
    match rewritten && profile.unit() != Unit::Word {
        true => Err(Error::NotWords { unit: profile.unit() }),
        false => Ok(()),
    }
}

impl ProfileArgs {
    /// The profile of a new database: the named one, else the default, with the other settings changed.
    pub(crate) fn for_new(&self) -> Result<Profile, Error> {
        self.or(Profile::default())
    }

    /// The named profile, else `default`, with the other settings changed.
    pub(crate) fn or(&self, default: Profile) -> Result<Profile, Error> {
        // The name was checked when it was typed.
        self.over(&self.profile.and_then(Profile::named).unwrap_or(default))
    }

    /// Checks that what was given agrees with the profile of an existing database; what was not given does.
    pub(crate) fn check(&self, stored: &Profile) -> Result<(), Error> {
        let base = self.profile.and_then(Profile::named).unwrap_or(*stored);
        let asked = self.over(&base)?;
        // The rules of another unit have versions of their own.
        let hash_version = if asked.unit() == stored.unit() { stored.hash_version() } else { asked.hash_version() };
        let asked = asked.with_hash_version(hash_version);
        if asked == *stored {
            return Ok(());
        }
        Err(Error::ProfileMismatch { stored: Box::new(*stored), asked: Box::new(asked) })
    }

    fn over(&self, base: &Profile) -> Result<Profile, Error> {
        let unit = self.unit.unwrap_or(base.unit());
        if self.words.is_some() && unit != Unit::Word {
            return Err(Error::InvalidParameter {
                name: "--words",
                value: self.words.unwrap_or(WordRule::Letters).to_string(),
                expected: "to be left out unless the unit is word",
            });
        }
        let selection = self.selection.unwrap_or(base.selection());
        // `all` is the window of one hash, whatever the base had.
        let base_w = if selection == Selection::All { 1 } else { base.w() };
        Ok(Profile::new(
            unit,
            self.words.unwrap_or(base.word_rule()),
            self.k.unwrap_or(base.k()),
            self.w.unwrap_or(base_w),
            selection,
        )?)
    }
}
