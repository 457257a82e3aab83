//! Report: the one result type of each command, which is also its wire format, and the report for a browser.
//!
//! The JSON forms are stable: fields are only ever added.

mod evidence;
pub mod html;
mod wire;

pub use evidence::{PairEvidence, add_passages};
pub use wire::{
    BackupReport, CompactReport, Failure, IngestReport, LostDocumentReport, ProblemReport, RepairReport, RestoreReport,
    RmReport, SkippedFile, VerifyReport,
};
