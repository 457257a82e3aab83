//! Find: walks the given paths and decides which files are documents to read. It also decides which stored
//! documents a walk may find again.

pub(crate) mod candidate;
pub(crate) mod enclosing;
pub(crate) mod globs;
pub(crate) mod measure;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod path_filter;
pub(crate) mod reach;
pub(crate) mod scope;
pub(crate) mod walk;
