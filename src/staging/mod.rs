//! Staging: the parts of a database, made by many machines in one shuffle, and assembled by one.
//!
//! A *build* has a folder that all machines see. Its [`StagingPlan`] is written first and says how rows are divided into
//! *parts*: postings by fixed ranges of hashes, documents by number, names by the alphabet, digests evenly. Then
//!
//! * *map*: [`StagingMapper`] turns documents into rows, each with the number of its part;
//! * the engine that runs the build (Spark, say) brings the rows of each part together and sorts them;
//! * *reduce*: [`StagingReducer`] checks that they ascend strictly and writes the part's sorted files, in the format of the
//!   store itself;
//! * *finish*: [`Staging::finish`] checks that all parts are there and fit together, and writes the manifest;
//! * *assemble*: [`crate::DatabaseWriter::assemble`] moves the files into an empty database in one commit, or merges them into one
//!   that has documents.
//!
//! A document's number comes from the caller's own list of inputs, so that a task that runs twice makes the same rows. A part
//! is a folder of its own for each attempt, and counts once its list of files is there: attempts that were killed leave
//! nothing that counts, and of two that ended either will do.

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
