//! Render: answers as text for people and as CSV. JSON needs no rendering: `serde` writes the answers
//! themselves.

mod answer;
mod apply;
mod assembly;
mod corpus;
mod csv;
mod dedup;
mod escape;
mod folder;
mod human;
mod metadata;
mod numbers;
mod pairs;
mod repeats;
mod stats;
mod style;
mod verification;

pub(super) use answer::{
    Answer, AppliedLine, ApplyTotals, DedupLine, DocumentLine, PairLine, QueryPage, Render, Spoken, StatsPage,
};
pub(super) use apply::FileGroups;
pub(super) use corpus::corpus_header;
pub(super) use csv::{DEDUP, document_header, pair_header, query_header};
pub(super) use dedup::latest_run_line;
pub(super) use escape::{as_words, escape_json, escape_terminal};
pub(super) use folder::{SharedFolder, common_folder, document_header_line};
pub(super) use human::{NAMES_SHOWN, first_names, names_and_more};
pub(super) use metadata::time_of;
pub(super) use numbers::{attachments_left_out, count, duration, grouped, has, is, moment, percent, size, was};
pub(super) use pairs::{PairColumns, boilerplate_left_out, common_left_out, pair_header_line, pairs_total};
pub(super) use repeats::repeat_header;
pub(super) use stats::as_fields;
pub(super) use style::Style;
pub(super) use verification::restored_documents;
