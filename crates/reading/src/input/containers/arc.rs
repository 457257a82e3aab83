//! ARC: the format of web crawls before WARC. A record is one line (address, IP, date, type, length) and the
//! server's response. Version 2 has more fields before the length.

use std::io::{self, BufRead, BufReader, Read};

use super::Members;
use super::http::Headers;
use super::warc::{Body, CountingReader, RecordKind, for_each_record, hand_over};
use crate::input::decompress::meter::Meter;
use fpdb_host::error::Result;

const FORMAT: &str = "ARC";

/// Maximum bytes in the line before a record. Addresses can be long.
const LINE_BYTES: u64 = 64 << 10;

pub(super) fn read(input: &mut dyn Read, meter: &Meter<'_>, members: &mut dyn Members) -> Result<()> {
    let mut input = CountingReader { input: BufReader::with_capacity(64 << 10, input), taken: 0 };
    let failed = |error| meter.error(FORMAT, error);
    let (mut number, mut line) = (0_u64, Vec::new());
    for_each_record(members, |members| {
        number += 1;
        let start = loop {
            line.clear();
            let start = input.taken;
            if (&mut input).take(LINE_BYTES).read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(false);
            }
            if !line.trim_ascii().is_empty() {
                break start;
            }
        };
        let text = String::from_utf8_lossy(&line);
        let fields: Vec<&str> = text.split_whitespace().collect();
        let length = fields.last().filter(|_| fields.len() >= 5).and_then(|length| length.parse().ok());
        let length = length.ok_or_else(|| failed(io::Error::other("a record's first line has no length")))?;
        let mut body = Body::new(&mut input, length);
        let address = fields[0];
        // The first record describes the file itself. Records of name servers have no text.
        if length > 0 && !address.starts_with("filedesc:") && !address.starts_with("dns:") {
            let metadata = vec![("url".into(), address.to_owned()), ("date".into(), fields[2].to_owned())];
            let suffix = format!("#{number}");
            hand_over(&mut body, &Headers::default(), RecordKind::Response, suffix, metadata, meter, members)?;
        }
        if body.end().map_err(failed)? {
            members.goes_on();
            // The empty line after a record counts with the next record.
            members.extent(start..input.taken);
        }
        Ok(true)
    })
}
