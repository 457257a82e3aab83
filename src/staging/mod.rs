//! Staging: a distributed build. Many machines make the parts of a database in one shuffle, and one machine
//! assembles the parts.
//!
//! A *build* has a folder that all machines see. Its [`StagingPlan`] is written first. The plan divides rows
//! into *parts*: postings by fixed ranges of hashes, documents by number, names alphabetically, digests
//! evenly. The steps are:
//!
//! * *map*: [`StagingMapper`] turns documents into rows, each with the number of its part;
//! * the engine that runs the build (Spark, say) brings the rows of each part together and sorts them;
//! * *reduce*: [`StagingReducer`] checks that the rows of a part ascend strictly and writes the part's sorted
//!   files, in the format of the store itself;
//! * *finish*: [`Staging::finish`] checks that all parts exist and fit together, and writes the manifest;
//! * *assemble*: [`DatabaseWriter::assemble`](crate::DatabaseWriter::assemble) moves the files into an empty
//!   database in one commit, or merges them into a database that has documents.
//!
//! A document's number comes from the caller's own list of inputs, so a task that runs twice makes the same
//! rows. Each attempt at a part has its own folder, and becomes the part once its list of files exists. So a
//! killed attempt never counts, and either of two complete attempts is valid.
//!
//! Hashes with very many postings are divided by document as well, each slice in a separate run. Rows travel
//! in blocks: one row of the engine holds many rows of the build, since an engine takes about 5 µs for
//! a row. The reduce side refuses rows that do not ascend strictly or that belong to another part. Two sums
//! over all postings, one made with the documents and one with the postings, prove that each posting exists
//! once.

mod assemble;
mod folder;
mod json_file;
mod layout;
mod manifest;
mod map;
mod parts;
mod plan;
mod reduce;
mod rows;

pub use assemble::Assembly;
pub(crate) use assemble::assemble;
pub use folder::Staging;
pub use manifest::StagingSummary;
pub use map::StagingMapper;
pub use plan::StagingPlan;
pub use reduce::StagingReducer;
pub use rows::{StagedColumns, StagedRows};
