//! Decompress thread: decompresses a stream on a separate thread, while the caller processes the output.
//!
//! The thread only decodes. Limits and progress are counted by the caller when it takes the bytes, so they do
//! not depend on the thread's progress. The thread ends with its stream, or at the next piece after the
//! reader is dropped. It is not joined, because it may be blocked on a pipe without input.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::gzip::is_of_member;
use super::meter::{Guard, Meter};
use crate::input::decompress::decoder;
use crate::input::read::reader::PIECE;
use crate::recognise::Compression;
use fpdb_host::error::Error;
use fpdb_host::guarded::guarded;
use fpdb_host::threads;

/// Maximum number of waiting pieces. Together with the piece being made and the piece being read, this is 1
/// MiB.
const PIECES_WAITING: usize = 2;

/// Interval at which a waiting reader checks whether the run is stopped.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Decodes `input` on a separate thread. `path` names the input in errors. `meter` limits the output and
/// counts the bytes of `input`.
///
/// # Errors
/// If the system has no more threads.
pub(crate) fn decompress_on_thread<'a>(
    compression: Compression,
    path: &'a Path,
    input: impl Read + Send + 'static,
    meter: &'a Meter<'a>,
) -> io::Result<Box<dyn Read + 'a>> {
    let unread = Arc::default();
    let input = InputWatch { input, unread: Arc::clone(&unread) };
    let (sender, pieces) = sync_channel(PIECES_WAITING);
    let (returned, empty) = channel();
    threads::start("decompress", move || {
        let done = guarded(|| decode(compression, input, &sender, &empty));
        if let Err(error) = done.unwrap_or_else(|detail| Err(io::Error::other(detail))) {
            // If the reader is gone, it does not need the error.
            let _ = sender.send(Err(error));
        }
    })?;
    let taken = Rc::new(Cell::new(0));
    let (piece, known) = (DecodedPiece::default(), Rc::clone(&taken));
    let stream = ThreadedDecoder { pieces, returned, piece, at: 0, ended: false, taken: known, path, unread, meter };
    Ok(Box::new(Guard::new(stream, compression.name(), taken, meter)))
}

/// The input. Its read error is kept separately, because the decoder may replace it.
struct InputWatch<R> {
    input: R,
    unread: Arc<Mutex<Option<io::Error>>>,
}

impl<R: Read> Read for InputWatch<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            kind.into()
        })
    }
}

/// Bytes decoded since the last piece. An empty piece marks the end.
#[derive(Default)]
struct DecodedPiece {
    buffer: Vec<u8>,
    filled: usize,
    /// Number of compressed bytes read so far.
    taken: u64,
}

/// Sends the pieces of a stream, until the receiver is gone.
fn decode(
    compression: Compression,
    input: impl Read,
    pieces: &SyncSender<io::Result<DecodedPiece>>,
    empty: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    let (mut decoder, taken) = decoder(compression, input)?;
    loop {
        let mut buffer = empty.try_recv().unwrap_or_default();
        buffer.resize(PIECE, 0);
        let (mut filled, mut outcome) = (0, Ok(()));
        while filled < PIECE && outcome.is_ok() {
            match decoder.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => outcome = Err(error),
            }
        }
        // The bytes before an error are valid.
        if (filled > 0 || outcome.is_ok())
            && pieces.send(Ok(DecodedPiece { buffer, filled, taken: taken.get() })).is_err()
        {
            return Ok(());
        }
        match outcome {
            Err(error) if is_of_member(&error) => {
                if pieces.send(Err(error)).is_err() {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
            Ok(()) if filled == 0 => return Ok(()),
            Ok(()) => {}
        }
    }
}

/// Reads the pieces that the thread decoded.
struct ThreadedDecoder<'a> {
    pieces: Receiver<io::Result<DecodedPiece>>,
    /// Buffers for reuse. New buffers would need fresh memory from the system each time.
    returned: Sender<Vec<u8>>,
    piece: DecodedPiece,
    at: usize,
    ended: bool,
    taken: Rc<Cell<u64>>,
    path: &'a Path,
    unread: Arc<Mutex<Option<io::Error>>>,
    meter: &'a Meter<'a>,
}

impl ThreadedDecoder<'_> {
    /// Receives the next piece, or the error that came in its place. Stops waiting if the run is stopped.
    fn next_piece(&self) -> io::Result<io::Result<DecodedPiece>> {
        loop {
            match self.pieces.recv_timeout(STOP_CHECK_INTERVAL) {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Timeout) => self.meter.read(0)?,
                // The thread must not end without a final piece or an error.
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(io::ErrorKind::UnexpectedEof.into())),
            }
        }
    }

    /// The error that stopped the thread.
    fn failure(&self, error: io::Error) -> io::Error {
        match self.unread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(unread) => self.meter.keep(Error::io("read", self.path)(unread)),
            None => error,
        }
    }
}

