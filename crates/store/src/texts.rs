//! Texts: the stored bytes of documents, in compressed chunks of 1 MiB.

use xxhash_rust::xxh3::Xxh3;

use super::Store;
use super::codec::format::{TEXTS, chunk_key};
use super::codec::records::DocumentRecord;
use fpdb_host::error::{Error, Result};

/// Bytes of a document in one chunk, before compression. So no value grows with the document.
pub const TEXT_CHUNK_BYTES: usize = 1 << 20;

/// The default level of zstd. Text shrinks to some two fifths of its size, at about 300 MB/s.
const LEVEL: i32 = 3;

/// The number of chunks of a document of this many bytes. The result always fits in a key, even if the length
/// comes from a damaged record.
pub fn chunks(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(TEXT_CHUNK_BYTES as u64)).unwrap_or(u32::MAX)
}

/// The number of chunks of a document that are in the store.
pub(super) fn chunks_of(record: &DocumentRecord) -> u32 {
    if record.stored_text { chunks(record.bytes) } else { 0 }
}

/// Compresses one chunk of at most [`TEXT_CHUNK_BYTES`].
///
/// # Errors
/// [`Error::System`] if zstd fails.
pub fn compress(chunk: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::compress(chunk, LEVEL).map_err(Error::system("compress a text"))
}

/// Undoes [`compress`].
///
/// # Errors
/// Returns the damage, as the end of a sentence. Any bytes are safe to give.
pub fn decompress(chunk: &[u8]) -> std::result::Result<Vec<u8>, &'static str> {
    zstd::bulk::decompress(chunk, TEXT_CHUNK_BYTES).map_err(|_| "a chunk of it does not decompress to 1 MiB or less")
}

/// True if the text of a document is stored, all chunks decompress, and their digest is the recorded one.
/// `get` returns a compressed chunk by its number.
pub(super) fn is_intact(record: &DocumentRecord, mut get: impl FnMut(u32) -> Result<Option<Vec<u8>>>) -> Result<bool> {
    if !record.stored_text {
        return Ok(false);
    }
    let mut digest = Xxh3::new();
    for chunk in 0..chunks(record.bytes) {
        let Some(chunk) = get(chunk)? else { return Ok(false) };
        let Ok(bytes) = decompress(&chunk) else { return Ok(false) };
        digest.update(&bytes);
    }
    Ok(digest.digest128().to_be_bytes() == record.digest)
}

impl Store {
    /// The bytes of a document whose record says that they are stored.
    ///
    /// # Errors
    /// * [`Error::Damaged`] if a chunk is missing or the bytes are not the ingested ones.
    /// * [`Error::NoSuchNumber`] if the document has been deleted.
    pub fn text(&self, document: u32, record: &DocumentRecord) -> Result<Vec<u8>> {
        // If the last chunk is missing, the record may be damaged. Then no memory is reserved for its length.
        let last = chunks(record.bytes).saturating_sub(1);
        if last > 0 && self.engine.get(TEXTS, chunk_key(document, last), "read a text")?.is_none() {
            return Err(self.missing_row(document, || missing_chunk(document)));
        }
        let mut text = Vec::with_capacity(usize::try_from(record.bytes).unwrap_or(0));
        self.for_each_text_chunk(document, record, |chunk| {
            text.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(text)
    }

    /// Checks that the stored bytes of a document are the ingested ones, one chunk at a time.
    pub(super) fn check_text(&self, document: u32, record: &DocumentRecord) -> Result<()> {
        self.for_each_text_chunk(document, record, |_| Ok(()))
    }

    /// Calls `visit` with each chunk of a document's stored bytes, in order.
    ///
    /// # Errors
    /// The error of `visit`; the errors of [`Self::text`], which may come after the last chunk.
    pub fn for_each_text_chunk(
        &self,
        document: u32,
        record: &DocumentRecord,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let damaged = |detail| Error::Damaged { what: format!("the text of document {document}"), detail };
        let mut digest = Xxh3::new();
        for chunk in 0..chunks(record.bytes) {
            let value = self.engine.get(TEXTS, chunk_key(document, chunk), "read a text")?;
            let value = value.ok_or_else(|| self.missing_row(document, || missing_chunk(document)))?;
            let bytes = decompress(&value).map_err(damaged)?;
            digest.update(&bytes);
            visit(&bytes)?;
        }
        if digest.digest128().to_be_bytes() == record.digest {
            Ok(())
        } else {
            Err(damaged("its digest is not the document's"))
        }
    }

    /// Calls `visit` with the number and the compressed bytes of each chunk of a document, in order.
    pub(super) fn for_each_stored_chunk(
        &self,
        document: u32,
        record: &DocumentRecord,
        mut visit: impl FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for chunk in 0..chunks_of(record) {
            let value = self.engine.get(TEXTS, chunk_key(document, chunk), "read a text")?;
            visit(chunk, &value.ok_or_else(|| self.missing_row(document, || missing_chunk(document)))?)?;
        }
        Ok(())
    }
}

fn missing_chunk(document: u32) -> Error {
    Error::Damaged { what: format!("the text of document {document}"), detail: "a chunk of it is missing" }
}
