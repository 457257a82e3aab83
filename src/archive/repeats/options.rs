//! Options of the search for repeated passages.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::anchor::WindowShape;
use fpdb_host::error::Result;
use fpdb_host::setters::setters;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::InputLimits;

/// Options of the search for repeated passages.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RepeatOptions {
    /// Minimum number of symbols of a repeat: at least the guarantee of the database's profile, and at most
    /// 65,536.
    pub min_length: u32,
    /// An existing folder for temporary files. `None`: the folder that holds the database.
    pub temp_dir: Option<PathBuf>,
    /// Limits on input when texts are read again.
    pub limits: InputLimits,
}

impl RepeatOptions {
    /// Options for repeats of at least `min_length` symbols.
    #[must_use]
    pub fn new(min_length: u32) -> Self {
        Self { min_length, temp_dir: None, limits: InputLimits::default() }
    }

    /// Options for repeats of at least a paragraph, for a database of this profile: 200 characters or bytes,
    /// 50 words or tokens. If the guarantee is longer, the guarantee is the minimum.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        use fpdb_kernel::profile::Unit;
        let paragraph = match profile.unit() {
            Unit::Char | Unit::Byte => 200,
            Unit::Word | Unit::Token => 50,
        };
        let guarantee = profile.guarantee().map_or(0, |t| u32::try_from(t).unwrap_or(u32::MAX));
        Self::new(guarantee.max(paragraph))
    }

    /// Checks that repeats can be found with these options in documents of this profile. Every search begins
    /// with this check.
    ///
    /// # Errors
    /// [`Error::PassageLength`](crate::Error::PassageLength) for a length out of range.
    pub fn check(&self, profile: &Profile) -> Result<()> {
        WindowShape::of(self.min_length, profile).map(drop)
    }

    setters! {
        min_length: u32,
        temp_dir: Option<PathBuf>,
        limits: InputLimits,
    }
}
