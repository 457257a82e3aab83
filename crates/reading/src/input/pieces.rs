//! Pieces: the bytes of a document on their way from the thread that reads a container to the thread that
//! reads the document.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fpdb_host::error::{DocumentError, Error, Result};

/// Receives the bytes of a document, piece by piece.
#[derive(Debug)]
pub struct Pieces {
    pieces: Receiver<Vec<u8>>,
    failure: Receiver<Error>,
}

/// Sends the bytes of a document, piece by piece.
#[derive(Debug)]
pub struct PieceSender {
    pieces: SyncSender<Vec<u8>>,
    failure: SyncSender<Error>,
}

impl Pieces {
    /// The two ends of a queue in which at most `waiting` pieces wait.
    pub fn queue(waiting: usize) -> (PieceSender, Self) {
        let (sender, pieces) = sync_channel(waiting);
        // This queue holds no error, so the sender waits until the error is received, or learns that the
        // receiver is gone.
        let (failures, failure) = sync_channel(0);
        (PieceSender { pieces: sender, failure: failures }, Self { pieces, failure })
    }

    /// Receives the next piece; `None` at the end.
    ///
    /// # Errors
    /// The error that ends the pieces. [`DocumentError::ReaderFailed`] if the pieces stop without an end,
    /// because the reader of the container panicked.
    pub fn receive(&self) -> Result<Option<Vec<u8>>> {
        let broken_off = || Error::Document(DocumentError::ReaderFailed { detail: "it broke off".into() });
        match self.pieces.recv() {
            Ok(piece) => Ok((!piece.is_empty()).then_some(piece)),
            Err(_) => Err(self.failure.recv().unwrap_or_else(|_| broken_off())),
        }
    }
}

impl PieceSender {
    /// Sends a piece. An empty piece marks the end. Returns false if the receiver is gone.
    pub fn send(&self, piece: Vec<u8>) -> bool {
        self.pieces.send(piece).is_ok()
    }

    /// Ends the pieces with an error, and waits until the error is received. Returns the error if the
    /// receiver is gone: then nobody has reported it.
    pub fn fail(self, error: Error) -> Option<Error> {
        drop(self.pieces);
        self.failure.send(error).err().map(|unsent| unsent.0)
    }
}
