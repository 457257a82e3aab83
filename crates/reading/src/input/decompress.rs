//! Decompress: readers that decompress data, including all its members or frames.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use liblzma::stream::{CONCATENATED, Stream};

use super::bzip2::Bzip2;
use super::gzip::Gzip;
use super::meter::{Guard, Meter, Taken};
use crate::recognise::Compression;

/// Compressed bytes read at a time.
const BUFFER: usize = 64 << 10;

/// Maximum memory of an xz decoder. The presets of xz need up to 65 MiB.
const XZ_MEMORY: u64 = 128 << 20;

/// Decodes `input` under the limits of `meter`. Verifies checksums. Concatenated streams are decoded as one.
pub fn decompress<'a>(
    compression: Compression,
    input: impl Read + 'a,
    meter: &'a Meter<'a>,
) -> io::Result<Box<dyn Read + 'a>> {
    let (decoder, taken) = decoder(compression, input)?;
    Ok(Box::new(Guard::new(decoder, compression.name(), taken, meter)))
}

/// A decoder, and the number of input bytes it has consumed.
pub(super) type CountedDecoder<'a> = (Box<dyn Read + 'a>, Rc<Cell<u64>>);

/// Decodes `input`, and counts the bytes it consumes.
pub(super) fn decoder<'a>(compression: Compression, input: impl Read + 'a) -> io::Result<CountedDecoder<'a>> {
    let (input, taken) = Taken::new(input);
    let input = BufReader::with_capacity(BUFFER, input);
    let decoder: Box<dyn Read + 'a> = match compression {
        Compression::Gzip => Box::new(Gzip::new(input)),
        // By default, the window is limited to 128 MiB.
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
        Compression::Bzip2 => Box::new(Bzip2::new(input)),
    };
    Ok((decoder, taken))
}
