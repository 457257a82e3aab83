//! Decompress: a reader of what compressed data holds, all of its members or frames one after the other.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use liblzma::stream::{CONCATENATED, Stream};

use super::bzip2::Bzip2;
use super::gzip::Gzip;
use super::limits::{Guard, Meter, Taken};
use crate::recognise::Compression;

/// Compressed bytes taken at a time.
const BUFFER: usize = 64 << 10;

/// The most memory of a decoder of xz: presets go up to 65 MiB.
const XZ_MEMORY: u64 = 128 << 20;

/// Decodes `input`, watched by `meter`. Checksums are checked; concatenated streams are one.
pub fn decompress<'a>(
    compression: Compression,
    input: impl Read + 'a,
    meter: &'a Meter<'a>,
) -> io::Result<Box<dyn Read + 'a>> {
    let (decoder, taken) = decoder(compression, input)?;
    Ok(Box::new(Guard::new(decoder, compression.name(), taken, meter)))
}

/// A decoder, and how much it has taken of its input.
pub(super) type CountedDecoder<'a> = (Box<dyn Read + 'a>, Rc<Cell<u64>>);

/// Decodes `input`, and counts what it takes of it.
pub(super) fn decoder<'a>(compression: Compression, input: impl Read + 'a) -> io::Result<CountedDecoder<'a>> {
    let (input, taken) = Taken::new(input);
    let input = BufReader::with_capacity(BUFFER, input);
    let decoder: Box<dyn Read + 'a> = match compression {
        Compression::Gzip => Box::new(Gzip::new(input)),
        // The window is limited to 128 MiB unless told otherwise.
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
        Compression::Bzip2 => Box::new(Bzip2::new(input)),
    };
    Ok((decoder, taken))
}
