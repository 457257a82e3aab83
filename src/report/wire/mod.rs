//! The wire format: what each command answers, field by field.

mod care;
mod ingest;
mod verify;

pub use care::{BackupReport, CompactReport, RestoreReport, RmReport};
pub use ingest::{Failure, IngestReport, SkippedFile};
pub use verify::{LostDocumentReport, ProblemReport, RepairReport, VerifyReport};