impl Read for ThreadedDecoder<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.filled && !self.ended && !buffer.is_empty() {
            let DecodedPiece { buffer, .. } = std::mem::take(&mut self.piece);
            let _ = self.returned.send(buffer);
            self.at = 0;
            let piece = self.next_piece()?;
            self.piece = piece.map_err(|error| self.failure(error))?;
            self.ended = self.piece.filled == 0;
            self.meter.read(self.piece.taken - self.taken.replace(self.piece.taken))?;
        }
        let read = buffer.len().min(self.piece.filled - self.at);
        buffer[..read].copy_from_slice(&self.piece.buffer[self.at..self.at + read]);
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::extract::InputLimits;
    use fpdb_host::error::DocumentError;
    use fpdb_host::stop::StopToken;

    fn with_meter<T>(stop: bool, work: impl FnOnce(&Meter<'_>) -> T) -> T {
        let token = StopToken::new();
        if stop {
            token.stop();
        }
        work(&Meter::new(InputLimits::default(), None, &token, &|_| {}))
    }

    /// Several pieces of data without repetition.
    fn numbers() -> Vec<u8> {
        (0..300_000u32).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn all_of_it_comes_and_then_nothing() {
        let packed = zstd::encode_all(&numbers()[..], 1).unwrap();
        with_meter(false, |meter| {
            let mut stream =
                decompress_on_thread(Compression::Zstd, Path::new("a.zst"), io::Cursor::new(packed), meter).unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            assert!(bytes == numbers());
            assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
        });
    }

    #[test]
    fn what_comes_before_damage_is_there() {
        let mut packed = zstd::encode_all(&numbers()[..], 1).unwrap();
        packed.truncate(packed.len() - 100);
        with_meter(false, |meter| {
            let mut stream =
                decompress_on_thread(Compression::Zstd, Path::new("a.zst"), io::Cursor::new(packed), meter).unwrap();
            let mut bytes = Vec::new();
            let error = stream.read_to_end(&mut bytes).unwrap_err();
            assert!(bytes.len() > PIECE && numbers().starts_with(&bytes));
            assert!(matches!(
                meter.error("tar", error),
                Error::Document(DocumentError::Undecodable { format: "zstd", .. })
            ));
        });
    }

    #[test]
    fn input_that_cannot_be_read_is_told_as_that() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let packed = zstd::encode_all(&numbers()[..], 1).unwrap();
        let input = io::Cursor::new(packed[..1000].to_vec()).chain(Failing);
        with_meter(false, |meter| {
            let mut stream = decompress_on_thread(Compression::Zstd, Path::new("a.zst"), input, meter).unwrap();
            let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(meter.error("tar", error).chain(), "cannot read a.zst: the disk is gone");
        });
    }

    #[test]
    fn a_run_that_stops_reads_no_more() {
        let packed = zstd::encode_all(&numbers()[..], 1).unwrap();
        with_meter(true, |meter| {
            let mut stream =
                decompress_on_thread(Compression::Zstd, Path::new("a.zst"), io::Cursor::new(packed), meter).unwrap();
            let error = stream.read(&mut [0; 8]).unwrap_err();
            assert!(matches!(meter.error("tar", error), Error::Stopped));
        });
    }

    #[test]
    fn a_run_that_stops_does_not_wait() {
        struct Idle(Receiver<()>);
        impl Read for Idle {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                let _ = self.0.recv();
                Ok(0)
            }
        }
        let (talks, listens) = channel();
        with_meter(true, |meter| {
            let mut stream = decompress_on_thread(Compression::Zstd, Path::new("a.zst"), Idle(listens), meter).unwrap();
            let error = stream.read(&mut [0; 8]).unwrap_err();
            assert!(matches!(meter.error("tar", error), Error::Stopped));
        });
        drop(talks);
    }

    #[test]
    fn the_thread_ends_when_nobody_reads() {
        struct Endless {
            packed: zstd::stream::read::Encoder<'static, io::BufReader<io::Repeat>>,
            _held: Arc<()>,
        }
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.packed.read(buffer)
            }
        }
        let held = Arc::new(());
        let packed = zstd::stream::read::Encoder::new(io::repeat(7), 1).unwrap();
        let endless = Endless { packed, _held: Arc::clone(&held) };
        with_meter(false, |meter| {
            let mut stream = decompress_on_thread(Compression::Zstd, Path::new("a.zst"), endless, meter).unwrap();
            assert_eq!(stream.read(&mut [0; 8]).unwrap(), 8);
        });
        let started = Instant::now();
        while Arc::strong_count(&held) > 1 {
            assert!(started.elapsed() < Duration::from_secs(60), "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
