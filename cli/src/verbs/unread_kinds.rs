//! Unread kinds: skipped files of kinds that fpdb does not read, and how to convert them.

use fpdb::SkipReason;

use crate::printer::Printer;
use crate::render::{NAMES_SHOWN, count, first_names, was};

/// The number of files or documents of some kind, and their first names.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) number: u64,
    pub(super) first: Vec<String>,
}

impl Noted {
    pub(super) fn note(&mut self, name: &str) {
        self.number += 1;
        if self.first.len() < NAMES_SHOWN {
            self.first.push(name.to_owned());
        }
    }

    pub(super) fn shown(&self) -> String {
        first_names(&self.first, self.number)
    }
}

/// Skipped files of kinds that fpdb does not read.
#[derive(Default)]
pub(super) struct UnreadKinds {
    archives: Noted,
    office: Noted,
    /// Files of Outlook. They are mails, not office documents.
    outlook: Noted,
}

/// True if a file holds mails in a format of Outlook, by its name.
fn is_of_outlook(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".msg", ".pst", ".ost", "winmail.dat"].iter().any(|end| name.ends_with(end))
}

impl UnreadKinds {
    /// Notes a skipped file, if fpdb does not read its kind. Returns true if so.
    pub(super) fn note(&mut self, name: &str, reason: &SkipReason) -> bool {
        let kind = match reason {
            reason if reason.is_unread_archive() => &mut self.archives,
            SkipReason::Package | SkipReason::Binary if is_of_outlook(name) => &mut self.outlook,
            SkipReason::Package => &mut self.office,
            _ => return false,
        };
        kind.note(name);
        true
    }

    /// Prints the files and how to convert them. `verb` is the command that can read the converted files.
    pub(super) fn tell(&self, verb: &str, printer: &Printer) {
        let Self { archives, office, outlook } = self;
        for (noted, one, kinds, hint) in [
            (archives, "archive", "kinds that fpdb does not read", format!("unpack them and {verb} what comes out")),
            (
                office,
                "office document",
                "kinds that fpdb does not read",
                format!(
                    "save them as DOCX, PDF or text and {verb} what comes out: `libreoffice --headless --convert-to docx FILE`"
                ),
            ),
            (outlook, "file", "Outlook", format!("save the mails in them as .eml and {verb} what comes out")),
        ] {
            if noted.number > 0 {
                let (files, were) = (count(noted.number, one), was(noted.number));
                printer.note(&format!("{files} of {kinds} {were} skipped: {}", noted.shown()));
                printer.note(&format!("hint: {hint}"));
            }
        }
    }
}
