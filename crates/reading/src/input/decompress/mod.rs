//! Decompress: readers that decompress data, including all its members or frames.

mod bzip2;
pub(crate) mod gzip;
pub(crate) mod meter;
pub(crate) mod thread;

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use liblzma::stream::{CONCATENATED, Stream};

use crate::recognise::Compression;
use bzip2::Bzip2;
use gzip::Gzip;
use meter::{Guard, Meter, Taken};

/// Compressed bytes read at a time.
const BUFFER: usize = 64 << 10;

/// Maximum memory of an xz decoder. The presets of xz need up to 65 MiB.
const XZ_MEMORY: u64 = 128 << 20;

/// Decodes `input` under the limits of `meter`. Verifies checksums. Concatenated streams are decoded as one.
/// After an error for a [member](gzip::is_of_member), reading goes on.
pub fn decompress<'a>(
    compression: Compression,
    input: impl Read + 'a,
    meter: &'a Meter<'a>,
) -> io::Result<Box<dyn Read + 'a>> {
    let (decoder, taken) = decoder(compression, input)?;
    Ok(Box::new(Guard::new(decoder, compression.name(), taken, meter)))
}

/// A decoder, and the number of input bytes it has consumed.
pub(crate) type CountedDecoder<'a> = (Box<dyn Read + 'a>, Rc<Cell<u64>>);

/// Decodes `input`, and counts the bytes it consumes.
pub(crate) fn decoder<'a>(compression: Compression, input: impl Read + 'a) -> io::Result<CountedDecoder<'a>> {
    let (input, taken) = Taken::new(input);
    let buffered = |input| BufReader::with_capacity(BUFFER, input);
    let decoder: Box<dyn Read + 'a> = match compression {
        Compression::Gzip => Box::new(Gzip::new(input)),
        // By default, the window is limited to 128 MiB.
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(buffered(input))?),
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(buffered(input), stream))
        }
        Compression::Bzip2 => Box::new(Bzip2::new(buffered(input))),
    };
    Ok((decoder, taken))
}
