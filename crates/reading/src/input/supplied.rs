//! Supplied: documents that the caller has, in memory or behind a reader, and that are no files.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;

use super::pump::{PIECES_WAITING, pump};
use super::reader::PIECE;
use super::{About, Candidate, Content, InputLimits, WalkEvent};
use fpdb_host::error::Error;
use fpdb_host::stop::StopToken;

/// A document that the caller supplies: a name, its bytes, and what is known of it. Its format is chosen by its name and its
/// first bytes, unless the options say which it is. It is one document whatever it holds: archives are not opened.
///
/// Nothing says where its text could be read again. So its passages are compared symbol by symbol only where the ingest
/// stores the text (`IngestOptions::store_text`); else they are inferred from fingerprints. The digest of its
/// bytes tells if a stored document of its name is the same.
///
/// ```
/// use fpdb::Document;
///
/// let text = Document::new("letters/17", "My dear Watson, ...").with("author", "Holmes");
/// let streamed = Document::from_reader("letters/18", std::io::Cursor::new(b"Another letter".to_vec()));
/// assert_eq!((text.name(), streamed.name()), ("letters/17", "letters/18"));
/// ```
pub struct Document {
    name: String,
    hint: Option<String>,
    metadata: Vec<(String, String)>,
    bytes: SuppliedBytes,
}

/// The bytes of a document.
enum SuppliedBytes {
    Whole(Vec<u8>),
    Reader(Box<dyn Read + Send>),
    /// There are none, for this reason.
    Missing(&'static str),
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("name", &self.name).field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl Document {
    /// A document of these bytes, or of this text.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(name, SuppliedBytes::Whole(bytes.into()))
    }

    /// A document whose bytes a reader gives. It is read once, piece by piece, when its turn comes.
    #[must_use]
    pub fn from_reader(name: impl Into<String>, bytes: impl Read + Send + 'static) -> Self {
        Self::of(name, SuppliedBytes::Reader(Box::new(bytes)))
    }

    /// A document that the caller cannot supply, for this reason, as a noun phrase. It is counted and listed as skipped.
    #[must_use]
    pub fn skipped(name: impl Into<String>, reason: &'static str) -> Self {
        Self::of(name, SuppliedBytes::Missing(reason))
    }

    fn of(name: impl Into<String>, bytes: SuppliedBytes) -> Self {
        Self { name: name.into(), hint: None, metadata: Vec::new(), bytes }
    }

    /// The same, with its format chosen by this name instead of its own: the name of a file like it, or an empty one where its
    /// bytes alone are to tell. Rows of a table have names that say nothing of their format.
    #[must_use]
    pub fn like(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with one more name and value that are kept with it.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.push((name.into(), value.into()));
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads it and hands it to `visit`: a small one whole, a large one piece by piece while `visit` has it read. Whatever
    /// keeps it from being read is visited as a failure, or ends its pieces. `repeated` is as in [`About`].
    #[doc(hidden)]
    pub fn hand_over(
        self,
        limits: &InputLimits,
        stop: &StopToken,
        repeated: bool,
        visit: &mut dyn FnMut(WalkEvent) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Self { name, hint, metadata, bytes } = self;
        let failed = |error: io::Error| Error::Io { action: "read", path: name.clone().into(), source: error };
        let (head, rest): (Vec<u8>, Box<dyn Read + Send>) = match bytes {
            SuppliedBytes::Missing(reason) => return visit(WalkEvent::Skipped { name, reason }),
            // It is not copied.
            SuppliedBytes::Whole(bytes) if bytes.len() < PIECE => (bytes, Box::new(io::empty())),
            SuppliedBytes::Whole(bytes) => (Vec::new(), Box::new(Cursor::new(bytes))),
            SuppliedBytes::Reader(bytes) => (Vec::new(), bytes),
        };
        let (mut head, mut bytes) = (head, Stopped { bytes: rest, stop });
        if head.is_empty()
            && let Err(error) = (&mut bytes).take(PIECE as u64).read_to_end(&mut head)
        {
            // One that is to stop says so where the pieces are taken.
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
        let hint = hint.unwrap_or_else(|| name.clone());
        let about = About { hint, name: name.clone(), file: None, member: None, metadata, repeated };
        if head.len() < PIECE {
            return visit(WalkEvent::Document(Candidate { about, content: Content::Whole(head) }));
        }
        let (sender, pieces) = sync_channel(PIECES_WAITING);
        visit(WalkEvent::Document(Candidate { about, content: Content::Pieces(pieces) }))?;
        let cause = |error| if stop.is_stopped() { Error::Stopped } else { failed(error) };
        if let Err(error) = pump(head, &mut bytes, limits.document_bytes, &sender, cause) {
            // A reader that has given the document up has said why.
            let _ = sender.send(Err(error));
        }
        ControlFlow::Continue(())
    }
}

/// Bytes that fail once the run is to stop.
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

/// A document that is queried with, in memory.
pub fn in_memory(name: &str, bytes: &[u8]) -> Candidate {
    let (name, hint) = (name.to_owned(), name.to_owned());
    let about = About { name, hint, file: None, member: None, metadata: Vec::new(), repeated: false };
    Candidate { about, content: Content::Whole(bytes.to_vec()) }
}
