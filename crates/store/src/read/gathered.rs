//! Gathered: the postings of the hashes of many queries, looked up together.
//!
//! One ascending pass reads each block once for all queries whose hashes lie in it, and a hash of several
//! queries is looked up once. Each query then finds the postings of its hashes here. It opens cursors only
//! for a hash that is missing here.

use rayon::prelude::*;

use crate::Store;
use crate::codec::block::Posting;
use crate::read::posting_cache::PostingCache;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;

/// Minimum number of hashes in the part of one thread.
const HASHES_IN_PART: usize = 1 << 12;

/// The postings of hashes as of one commit.
#[derive(Debug, Default)]
pub struct Gathered {
    /// The postings, in parts by range of hashes, ascending.
    parts: Vec<PostingCache>,
}

impl Store {
    /// Looks up `hashes`, which must ascend without duplicates, on all threads. Keeps hashes and postings up
    /// to about `memory` bytes. Later lookups read the postings of the hashes that were not kept.
    ///
    /// # Errors
    /// [`Error::Stopped`](fpdb_host::error::Error::Stopped); an error of reading the store.
    pub fn gather(&self, hashes: &[u64], memory: usize, stop: &StopToken) -> Result<Gathered> {
        let threads = self.pool().threads().max(1);
        let size = hashes.len().div_ceil(threads).max(HASHES_IN_PART);
        let count = hashes.len().div_ceil(size).max(1);
        let part = |hashes: &[u64]| {
            let mut cache = PostingCache::within(memory / count / size_of::<Posting>());
            let mut lookup = self.lookup(hashes.len())?;
            for &hash in hashes {
                stop.check()?;
                if !cache.add(hash, lookup.find(hash)?) && cache.is_full() {
                    break;
                }
            }
            Ok(cache)
        };
        let parts = self.pool().run(|| hashes.par_chunks(size).map(part).collect::<Result<_>>())?;
        Ok(Gathered { parts })
    }
}

impl Gathered {
    /// The postings of a hash in live documents. `None` if the hash was not gathered.
    pub(crate) fn get(&self, hash: u64) -> Option<&[Posting]> {
        let number = self.parts.partition_point(|part| part.last_hash().is_some_and(|last| last < hash));
        self.parts.get(number)?.get(hash)
    }
}
