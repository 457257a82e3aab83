//! HTTP: the body of a stored response, without its headers and encodings.
//!
//! Crawlers often store a decoded body with the original headers. So an encoding is applied only if the body
//! looks encoded.
//!
//! This is a small parser for headers of responses and of WARC records. It accepts headers that are cut off,
//! and skips lines that are not fields. `httparse` needs the complete header and space for its fields in
//! advance, and one setting per leniency.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use crate::input::decompress::decoder;
use crate::input::decompress::meter::{Guard, Meter, Taken};
use crate::recognise::Compression;

/// Maximum bytes of a response's headers.
const HEADER_BYTES: u64 = 1 << 20;

/// Number of bytes needed to detect the encoding of a body.
const LOOK: u64 = 64;

/// The header fields of a response or record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Headers {
    fields: Vec<(String, String)>,
}

impl Headers {
    /// Reads lines `name: value` up to an empty line or the end of the input.
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Self> {
        let mut input = input.take(HEADER_BYTES);
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 && input.limit() == 0 {
                return Err(io::Error::other("its headers are too long"));
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            if text.is_empty() {
                return Ok(Self { fields });
            }
            if text.starts_with([' ', '\t']) {
                // A continued value.
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(text.trim());
                }
            } else if let Some((name, value)) = text.split_once(':') {
                fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    /// The first value of a field. The name must be in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// The name under which [`response`] gives the status code. No header has this name, because HTTP/2 reserves
/// it.
pub(super) const STATUS: &str = ":status";

/// Returns the headers of a response, if it has any, and a reader of its decoded body. If `cut` is true, the
/// body may end within its encoding.
pub(super) fn response<'a>(
    input: &'a mut dyn Read,
    cut: bool,
    meter: &'a Meter<'a>,
) -> io::Result<(Headers, Box<dyn Read + 'a>)> {
    const PROTOCOL: &[u8] = b"HTTP/";
    // A single read may return fewer bytes.
    let mut begins = Vec::new();
    (&mut *input).take(PROTOCOL.len() as u64).read_to_end(&mut begins)?;
    let is_response = begins == PROTOCOL;
    let mut input = BufReader::new(Cursor::new(begins).chain(input));
    if !is_response {
        return Ok((Headers::default(), Box::new(input)));
    }
    let mut status = Vec::new();
    (&mut input).take(HEADER_BYTES).read_until(b'\n', &mut status)?;
    let mut headers = Headers::read(&mut input)?;
    let code = std::str::from_utf8(&status).ok().and_then(|line| line.split_ascii_whitespace().nth(1));
    if let Some(code) = code.filter(|code| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit())) {
        headers.fields.insert(0, (STATUS.into(), code.to_owned()));
    }
    let mut body: Box<dyn Read + 'a> = Box::new(input);
    let says = |name: &str, what: &str| {
        headers.get(name).is_some_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(what)))
    };
    if says("transfer-encoding", "chunked") {
        let (head, rest) = look(body)?;
        let chunked = begins_chunk(&head);
        let whole = Cursor::new(head).chain(rest);
        body = if chunked { Box::new(Chunked::new(whole, cut)) } else { Box::new(whole) };
    }
    let coding = |name: &str| says("content-encoding", name);
    if ["gzip", "x-gzip", "deflate", "br", "zstd"].into_iter().any(coding) {
        let (head, rest) = look(body)?;
        let has_ended = Rc::new(Cell::new(false));
        let whole = Ended { input: Cursor::new(head.clone()).chain(rest), has_ended: Rc::clone(&has_ended) };
        let guard = |format, stage, taken| -> Box<dyn Read + 'a> {
            Box::new(Guard::new(CutShort { stage, has_ended, cut }, format, taken, meter))
        };
        body = if head.starts_with(&[0x1f, 0x8b]) {
            let (stage, taken) = decoder(Compression::Gzip, whole)?;
            guard("gzip", stage, taken)
        } else if coding("zstd") && head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let (stage, taken) = decoder(Compression::Zstd, whole)?;
            guard("zstd", stage, taken)
        } else if coding("deflate") && !is_text(&head) {
            let (whole, taken) = Taken::new(whole);
            guard("deflate", inflate(&head, whole), taken)
        } else if coding("br") && !is_text(&head) {
            let (whole, taken) = Taken::new(whole);
            guard("brotli", Box::new(brotli_decompressor::Decompressor::new(whole, 16 << 10)), taken)
        } else {
            Box::new(whole)
        };
    }
    Ok((headers, body))
}

