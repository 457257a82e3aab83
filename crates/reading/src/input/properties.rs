//! Properties of any bytes that are read as a container, as compressed data or as a metadata table: reading
//! ends, stays within the limits, and gives the same documents for pieces of any size.

use std::fmt::Write;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::decompress::decompress;
use super::expand::{ReadContext, expand_input};
use super::{About, Content, InputLimits, MetadataTable, ReadOptions, WalkEvent};
use crate::input::decompress::meter::Meter;
use crate::input::expand::pipe::Input;
use crate::recognise::{self, Choice, Compression, layer_of, name_inside};
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::Unit;

/// Small limits, so that inputs reach all of them. Documents stay below the size at which they are passed on
/// in pieces.
const LIMITS: InputLimits = InputLimits {
    document_bytes: 100_000,
    record_bytes: 20_000,
    expansion: 250,
    expanded_bytes: 2 << 20,
    nesting: 4,
    members: 200,
    json_depth: 20,
    whole_bytes: 100_000,
    unpacked_bytes: 1 << 20,
    unpacking: 100,
    name_bytes: 300,
    reading_memory: 64 << 20,
    reading_seconds: 60,
    process: None,
};

/// Returns at most `step` bytes per read.
struct Steps {
    bytes: Cursor<Vec<u8>>,
    step: usize,
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.step.min(buffer.len());
        self.bytes.read(&mut buffer[..most])
    }
}

impl Input for Steps {}

/// Lists everything that is found in a file with this name.
fn unfold(name: &str, bytes: &[u8], step: usize) -> String {
    let options = ReadOptions { limits: LIMITS, attachments: true, ..ReadOptions::default() };
    let reading = ReadContext { options: &options, members: None, stop: &StopToken::new(), progress: &|_| {} };
    let about = About {
        name: name.into(),
        hint: name.into(),
        file: None,
        member: None,
        modified: None,
        metadata: Vec::new(),
        repeated: false,
        named: false,
    };
    let (mut found, mut total) = (String::new(), 0);
    let input = Steps { bytes: Cursor::new(bytes.to_vec()), step };
    expand_input(&about, reading, Path::new("the input"), input, &mut |step| {
        let line = match step {
            WalkEvent::Document(document) => {
                let About { name, hint, member, metadata, .. } = document.about;
                let hint = hint.name;
                assert!(!name.chars().any(char::is_control), "{name:?}");
                let Content::Whole(bytes) = document.content else { panic!("{name} is not whole") };
                assert!(bytes.len() as u64 <= LIMITS.document_bytes);
                total += bytes.len() as u64;
                writeln!(found, "{name:?} {hint:?} {member:?} {metadata:?} {bytes:?}")
            }
            WalkEvent::Skipped { name, reason } => writeln!(found, "{name:?} skipped: {reason}"),
            WalkEvent::Failed { name, error } => writeln!(found, "{name:?} failed: {error}"),
            WalkEvent::Archive(_) | WalkEvent::LeftOut(_) => Ok(()),
        };
        line.unwrap();
        ControlFlow::Continue(())
    });
    // Bytes of the file itself do not count.
    assert!(total <= LIMITS.expanded_bytes + bytes.len() as u64, "{total}");
    found
}

/// Checks a container of the kind that its name's extension shows.
pub(crate) fn container(name: &str, data: &[u8]) {
    let whole = unfold(name, data, usize::MAX);
    assert_eq!(unfold(name, data, 1 + data.len() % 13), whole);
}

/// Checks a server's response, in a WARC record.
pub(crate) fn http(data: &[u8]) {
    let head = format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n", data.len());
    container("a.warc", &[head.as_bytes(), data].concat());
}

/// Checks a compressed stream of each kind.
pub(crate) fn compressed(data: &[u8]) {
    for kind in [Compression::Gzip, Compression::Zstd, Compression::Xz, Compression::Bzip2] {
        let read = |step| {
            let stop = StopToken::new();
            let meter = Meter::new(LIMITS, None, &stop, &|_| {});
            let mut inside = Vec::new();
            decompress(kind, Steps { bytes: Cursor::new(data.to_vec()), step }, &meter)?.read_to_end(&mut inside)?;
            Ok::<_, io::Error>(inside)
        };
        let whole = read(usize::MAX).ok();
        assert!(whole.as_ref().is_none_or(|inside| inside.len() as u64 <= LIMITS.expanded_bytes));
        assert_eq!(read(1 + data.len() % 13).ok(), whole, "{kind:?}");
    }
}

/// Checks the detection of a document or file. The first line is its name, the rest its first bytes.
pub fn choose(data: &[u8]) {
    let name = data.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let head = data.get(name.len() + 1..).unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    layer_of(&name, head);
    assert!(name_inside(&name).len() <= name.len() + ".tar".len());
    for unit in [Unit::Char, Unit::Word, Unit::Token] {
        let choice = recognise::choose(&name, head, unit);
        assert!(unit == Unit::Token || !matches!(choice, Choice::Read(Format::Code(_) | Format::Bytes)));
        let choice = recognise::choose_of_text(&name, head, unit);
        assert!(!matches!(choice, Choice::Read(Format::Pdf | Format::Docx | Format::Odt | Format::Epub)));
    }
    assert_eq!(recognise::choose(&name, head, Unit::Byte), Choice::Read(Format::Bytes));
}

/// Checks a metadata table: every row applies to the document that it names.
pub(crate) fn metadata(data: &[u8]) {
    let Ok(table) = MetadataTable::parse(Path::new("table.csv"), data) else { return };
    for name in table.unmatched() {
        let mut about = About {
            hint: "".into(),
            name,
            file: None,
            member: None,
            modified: None,
            metadata: Vec::new(),
            repeated: false,
            named: false,
        };
        table.apply(&mut about);
        assert!(about.metadata.iter().all(|(_, value)| !value.is_empty()));
    }
    assert_eq!(table.unmatched(), Vec::<String>::new());
}
