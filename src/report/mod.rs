//! Report: the one result type of each command, which is also its wire format, and its renderings.
//!
//! The JSON forms are stable: fields are only ever added.

mod csv;
mod evidence;
pub mod html;
mod human;
mod seen;
mod wire;

pub use csv::{
    document_header, document_row, pair_header, pair_rows, query_header, query_rows, removable_header, removable_row,
};
pub use evidence::{PairEvidence, passages_of};
pub use human::{
    Style, count, dedup_summary_line, document_line, document_page, ingest_page, pair_header_line, pair_line,
    query_page, removable_line, size, stats_page, verify_page,
};
pub use seen::seen;
pub use wire::{
    BackupReport, CacheReport, CompactReport, DedupReport, DedupSummaryReport, DfReport, DocumentReport, Failure,
    IgnoredReport, IngestReport, LevelReport, LostDocumentReport, MatchReport, PairReport, PassageReport,
    ProblemReport, ProfileReport, QueryDocumentReport, QueryReport, RepairReport, RestoreReport, RmReport, SkippedFile,
    SpanReport, StatsReport, StoredBytes, VerifyReport,
};
