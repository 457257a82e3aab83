//! Care: verifies, copies and repairs a database.
//!
//! A repair never changes the damaged store. It writes the readable rows into a new store (`repair`). Once
//! complete, the new store takes the place of the damaged one. The documents that then lack a row are read
//! again from their files.

pub(super) mod backup;
pub(super) mod backup_files;
mod backup_records;
mod choice;
pub(super) mod damaged_stores;
pub(super) mod findings;
pub(super) mod found_tables;
#[cfg(test)]
mod left_tables_tests;
#[cfg(test)]
mod list_tests;
mod remembered_rows;
#[cfg(test)]
mod remembered_rows_tests;
pub(super) mod repair;
#[cfg(test)]
mod repair_tests;
pub(super) mod salvage;
#[cfg(test)]
mod salvage_tests;
mod salvaged_rows;
pub(super) mod survey;
pub(super) mod verify;
