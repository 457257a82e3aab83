//! bzip2: reads all streams of a file one after the other. Empty streams are skipped without a decoder,
//! because creating a decoder costs as much as decoding about 100 kB. A file of only empty streams could
//! otherwise be used for an attack.

use std::io::{self, BufRead, Chain, Cursor, Read};

use bzip2::bufread::BzDecoder;

/// Length of an empty stream, which is the shortest possible stream.
const EMPTY_STREAM: usize = 14;

/// Reads the content of all streams.
pub(crate) struct Bzip2<R> {
    state: Bzip2State<R>,
}

enum Bzip2State<R> {
    /// The first bytes of the next stream are not read yet. If `needed`, no stream came before, so one must
    /// follow.
    Between {
        input: R,
        needed: bool,
    },
    Within(BzDecoder<Chain<Cursor<Vec<u8>>, R>>),
    Ended,
}

impl<R: BufRead> Bzip2<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { state: Bzip2State::Between { input, needed: true } }
    }

    /// Skips empty streams, and begins the next stream with content, if any.
    fn begin(&mut self) -> io::Result<()> {
        let Bzip2State::Between { input, needed } = &mut self.state else { return Ok(()) };
        let mut head = Vec::with_capacity(EMPTY_STREAM);
        loop {
            // `read_to_end` repeats interrupted reads, so no byte is lost.
            input.take((EMPTY_STREAM - head.len()) as u64).read_to_end(&mut head)?;
            if !is_empty_stream(&head) {
                break;
            }
            *needed = false;
            head.clear();
        }
        if head.is_empty() && *needed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let is_end = head.is_empty();
        if let Bzip2State::Between { input, .. } = std::mem::replace(&mut self.state, Bzip2State::Ended)
            && !is_end
        {
            self.state = Bzip2State::Within(BzDecoder::new(Cursor::new(head).chain(input)));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Bzip2<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            self.begin()?;
            let Bzip2State::Within(stream) = &mut self.state else { return Ok(0) };
            let read = stream.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            // The checksum of the stream is correct. The stream has consumed all of `head`, because no stream
            // is shorter.
            if let Bzip2State::Within(stream) = std::mem::replace(&mut self.state, Bzip2State::Ended) {
                let (_, input) = stream.into_inner().into_inner();
                self.state = Bzip2State::Between { input, needed: false };
            }
        }
    }
}

/// True for an empty stream: `BZh`, the block size, the mark of the end, and the checksum of no data.
fn is_empty_stream(head: &[u8]) -> bool {
    head.len() == EMPTY_STREAM
        && head.starts_with(b"BZh")
        && (b'1'..=b'9').contains(&head[3])
        && head[4..] == *b"\x17rE8P\x90\0\0\0\0"
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use bzip2::Compression;
    use bzip2::bufread::MultiBzDecoder;
    use bzip2::write::BzEncoder;

    use super::*;

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = BzEncoder::new(Vec::new(), Compression::new(1));
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(mut decoder: impl Read) -> Result<Vec<u8>, ()> {
        let mut bytes = Vec::new();
        decoder.read_to_end(&mut bytes).map(|_| bytes).map_err(drop)
    }

    #[test]
    fn an_empty_stream_is_known() {
        assert!(is_empty_stream(&bzip2(b"")));
        assert!(!is_empty_stream(&bzip2(b"x")[..EMPTY_STREAM]));
    }

    #[test]
    fn streams_are_read_as_the_library_reads_them() {
        let (one, two, empty) = (bzip2(b"one "), bzip2(&[b'x'; 300_000]), bzip2(b""));
        let cut = &one[..one.len() - 1];
        let sequences: [&[&[u8]]; 12] = [
            &[],
            &[&empty],
            &[&empty, &empty, &empty],
            &[&one],
            &[&one, &two],
            &[&empty, &one, &empty, &empty, &two, &empty],
            &[&one, b"garbage"],
            &[&one, b"garbage that is longer than a stream"],
            &[&empty, b"BZh"],
            &[&one, &empty[..13]],
            &[cut],
            &[cut, &two],
        ];
        for parts in sequences {
            let bytes = parts.concat();
            for capacity in [1, 3, 14, 64 << 10] {
                let input = io::BufReader::with_capacity(capacity, &bytes[..]);
                assert_eq!(read(Bzip2::new(input)), read(MultiBzDecoder::new(&bytes[..])), "{parts:?}");
            }
        }
    }
}
