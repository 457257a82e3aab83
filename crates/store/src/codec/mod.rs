//! Codec: the keys and values of the disk format. Pure: bytes in, values out; no I/O, clock, threads or
//! globals.

pub(super) mod bits;
pub(super) mod block;
pub(super) mod container_record;
pub(super) mod container_time;
pub(super) mod fields;
pub(super) mod filter;
pub(super) mod format;
pub(super) mod positions;
pub(super) mod records;
pub mod varint;
