//! Run rows: the rows of one run, which are blocks of postings and filters.

use crate::codec::block::Block;
use crate::codec::filter::Filter;
use crate::codec::format::{POSTINGS, keys_of, parse_filter_key, parse_posting_key};
use crate::engine::Engine;
use crate::engine::rows::Rows;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::hex;

/// The pattern in which rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPattern {
    /// At scattered places. The blocks read stay in the cache.
    Points,
    /// From end to end, once. Reads ahead, and does not change the cache.
    Through,
}

/// A cursor over the blocks of one run.
pub(crate) fn blocks_of(engine: &Engine, run: u32, reading: ReadPattern) -> Result<Rows<'_>> {
    rows_of(engine, POSTINGS, run, reading)
}

/// A cursor over the rows of one run in the family `name`, which must be one of `RUN_FAMILIES`.
pub(crate) fn rows_of<'a>(engine: &'a Engine, name: &'static str, run: u32, reading: ReadPattern) -> Result<Rows<'a>> {
    let (first, after) = keys_of(run);
    let action = if name == POSTINGS { "read postings" } else { "read filters" };
    engine.rows_between(name, (&first, &after), reading == ReadPattern::Through, action)
}

/// The size of a block in bytes, approximately.
pub(crate) const BLOCK_BYTES: usize = 4 << 10;

/// The block that a cursor stands on, with its last hash. `None` past the end.
pub(crate) fn current_block<'a>(blocks: &'a Rows<'_>) -> Result<Option<(u64, Block<'a>)>> {
    let Some((key, value)) = blocks.item() else {
        blocks.check()?;
        return Ok(None);
    };
    let damaged = |detail| Error::Damaged { what: format!("posting block {}", hex::encode(key)), detail };
    let (_, last_hash, _) = parse_posting_key(key).ok_or_else(|| damaged("its key is not 16 bytes"))?;
    let block = Block::decode(last_hash, value).map_err(damaged)?;
    Ok(Some((last_hash, block)))
}
/// The filter that a cursor stands on, with its last hash and the bytes of its row. `None` past the end.
pub(crate) fn current_filter<'a>(rows: &'a Rows<'_>) -> Result<Option<(u64, usize, Filter<'a>)>> {
    let Some((key, value)) = rows.item() else {
        rows.check()?;
        return Ok(None);
    };
    let damaged = |detail| Error::Damaged { what: format!("filter {}", hex::encode(key)), detail };
    let (_, last_hash) = parse_filter_key(key).ok_or_else(|| damaged("its key is not 12 bytes"))?;
    let filter = Filter::decode(value).map_err(damaged)?;
    Ok(Some((last_hash, value.len(), filter)))
}
