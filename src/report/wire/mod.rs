//! The wire format: what each command answers, field by field.

mod care;
mod ingest;
mod pairs;
mod query;
mod stored;

pub use care::{BackupReport, CompactReport, RestoreReport, RmReport};
pub use ingest::{Failure, IngestReport, SkippedFile};
pub use pairs::{DedupReport, DedupSummaryReport, PairReport};
pub use query::{IgnoredReport, MatchReport, PassageReport, QueryDocumentReport, QueryReport, SpanReport};
pub use stored::{
    CacheReport, DfReport, DocumentReport, LevelReport, LostDocumentReport, ProblemReport, ProfileReport, RepairReport,
    StatsReport, StoredBytes, VerifyReport,
};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
