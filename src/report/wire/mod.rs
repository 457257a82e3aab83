//! The wire format: what each command answers, field by field.

mod care;
mod ingest;
mod pairs;
mod stored;

pub use care::{BackupReport, CompactReport, RestoreReport, RmReport};
pub use ingest::{Failure, IngestReport, SkippedFile};
pub use pairs::{DedupReport, DedupSummaryReport, PairReport};
pub use stored::{
    CacheReport, DfReport, DocumentReport, LevelReport, LostDocumentReport, ProblemReport, RepairReport, StatsReport,
    StoredBytes, VerifyReport,
};
