//! Pump: reads the first bytes of one member, and sends its bytes to its reader, piece by piece.

use std::io::{self, Read};

use crate::input::decompress::meter::{Meter, is_member_error};
use crate::input::pieces::PieceSender;
use crate::input::read::reader::PIECE;
use fpdb_host::error::{DocumentError, Error, Result};

/// Maximum number of waiting pieces of a member.
pub(crate) const PIECES_WAITING: usize = 2;

/// A reader in place of a stream that failed. It returns each error once.
pub(crate) struct Broken<'a> {
    pub(crate) errors: std::vec::IntoIter<Error>,
    pub(crate) meter: &'a Meter<'a>,
}

impl Read for Broken<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.errors.next().map_or(Ok(0), |error| Err(self.meter.keep(error)))
    }
}

/// Reads up to `most` bytes into `head`. Skips damaged members before these bytes, up to a limit. Returns the
/// errors of those members, and the error that ended `head`, if any.
pub(super) fn first_bytes(
    input: &mut dyn Read,
    most: usize,
    format: &'static str,
    meter: &Meter<'_>,
    head: &mut Vec<u8>,
) -> (Vec<Error>, Option<Error>) {
    const DAMAGED: usize = 16;
    let mut passed = Vec::new();
    loop {
        let read = (&mut *input).take(most as u64).read_to_end(head);
        match read.map_err(|error| meter.error(format, error)) {
            Err(error) if head.is_empty() && passed.len() < DAMAGED && is_member_error(&error) => passed.push(error),
            read => return (passed, read.err()),
        }
    }
}

/// Sends `head`, which must not be empty, and then the bytes of `input`, in pieces. Stops if the receiver is
/// gone.
pub(crate) fn pump(
    head: Vec<u8>,
    input: &mut dyn Read,
    limit: u64,
    pieces: &PieceSender,
    cause: impl Fn(io::Error) -> Error,
) -> Result<()> {
    let mut total = 0;
    let mut piece = head;
    loop {
        total += piece.len() as u64;
        if total > limit {
            return Err(Error::Document(DocumentError::DocumentTooLarge { limit }));
        }
        // An empty piece marks the end.
        let last = piece.is_empty();
        if !pieces.send(piece) || last {
            return Ok(());
        }
        piece = Vec::with_capacity(PIECE);
        (&mut *input).take(PIECE as u64).read_to_end(&mut piece).map_err(&cause)?;
    }
}
