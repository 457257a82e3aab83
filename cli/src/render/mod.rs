//! Render: answers as text for people and as CSV. JSON needs no rendering: `serde` writes the answers themselves.

mod apply;
mod corpus;
mod csv;
mod dedup;
mod escape;
mod folder;
mod human;
mod numbers;
mod pairs;
mod repeats;
mod style;
mod verification;

pub(super) use apply::{applied_line, apply_summary_line, lost_line, proof_summary_line};
pub(super) use corpus::{corpus_header, corpus_line, corpus_row};
pub(super) use csv::{
    document_header, document_row, pair_header, pair_rows, query_header, query_rows, removable_header, removable_row,
    superseded_row, undecided_row,
};
pub(super) use dedup::{
    dedup_plan_page, dedup_summary_line, latest_run_line, removable_line, superseded_line, undecided_line,
};
pub(super) use escape::{escape_json, escape_terminal};
pub(super) use folder::{SharedFolder, common_folder, document_header_line};
pub(super) use human::{
    NAMES_SHOWN, as_words, document_line, document_page, first_names, ingest_page, query_page, stats_page,
};
pub(super) use numbers::{count, duration, grouped, percent, size};
pub(super) use pairs::{
    PairColumns, boilerplate_left_out, common_left_out, file_lines, pair_header_line, pair_line, pairs_total,
};
pub(super) use repeats::{
    repeat_header, repeat_line, repeat_row, repeat_summary_lines, uncompared_line, uncompared_row,
};
pub(super) use style::Style;
pub(super) use verification::{restored_documents, verify_page};
