//! Terms: the fingerprints that are compared, by hash and by document.

pub(super) mod holders;
pub(super) mod newcomers;
pub(super) mod partitions;
pub(super) mod places;
pub(super) mod sets;
pub(super) mod source;
