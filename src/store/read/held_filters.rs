//! The filters of a run, held in memory: whether it may hold a hash is then a matter of three bytes, where the
//! engine would first find the filter's row again. That took most of the time of a hash that is not there
//! (`docs/design.md`).

use crate::error::{Error, Result};
use crate::store::codec::filter::{Filter, Head};
use crate::store::codec::records::RunRecord;
use crate::store::engine::rows::Rows;
use crate::store::read::run_rows::current_filter;

/// All filters of one run, in order.
#[derive(Debug)]
#[cfg_attr(test, derive(Default))]
pub(in crate::store) struct HeldFilters {
    /// The last hash each knows of.
    last_hashes: Vec<u64>,
    /// Their heads, apart from the bytes: one wait for memory less.
    heads: Vec<Head>,
    /// Where the bytes of each begin, and where those of the last one end.
    bounds: Vec<usize>,
    bytes: Vec<u8>,
}

impl HeldFilters {
    /// Reads the filters of `run`, whose `rows` these are.
    pub(in crate::store) fn read(run: u32, record: &RunRecord, rows: &mut Rows<'_>) -> Result<Self> {
        let size = usize::try_from(record.filter_bytes).unwrap_or(0);
        let mut held =
            Self { last_hashes: Vec::new(), heads: Vec::new(), bounds: vec![0], bytes: Vec::with_capacity(size) };
        let mut read = 0;
        rows.seek_to_first();
        while let Some((last_hash, value_bytes, filter)) = current_filter(rows)? {
            held.last_hashes.push(last_hash);
            held.heads.push(filter.head);
            held.bytes.extend_from_slice(filter.bytes);
            held.bounds.push(held.bytes.len());
            read += value_bytes;
            rows.next();
        }
        // If a filter is missing, the one after the gap would keep out hashes that the run holds.
        if read as u64 != record.filter_bytes {
            let what = format!("the filters of run {run}");
            return Err(Error::Damaged { what, detail: "they are not as many bytes as were written" });
        }
        Ok(held)
    }

    /// Bytes of memory.
    pub(in crate::store) fn size(&self) -> usize {
        self.bytes.len() + self.heads.len() * (size_of::<Head>() + size_of::<(u64, usize)>())
    }

    /// False where the run surely does not hold `hash`.
    pub(in crate::store) fn may_hold(&self, hash: u64) -> bool {
        let number = self.last_hashes.partition_point(|&last| last < hash);
        // None: above the run's last hash.
        let Some(&head) = self.heads.get(number) else { return false };
        Filter { head, bytes: &self.bytes[self.bounds[number]..self.bounds[number + 1]] }.may_hold(hash)
    }
}