/// A decoder for `deflate`. Two forms are in use: with and without a zlib header.
fn inflate<'a>(head: &[u8], whole: impl Read + 'a) -> Box<dyn Read + 'a> {
    let zlib = head.len() >= 2 && head[0] & 15 == 8 && u16::from_be_bytes([head[0], head[1]]).is_multiple_of(31);
    match zlib {
        true => Box::new(flate2::read::ZlibDecoder::new(whole)),
        false => Box::new(flate2::read::DeflateDecoder::new(whole)),
    }
}

/// Passes on bytes, and notes when its input has ended.
struct Ended<R> {
    input: R,
    has_ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.has_ended.set(self.has_ended.get() || (read == 0 && !buffer.is_empty()));
        Ok(read)
    }
}

/// A decoder whose output ends without an error if its input is cut.
struct CutShort<R> {
    stage: R,
    has_ended: Rc<Cell<bool>>,
    cut: bool,
}

impl<R: Read> Read for CutShort<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stage.read(buffer) {
            Err(error) if self.cut && self.has_ended.get() && error.kind() != io::ErrorKind::Interrupted => Ok(0),
            read => read,
        }
    }
}

/// Returns the first [`LOOK`] bytes, and a reader of the whole body.
fn look<'a>(mut body: Box<dyn Read + 'a>) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::new();
    (&mut body).take(LOOK).read_to_end(&mut head)?;
    Ok((head, body))
}

/// True if the body begins with a line that gives a chunk size in hexadecimal digits.
fn begins_chunk(head: &[u8]) -> bool {
    let digits = head.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let after = head[digits..].trim_ascii_start();
    let ends_line = head[digits..head.len() - after.len()].contains(&b'\n');
    (1..=16).contains(&digits) && (ends_line || after.starts_with(b";"))
}

/// True if the bytes are text, possibly cut within a character.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.contains(|c: char| c.is_control() && !c.is_whitespace())
}

/// Decodes chunked transfer coding.
struct Chunked<R> {
    input: BufReader<R>,
    /// Bytes left in the current chunk; `None` between chunks.
    left: Option<u64>,
    ended: bool,
    /// True if the end of the input ends the body.
    cut: bool,
}

impl<R: Read> Chunked<R> {
    fn new(input: R, cut: bool) -> Self {
        Self { input: BufReader::new(input), left: None, ended: false, cut }
    }

    /// Reads the line before a chunk. Returns the size of the chunk, or 0 at the end.
    fn size(&mut self) -> io::Result<u64> {
        let mut line = Vec::new();
        (&mut self.input).take(HEADER_BYTES).read_until(b'\n', &mut line)?;
        if self.cut && !line.ends_with(b"\n") {
            return Ok(0);
        }
        let text = String::from_utf8_lossy(&line);
        let digits = text.split(';').next().unwrap_or_default().trim();
        u64::from_str_radix(digits, 16).map_err(|_| io::Error::other("a chunk of the transfer has no size"))
    }
}

