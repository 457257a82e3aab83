//! Report: the one result type of each command, which is also its wire format, and the report for a browser.
//!
//! The JSON forms are stable: fields are only ever added.

mod evidence;
pub mod html;
mod wire;

pub use evidence::{PairEvidence, passages_of};
pub use wire::{
    BackupReport, CacheReport, CompactReport, DedupReport, DedupSummaryReport, DfReport, DocumentReport, Failure,
    IngestReport, LevelReport, LostDocumentReport, PairReport, ProblemReport, RepairReport, RestoreReport, RmReport,
    SkippedFile, StatsReport, StoredBytes, VerifyReport,
};
