//! Frames: copies compressed data without some ranges of its content. A *frame* is a gzip member, a zstd
//! frame, or an xz or bzip2 stream. Frames that lose nothing are copied as they are. Frames that lose
//! everything are left out, and so is a seek table that is no longer true. The others are compressed again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use flate2::{Compression as Level, GzBuilder};

use super::stream::Cuts;
use crate::files::BUFFER;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_reading::input::Compression;

/// Copies compressed data without some ranges of its content.
pub(super) fn without(
    path: &Path,
    compression: Compression,
    mut cuts: Cuts,
    output: &mut dyn Write,
    stop: &StopToken,
) -> Result<()> {
    let undecodable = |error: io::Error| {
        Error::Document(DocumentError::Undecodable { format: compression.name(), source: error.into() })
    };
    let read = || Error::io("read", path);
    let write = || Error::io("write a copy of", path);
    let mut place = CountedFile::open(path, 0).map_err(read())?;
    let mut buffer = vec![0; BUFFER];
    let (mut at, mut frames) = (0, 0);
    // The facts of the last frame that is left out or compressed again.
    let mut changed: Option<FrameFacts> = None;
    while goes_on(&mut place, compression).map_err(read())? {
        let from = place.at;
        let mut frame = Frame::new(compression, place).map_err(undecodable)?;
        let mut end = at;
        let partly = loop {
            stop.check()?;
            let taken = frame.read(&mut buffer).map_err(undecodable)?;
            if taken == 0 {
                break false;
            }
            end += taken as u64;
            let cut = cuts.from(at);
            if cut.is_some_and(|(start, stop)| start < end && (start > at || stop < end)) {
                break true;
            }
        };
        if partly {
            // The frame is read again from its start, because the first reader has already passed bytes that
            // stay.
            let facts = frame.facts();
            frame = Frame::new(compression, CountedFile::open(path, from).map_err(read())?).map_err(undecodable)?;
            let mut encoder = Encoder::new(compression, &facts, &mut *output).map_err(write())?;
            loop {
                stop.check()?;
                let taken = frame.read(&mut buffer).map_err(undecodable)?;
                if taken == 0 {
                    break;
                }
                cuts.write(&buffer[..taken], at, &mut encoder).map_err(write())?;
                at += taken as u64;
            }
            encoder.finish().map_err(write())?;
            place = frame.into_inner();
            changed = Some(facts);
            frames += 1;
            continue;
        }
        let facts = frame.facts();
        place = frame.into_inner();
        if end > at && cuts.from(at).is_some_and(|(start, stop)| start <= at && stop >= end) {
            changed = Some(facts);
        } else {
            let mut raw = File::open(path).map_err(read())?;
            let is_false = changed.is_some()
                && compression == Compression::Zstd
                && is_seek_table(&raw, from..place.at).map_err(read())?;
            if !is_false {
                raw.seek(SeekFrom::Start(from)).map_err(read())?;
                io::copy(&mut raw.take(place.at - from), &mut *output).map_err(write())?;
                frames += 1;
            }
        }
        at = end;
    }
    if let (0, Some(facts)) = (frames, changed) {
        // An empty file would not be valid compressed data.
        Encoder::new(compression, &facts, &mut *output).and_then(Encoder::finish).map_err(write())?;
    }
    Ok(())
}

/// True if the bytes at `place` are the seek table of the seekable format of zstd: a skippable frame that
/// lists the sizes of the other frames.
fn is_seek_table(mut file: &File, place: Range<u64>) -> io::Result<bool> {
    let (mut first, mut last) = ([0; 4], [0; 4]);
    file.seek(SeekFrom::Start(place.start))?;
    file.read_exact(&mut first)?;
    file.seek(SeekFrom::Start(place.end.saturating_sub(4)))?;
    file.read_exact(&mut last)?;
    Ok((u32::from_le_bytes(first), u32::from_le_bytes(last)) == (0x184D_2A5E, 0x8F92_EAB1))
}

/// Reads the content of a compressed file, all frames in sequence.
pub(super) struct Frames {
    compression: Compression,
    frame: Option<Frame>,
    place: Option<CountedFile>,
    /// The facts of the first frame.
    pub(super) facts: FrameFacts,
}

impl Frames {
    pub(super) fn open(path: &Path, compression: Compression) -> io::Result<Self> {
        let frame = Frame::new(compression, CountedFile::open(path, 0)?)?;
        let facts = frame.facts();
        Ok(Self { compression, frame: Some(frame), place: None, facts })
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                self.place = self.frame.take().map(Frame::into_inner);
            }
            let Some(mut place) = self.place.take() else { return Ok(0) };
            if !goes_on(&mut place, self.compression)? {
                return Ok(0);
            }
            self.frame = Some(Frame::new(self.compression, place)?);
        }
    }
}

