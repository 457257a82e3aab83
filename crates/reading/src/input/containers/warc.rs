//! WARC: the records of a web crawl (ISO 28500). Responses, resources and conversions contain documents. The
//! headers and encodings of a response are removed.

use std::io::{self, BufRead, BufReader, Read};

use super::http::{self, Headers};
use super::{Member, MemberContent, Members};
use crate::input::decompress::meter::{Exactly, Meter, is_member_error};
use crate::recognise::{extension, is_packed, promised_format};
use fpdb_host::error::Result;
use fpdb_host::skip_reason::SkipReason;
use fpdb_kernel::document::Format;

const FORMAT: &str = "WARC";

/// Maximum bytes in the first line of a record.
const LINE_BYTES: u64 = 64 << 10;

pub(super) fn read(input: &mut dyn Read, meter: &Meter<'_>, members: &mut dyn Members) -> Result<()> {
    let input = CountingReader { input: BufReader::with_capacity(64 << 10, input), taken: 0 };
    let mut records = Records { input, number: 0, before: None };
    for_each_record(members, |members| records.next(meter, members))
}

/// Reads all records. `next` passes on the next one, and returns false at the end.
pub(super) fn for_each_record(
    members: &mut dyn Members,
    mut next: impl FnMut(&mut dyn Members) -> Result<bool>,
) -> Result<()> {
    loop {
        match next(members) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // The next bytes are those of a later record.
            Err(error) if is_member_error(&error) => members.failed(String::new(), error)?,
            Err(error) => return Err(error),
        }
    }
}

/// Reads the records of a file.
struct Records<R> {
    input: CountingReader<R>,
    number: u64,
    /// Offset of the previous record, if it was a member.
    before: Option<u64>,
}

impl<R: BufRead> Records<R> {
    /// Passes on the next record. Returns false at the end.
    fn next(&mut self, meter: &Meter<'_>, members: &mut dyn Members) -> Result<bool> {
        let Self { input, number, before } = self;
        let failed = |error| meter.error(FORMAT, error);
        let before = before.take();
        *number += 1;
        let begins = begins(input).map_err(failed)?;
        if let Some(start) = before {
            members.extent(start..begins.unwrap_or(input.taken));
        }
        let Some(begins) = begins else { return Ok(false) };
        let headers = Headers::read(input).map_err(failed)?;
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let length = length.ok_or_else(|| failed(io::Error::other("a record has no length")))?;
        let mut body = Body::new(input, length);
        let mut is_member = false;
        if let Some(kind) = RecordKind::of(&headers)
            && length > 0
        {
            let id = headers.get("warc-record-id").map(|id| id.trim_start_matches('<').trim_end_matches('>'));
            let id = id.filter(|id| !id.is_empty()).map_or_else(|| number.to_string(), str::to_owned);
            let suffix = format!("#{}", id.replace(char::is_control, "\u{fffd}"));
            let kept = [("url", "warc-target-uri"), ("date", "warc-date"), ("truncated", "warc-truncated")];
            let kept = kept.iter().filter_map(|&(name, field)| Some((name.to_owned(), headers.get(field)?.to_owned())));
            if headers.get("warc-segment-number").is_some() {
                members.skipped(suffix, SkipReason::Segment)?;
            } else {
                hand_over(&mut body, &headers, kind, suffix, kept.collect(), meter, members)?;
                is_member = true;
            }
        }
        // A record that repeats another one can only be read together with it.
        if let Some(id) = headers.get("warc-refers-to") {
            members.needed(&format!("#{}", id.trim_start_matches('<').trim_end_matches('>')));
        }
        if body.end().map_err(failed)? {
            members.goes_on();
            self.before = is_member.then_some(begins);
        }
        Ok(true)
    }
}

/// The body of a record. The body ends at the first error.
pub(super) struct Body<R> {
    input: Exactly<R>,
    has_failed: bool,
}

impl<R: Read> Body<R> {
    pub(super) fn new(input: R, length: u64) -> Self {
        Self { input: Exactly { input, left: length }, has_failed: false }
    }

