//! Kept out: the contents that no ingest adds. A run reads their list once.

use xxhash_rust::xxh3::Xxh3;

use fpdb_host::error::{Error, Result};
use fpdb_reading::input::KeptOutContents as Contents;
use fpdb_store::Store;

/// The contents that were removed for good.
pub(super) struct KeptOutContents {
    pub(super) list: Contents,
    digest: u64,
}

impl KeptOutContents {
    /// Reads the list.
    pub(super) fn of(store: &Store) -> Result<Self> {
        let (mut list, mut digest) = (Contents::default(), Xxh3::new());
        store.for_each_kept_out(|content, record| {
            digest.update(&content);
            list.insert(content, record.text.0);
            Ok::<_, Error>(())
        })?;
        Ok(Self { list, digest: digest.digest() })
    }

    /// A digest of all these contents. `None` if there are none. Databases keep the digest in the settings of
    /// containers.
    pub(super) fn digest(&self) -> Option<u64> {
        (!self.list.is_empty()).then_some(self.digest)
    }
}