/// Skips padding. Returns false at the end.
fn goes_on(place: &mut CountedFile, compression: Compression) -> io::Result<bool> {
    if matches!(compression, Compression::Gzip | Compression::Xz) && place.at > 0 {
        loop {
            let bytes = place.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let is_over = zeros == bytes.len();
            if bytes.is_empty() || zeros == 0 {
                break;
            }
            place.consume(zeros);
            if !is_over {
                break;
            }
        }
    }
    place.more()
}

/// A reader of a file that counts the bytes taken.
struct CountedFile {
    input: BufReader<File>,
    at: u64,
}

impl CountedFile {
    fn open(path: &Path, at: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(at))?;
        Ok(Self { input: BufReader::with_capacity(BUFFER, file), at })
    }

    fn more(&mut self) -> io::Result<bool> {
        Ok(!self.fill_buf()?.is_empty())
    }
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl BufRead for CountedFile {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
        self.input.consume(amount);
    }
}

/// One frame of compressed data.
enum Frame {
    Gzip(flate2::bufread::GzDecoder<CountedFile>),
    Zstd(zstd::stream::read::Decoder<'static, CountedFile>),
    Xz(liblzma::bufread::XzDecoder<CountedFile>),
    Bzip2(bzip2::bufread::BzDecoder<CountedFile>, u32),
}

/// The facts of a frame's header that its replacement keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameFacts {
    gzip: Option<flate2::GzHeader>,
    bzip2_level: u32,
}

impl Frame {
    fn new(compression: Compression, mut place: CountedFile) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => Self::Gzip(flate2::bufread::GzDecoder::new(place)),
            Compression::Zstd => Self::Zstd(zstd::stream::read::Decoder::with_buffer(place)?.single_frame()),
            Compression::Xz => Self::Xz(liblzma::bufread::XzDecoder::new(place)),
            Compression::Bzip2 => {
                // The fourth byte is the block size, as a digit.
                let level = place.fill_buf()?.get(3).map_or(9, |digit| u32::from(digit.wrapping_sub(b'0')));
                Self::Bzip2(bzip2::bufread::BzDecoder::new(place), level.clamp(1, 9))
            }
        })
    }

    fn facts(&self) -> FrameFacts {
        match self {
            Self::Gzip(decoder) => FrameFacts { gzip: decoder.header().cloned(), bzip2_level: 9 },
            Self::Bzip2(_, level) => FrameFacts { gzip: None, bzip2_level: *level },
            _ => FrameFacts { gzip: None, bzip2_level: 9 },
        }
    }

    fn into_inner(self) -> CountedFile {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
            Self::Xz(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder, _) => decoder.into_inner(),
        }
    }
}

impl Read for Frame {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
            Self::Xz(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder, _) => decoder.read(buffer),
        }
    }
}

/// A compressor for one frame.
pub(super) enum Encoder<W: Write> {
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Xz(liblzma::write::XzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
}

impl<W: Write> Encoder<W> {
    /// A compressor at the default level, with the header of the frame that the output replaces.
    pub(super) fn new(compression: Compression, facts: &FrameFacts, output: W) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => {
                let mut builder = GzBuilder::new();
                if let Some(header) = &facts.gzip {
                    builder = builder.mtime(header.mtime()).operating_system(header.operating_system());
                    if let Some(name) = header.filename() {
                        builder = builder.filename(name);
                    }
                    if let Some(comment) = header.comment() {
                        builder = builder.comment(comment);
                    }
                    if let Some(extra) = header.extra() {
                        builder = builder.extra(extra);
                    }
                }
                Self::Gzip(builder.write(output, Level::default()))
            }
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(output, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            Compression::Xz => Self::Xz(liblzma::write::XzEncoder::new(output, 6)),
            Compression::Bzip2 => {
                Self::Bzip2(bzip2::write::BzEncoder::new(output, bzip2::Compression::new(facts.bzip2_level)))
            }
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.finish().map(drop),
            Self::Zstd(encoder) => encoder.finish().map(drop),
            Self::Xz(encoder) => encoder.finish().map(drop),
            Self::Bzip2(encoder) => encoder.finish().map(drop),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            Self::Xz(encoder) => encoder.write(bytes),
            Self::Bzip2(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
            Self::Xz(encoder) => encoder.flush(),
            Self::Bzip2(encoder) => encoder.flush(),
        }
    }
}
