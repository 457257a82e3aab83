//! Supplied: documents that the caller provides in memory or through a reader, not as files.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;

use super::reader::PIECE;
use crate::input::expand::pump::{PIECES_WAITING, pump};
use crate::input::{About, Candidate, Content, InputLimits, Pieces, WalkEvent};
use crate::recognise::Hint;
use fpdb_host::error::Error;
use fpdb_host::skip_reason::SkipReason;
use fpdb_host::stop::StopToken;

/// A document that the caller supplies: a name, bytes and metadata. Its format is detected from its name and
/// first bytes, unless the options set it. The bytes are always one document, even if they are an archive.
///
/// Its text cannot be read again later. So its passages are compared symbol by symbol only if the ingest
/// stores the text. `DatabaseWriter::ingest` does so, and `ingest_with` does with
/// `IngestOptions::store_text`. Otherwise passages are inferred from fingerprints, and `Database::text_of`
/// returns no text. The digest of its bytes shows whether a stored document with its name is the same.
///
/// ```
/// # use fpdb_reading::input as fpdb;
/// use fpdb::Document;
///
/// let text = Document::new("letters/17", "My dear Watson, ...").with("author", "Holmes");
/// let streamed = Document::from_reader("letters/18", std::io::Cursor::new(b"Another letter".to_vec()));
/// assert_eq!((text.name(), streamed.name()), ("letters/17", "letters/18"));
/// ```
pub struct Document {
    name: String,
    hint: Option<String>,
    is_text: bool,
    metadata: Vec<(String, String)>,
    bytes: SuppliedBytes,
}

/// The source of a document's bytes.
enum SuppliedBytes {
    Whole(Vec<u8>),
    Reader(Box<dyn Read + Send>),
    /// There are no bytes, for this reason.
    Missing(SkipReason),
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("name", &self.name).field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl Document {
    /// A document with these bytes or this text.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(name, SuppliedBytes::Whole(bytes.into()))
    }

    /// A document whose bytes come from a reader. It is read once, in pieces, when it is ingested.
    #[must_use]
    pub fn from_reader(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        Self::of(name, SuppliedBytes::Reader(Box::new(bytes)))
    }

    /// A document that the caller cannot supply, for this reason. It is counted and listed as skipped.
    #[must_use]
    pub fn skipped(name: impl Into<String>, reason: SkipReason) -> Self {
        Self::of(name, SuppliedBytes::Missing(reason))
    }

    fn of(name: impl Into<String>, bytes: SuppliedBytes) -> Self {
        Self { name: name.into(), hint: None, is_text: false, metadata: Vec::new(), bytes }
    }

    /// The same document, with its format detected from `hint` instead of its name. `hint` is the name of a
    /// similar file; if it is empty, only the bytes count. Use it for names without an extension, such as
    /// those of table rows.
    #[must_use]
    pub fn like(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same document, read as text, even if its bytes begin like a PDF or another binary format. For
    /// bytes that were a string. Markup is detected as before.
    #[must_use]
    pub fn as_text(mut self) -> Self {
        self.is_text = true;
        self
    }

    /// The same document, with an additional name and value of metadata.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.push((name.into(), value.into()));
        self
    }

    /// The name of the document.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the document and passes it to `visit`: a small one whole, a large one in pieces while `visit`
    /// reads it. An error becomes a failure event, or, after the first piece, ends the pieces. `repeated` is
    /// as in [`About`].
    #[doc(hidden)]
    pub fn hand_over(
        self,
        limits: &InputLimits,
        stop: &StopToken,
        repeated: bool,
        visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Self { name, hint, is_text, metadata, bytes } = self;
        let failed = |error: io::Error| Error::Io { action: "read", path: name.clone().into(), source: error };
        let (head, rest): (Vec<u8>, Box<dyn Read + Send>) = match bytes {
            SuppliedBytes::Missing(reason) => return visit(WalkEvent::Skipped { name, reason }),
            // The bytes are not copied.
            SuppliedBytes::Whole(bytes) if bytes.len() < PIECE => (bytes, Box::new(io::empty())),
            SuppliedBytes::Whole(bytes) => (Vec::new(), Box::new(Cursor::new(bytes))),
            SuppliedBytes::Reader(bytes) => (Vec::new(), bytes),
        };
        let (mut head, mut bytes) = (head, Stopped { bytes: rest, stop });
        if head.is_empty()
            && let Err(error) = (&mut bytes).take(PIECE as u64).read_to_end(&mut head)
        {
            // If the run is stopped, the code that receives the pieces reports it.
            return match stop.is_stopped() {
                true => ControlFlow::Break(()),
                false => visit(WalkEvent::Failed { error: failed(error), name }),
            };
        }
        if name.is_empty() {
            let expected = "a name of one character or more";
            let error = Error::InvalidParameter { name: "the name of a document", value: "empty".into(), expected };
            return visit(WalkEvent::Failed { name, error });
        }
        let hint = Hint { name: hint.unwrap_or_else(|| name.clone()), is_text };
        let (file, member, modified) = (None, None, None);
        let about = About { hint, name: name.clone(), file, member, modified, metadata, repeated, named: false };
        if head.len() < PIECE {
            return visit(WalkEvent::Document(Candidate { about, content: Content::Whole(head) }));
        }
        let (sender, pieces) = Pieces::queue(PIECES_WAITING);
        visit(WalkEvent::Document(Candidate { about, content: Content::Pieces(pieces) }))?;
        let cause = |error| if stop.is_stopped() { Error::Stopped } else { failed(error) };
        if let Err(error) = pump(head, &mut bytes, limits.document_bytes, &sender, cause) {
            // If the reader has dropped the document, it has already reported the reason.
            let _ = sender.fail(error);
        }
        ControlFlow::Continue(())
    }
}

/// Bytes that fail once the run is stopped.
struct Stopped<'a> {
    bytes: Box<dyn Read + Send>,
    stop: &'a StopToken,
}

impl Read for Stopped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.is_stopped() {
            true => Err(io::Error::other("the reading was ended")),
            false => self.bytes.read(buffer),
        }
    }
}
