//! Open: is there a database in this folder, is it whole, and who may write it?

pub(super) mod create;
pub(super) mod lock;
pub(super) mod mark;
pub(super) mod open_files;