    /// Skips the rest of the body. Returns false if an error was reported before: the next bytes may then
    /// belong to a later record.
    pub(super) fn end(mut self) -> io::Result<bool> {
        if self.has_failed {
            return Ok(false);
        }
        io::copy(&mut self, &mut io::sink()).map(|_| true)
    }
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_failed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let read = self.input.read(buffer);
        self.has_failed = read.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        read
    }
}

/// Counts the bytes that are read.
pub(super) struct CountingReader<R> {
    pub(super) input: R,
    pub(super) taken: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.input.consume(amount);
    }
}

/// The wrapping of a record's document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    Response,
    Plain,
}

impl RecordKind {
    fn of(headers: &Headers) -> Option<Self> {
        let is_http = |value: &str| value.trim_start().to_ascii_lowercase().starts_with("application/http");
        let says_http = headers.get("content-type").is_none_or(is_http);
        match headers.get("warc-type")? {
            // Responses of other protocols hold answers of name servers, and similar data.
            "response" => says_http.then_some(Self::Response),
            "resource" | "conversion" => Some(Self::Plain),
            _ => None,
        }
    }
}

/// Passes on the document of a record to `members`.
pub(super) fn hand_over(
    body: &mut dyn Read,
    headers: &Headers,
    kind: RecordKind,
    suffix: String,
    mut metadata: Vec<(String, String)>,
    meter: &Meter<'_>,
    members: &mut dyn Members,
) -> Result<()> {
    let url = metadata.iter().find(|(name, _)| name == "url").map_or(String::new(), |(_, url)| url.clone());
    if kind == RecordKind::Plain {
        let hint = hint(headers.get("content-type"), &url);
        return members.member(Member {
            suffix,
            hint: hint.into(),
            modified: None,
            metadata,
            content: MemberContent::Stream(body),
        });
    }
    match http::response(body, headers.get("warc-truncated").is_some(), meter) {
        Ok((response, mut document)) => {
            let hint = hint(response.get("content-type"), &url);
            metadata.extend(response.get(http::STATUS).map(|code| ("status".to_owned(), code.to_owned())));
            members.member(Member {
                suffix,
                hint: hint.into(),
                modified: None,
                metadata,
                content: MemberContent::Stream(&mut document),
            })
        }
        Err(error) => members.failed(suffix, meter.error("HTTP", error)),
    }
}

/// The extension of this media type, as a name. If the media type does not show the format, returns the last
/// part of the address. An extension of a binary document or a program in the address takes precedence: such
/// a record may be empty, and programs give out pictures (`/show.php`).
fn hint(media_type: Option<&str>, url: &str) -> String {
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let ending = match media_type.as_str() {
        "text/html" | "application/xhtml+xml" => "html",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "application/pdf" => "pdf",
        "application/epub+zip" => "epub",
        "application/vnd.oasis.opendocument.text" => "odt",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "message/rfc822" => "eml",
        _ => {
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let path = path.split_once("://").map_or(path, |(_, rest)| rest);
            let last = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next()).unwrap_or_default();
            return match promised_format(last) {
                Some(format) if is_packed(format) || matches!(format, Format::Code(_)) => {
                    format!(".{}", extension(last))
                }
                _ => last.to_owned(),
            };
        }
    };
    format!(".{ending}")
}

/// Skips the empty lines between records and reads the first line of the next record. Returns the offset of
/// that line; `None` at the end.
fn begins(input: &mut CountingReader<impl BufRead>) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let place = input.taken;
        if (&mut *input).take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.starts_with(b"WARC/") {
            return Ok(Some(place));
        }
        if !line.trim_ascii().is_empty() {
            return Err(io::Error::other("a record begins with something else than WARC/"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_from_the_media_type_or_the_address() {
        for (media_type, url, expected) in [
            (Some("text/html; charset=utf-8"), "http://example.org/a.txt", ".html"),
            (Some("application/octet-stream"), "http://example.org/b/a.PDF?x=/y", ".pdf"),
            (Some("application/octet-stream"), "http://example.org/b/a.c?x=/y", ".c"),
            (None, "http://example.org", ""),
            (None, "", ""),
        ] {
            assert_eq!(hint(media_type, url), expected);
        }
    }
}
