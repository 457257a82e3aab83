//! Kept out: the contents that no ingest adds. A run reads their list once.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::Xxh3;

use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;
use fpdb_store::Store;

/// The contents that were removed for good.
pub(super) struct KeptOutContents {
    contents: FxHashSet<Digest>,
    digest: u64,
}

impl KeptOutContents {
    /// Reads the list.
    pub(super) fn of(store: &Store) -> Result<Self> {
        let (mut contents, mut digest) = (FxHashSet::default(), Xxh3::new());
        store.for_each_kept_out(|content, _| {
            digest.update(&content);
            contents.insert(content);
            Ok::<_, Error>(())
        })?;
        Ok(Self { contents, digest: digest.digest() })
    }

    pub(super) fn contains(&self, content: &Digest) -> bool {
        self.contents.contains(content)
    }

    /// True if a document of this name and content was removed for good. Numbers of records and members can
    /// be those of others later, so only the names of files count.
    pub(super) fn names(&self, store: &Store, (name, member): (&str, Option<&str>), content: &Digest) -> Result<bool> {
        Ok(member.is_none()
            && self.contains(content)
            && store.kept_out_record(content)?.is_some_and(|record| record.names.iter().any(|known| known == name)))
    }

    /// A digest of all these contents. `None` if there are none. Databases keep the digest in the settings of
    /// containers.
    pub(super) fn digest(&self) -> Option<u64> {
        (!self.contents.is_empty()).then_some(self.digest)
    }
}