impl<R: Read> Read for Chunked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let left = match self.left {
            Some(left) => left,
            None => self.size()?,
        };
        if left == 0 {
            self.ended = true;
            return Ok(0);
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.input.read(&mut buffer[..most])?;
        if read == 0 {
            self.ended = self.cut;
            return if self.cut { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        self.left = Some(left - read as u64);
        if self.left == Some(0) {
            let mut newline = Vec::new();
            (&mut self.input).take(2).read_until(b'\n', &mut newline)?;
            self.left = None;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression as Level;

    use super::*;
    use crate::extract::InputLimits;

    fn body_of(stored: &[u8]) -> String {
        read_body(stored, false)
    }

    fn read_body(mut stored: &[u8], cut: bool) -> String {
        let stop = fpdb_host::stop::StopToken::new();
        let meter = Meter::new(InputLimits::default(), None, &stop, &|_| {});
        let mut body = String::new();
        match response(&mut stored, cut, &meter) {
            Ok((_, mut reader)) => match reader.read_to_string(&mut body) {
                Ok(_) => body,
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn encodings_are_undone_where_the_body_has_them() {
        let text: String = (0..99).map(|number| format!("{} times it goes. ", number * number)).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Level::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Level::default());
        zlib.write_all(text.as_bytes()).unwrap();
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), Level::default());
        deflate.write_all(text.as_bytes()).unwrap();
        for (coding, coded) in [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("zstd", zstd::encode_all(text.as_bytes(), 0).unwrap()),
            ("gzip", text.clone().into_bytes()),
            ("deflate", text.clone().into_bytes()),
            ("br", text.clone().into_bytes()),
        ] {
            let mut stored = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n").into_bytes();
            stored.extend(&coded);
            assert_eq!(body_of(&stored), text, "{coding}");
            let mut chunked =
                format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .into_bytes();
            for chunk in coded.chunks(17) {
                chunked.extend(format!("{:x};x=y\r\n", chunk.len()).into_bytes());
                chunked.extend(chunk);
                chunked.extend(b"\r\n");
            }
            chunked.extend(b"0\r\nTrailer: x\r\n\r\n");
            assert_eq!(body_of(&chunked), text, "{coding}, chunked");
            // If the record says that the crawler cut the body short, the text ends where the body was cut.
            for stored in [&stored, &chunked] {
                let begin = memchr::memmem::find(stored, b"\r\n\r\n").unwrap() + 4;
                let mut length = 0;
                // The first bytes tell whether the body is encoded.
                for end in begin + 20..stored.len() {
                    let body = read_body(&stored[..end], true);
                    assert!(text.starts_with(&body) && body.len() >= length, "{coding} at {end}: {body}");
                    length = body.len();
                }
                // The body is a single block of zstd, which is decoded whole.
                assert!(coding == "zstd" || length > text.len() / 2, "{coding}: {length}");
            }
            assert!(coding == "deflate" || !text.starts_with(&body_of(&chunked[..chunked.len() - 25])), "{coding}");
        }
    }

    /// A decompressor returns single bytes at the end of its buffer.
    #[test]
    fn the_first_bytes_may_come_one_by_one() {
        struct OneByOne<'a>(&'a [u8]);
        impl Read for OneByOne<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let most = buffer.len().min(1);
                self.0.read(&mut buffer[..most])
            }
        }
        let stop = fpdb_host::stop::StopToken::new();
        let meter = Meter::new(InputLimits::default(), None, &stop, &|_| {});
        let mut input = OneByOne(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody");
        let (headers, mut body) = response(&mut input, false, &meter).unwrap();
        let mut text = String::new();
        body.read_to_string(&mut text).unwrap();
        assert_eq!(
            (headers.get("content-type"), headers.get(STATUS), &text[..]),
            (Some("text/html"), Some("200"), "body")
        );
    }

    #[test]
    fn what_is_no_response_stays_as_it_is() {
        for text in ["plain", "", "HTT"] {
            assert_eq!(body_of(text.as_bytes()), text);
        }
        assert_eq!(body_of(b"HTTP/1.0 200\n\nafter"), "after");
        assert_eq!(body_of(b"HTTP/1.0 \xff\n\nafter"), "after");
        assert_eq!(body_of(b"HTTP/1.0 200\nTransfer-Encoding: chunked\n\nnot at all"), "not at all");
        assert_eq!(
            body_of(b"HTTP/1.0 200\nTransfer-Encoding: chunked\n\n5\r\nhe"),
            std::io::Error::from(io::ErrorKind::UnexpectedEof).to_string()
        );
    }
}
