//! Resolved: what was typed, brought together with what is there. Which database, which profile, which sources and
//! options; and whether results can go where they are to go.

pub(crate) mod database;
pub(crate) mod output;
pub(crate) mod phrases;
pub(crate) mod profile;
pub(crate) mod query;
pub(crate) mod remembered;
pub(crate) mod sources;
pub(crate) mod submissions;
