//! The profile of a new database, and checks against the profile of an existing one.

use fpdb::{Error, Profile, Selection, Unit, WordRule};

use crate::typed::ProfileArgs;

/// Fails early if rewritten text is requested and the unit is not words.
pub(crate) fn check_rewritten(rewritten: bool, profile: &Profile) -> Result<(), Error> {
    match rewritten && profile.unit() != Unit::Word {
        true => Err(Error::NotWords { unit: profile.unit() }),
        false => Ok(()),
    }
}

impl ProfileArgs {
    /// The profile of a new database: the named one, otherwise the default, with the other typed settings.
    pub(crate) fn for_new(&self) -> Result<Profile, Error> {
        self.or(Profile::default())
    }

    /// The named profile, otherwise `default`, with the other typed settings.
    pub(crate) fn or(&self, default: Profile) -> Result<Profile, Error> {
        // The name was checked when it was typed.
        self.over(&self.profile.and_then(Profile::named).unwrap_or(default))
    }

    /// Checks that the typed settings agree with the profile of an existing database.
    pub(crate) fn check(&self, stored: &Profile) -> Result<(), Error> {
        let base = self.profile.and_then(Profile::named).unwrap_or(*stored);
        let asked = self.over(&base)?;
        // No setting names the version of the hashes or the number of views: a database keeps its own.
        let settings = |profile: &Profile| profile.without_text_view().with_hash_version(0);
        if settings(&asked) == settings(stored) {
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
        // With `all` the window is 1, regardless of the base profile.
        let base_w = if selection == Selection::All { 1 } else { base.w() };
        let profile = Profile::new(
            unit,
            self.words.unwrap_or(base.word_rule()),
            self.k.unwrap_or(base.k()),
            self.w.unwrap_or(base_w),
            selection,
        )?;
        // A profile has a second view only if its base has one and the unit is token. A selection without
        // windows cannot have one.
        Ok(match base.text_view().filter(|_| unit == Unit::Token) {
            Some(text) => profile.with_text_view(text.k(), text.w()).unwrap_or(profile),
            None => profile,
        })
    }
}
