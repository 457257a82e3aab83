//! Fingerprinters: chooses the fingerprinter of a document, since boilerplate has more fingerprints than
//! other documents.

use fpdb_kernel::profile::Profile;
use fpdb_reading::fingerprint::Fingerprinter;
use fpdb_reading::input::InputLimits;

/// A fingerprinter for each kind of document.
pub(super) struct Fingerprinters {
    of_documents: Fingerprinter,
    of_boilerplate: Fingerprinter,
}

impl Fingerprinters {
    pub(super) fn new(profile: &Profile, limits: &InputLimits) -> Self {
        let new = |profile| Fingerprinter::new(profile).with_limits(limits);
        Self { of_documents: new(profile), of_boilerplate: new(&profile.of_boilerplate()) }
    }

    /// The fingerprinter for the next document.
    pub(super) fn of(&mut self, boilerplate: bool) -> &mut Fingerprinter {
        if boilerplate { &mut self.of_boilerplate } else { &mut self.of_documents }
    }
}
