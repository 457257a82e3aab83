//! Find: walks the given paths and says which files are documents to read. It also finds the stored documents
//! that a walk may meet again.

pub(crate) mod candidate;
pub(crate) mod enclosing;
pub(crate) mod measure;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod reach;
pub(crate) mod scope;
pub(crate) mod walk;
