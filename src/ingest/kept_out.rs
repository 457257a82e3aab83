//! Kept out: the contents that no ingest adds. A run reads their list once.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::Xxh3;

use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;
use fpdb_reading::input::file_name_of;
use fpdb_store::{DocumentRecord, KeptOutRecord, Store};

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

    /// True if the content of this document was removed for good under the document's name.
    pub(super) fn is_of_name(&self, store: &Store, document: &DocumentRecord) -> Result<bool> {
        let kept_out = if self.contains(&document.digest) { store.kept_out_record(&document.digest)? } else { None };
        Ok(kept_out.is_some_and(|kept_out| may_name(&kept_out, document)))
    }

    /// A digest of all these contents. `None` if there are none. Databases keep the digest in the settings of
    /// containers.
    pub(super) fn digest(&self) -> Option<u64> {
        (!self.contents.is_empty()).then_some(self.digest)
    }
}

/// True if the content may have been removed for good under the name of this document, however the path of
/// its file is typed now. A full record may lack the name.
pub(super) fn may_name(kept_out: &KeptOutRecord, document: &DocumentRecord) -> bool {
    kept_out.may_name(&document.name) || !kept_out.has_room() || {
        let by_path = name_by_path(document).unwrap_or_default();
        kept_out.names.iter().any(|name| is_same_place(&by_path, name))
    }
}

/// The name that the document has if the whole path of its file is typed. `None` if it comes from no file.
pub(super) fn name_by_path(document: &DocumentRecord) -> Option<String> {
    let file = file_name_of(&document.name, document.member.as_deref())?;
    Some(format!("{}{}", document.source.as_deref()?, &document.name[file.len()..]))
}

/// True if a name is the end of a name by path, from a folder on.
pub(super) fn is_same_place(by_path: &str, name: &str) -> bool {
    by_path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
