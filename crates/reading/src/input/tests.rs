//! Tests with random bytes and with changed samples. No input may make a reader panic, read forever or exceed
//! its limits.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{About, Content, FileFacts, InputLimits, Opened, ReadContext, ReadOptions, WalkEvent, candidate_of, open};
use fpdb_host::stop::StopToken;

/// Number of documents and of failures, and bytes of the documents.
#[derive(Debug, Default, PartialEq, Eq)]
struct TestTally {
    documents: u64,
    failures: u64,
    bytes: u64,
}

/// Opens a file and reads everything in it.
fn unfold(path: &Path) -> TestTally {
    let limits = InputLimits { nesting: 4, expanded_bytes: 64 << 20, members: 2000, ..InputLimits::default() };
    let options = ReadOptions { limits, attachments: true, ..ReadOptions::default() };
    let stop = StopToken::new();
    let reading = ReadContext { options: &options, members: None, stop: &stop, progress: &|_| {} };
    let mut about = candidate_of(path).unwrap().about;
    let file: &FileFacts = &about.file.clone().unwrap();
    let mut tally = TestTally::default();
    match open(&mut about, file, reading) {
        Err(_) => tally.failures += 1,
        Ok(Opened::Document(_)) => tally.documents += 1,
        Ok(Opened::Container(container)) => {
            let mut readers = Vec::new();
            let whole = container.expand(&about, file, reading, &mut |found| {
                match found {
                    WalkEvent::Failed { .. } => tally.failures += 1,
                    WalkEvent::Skipped { .. } | WalkEvent::Archive(_) | WalkEvent::LeftOut(_) => {}
                    WalkEvent::Document(document) => {
                        let About { name, .. } = document.about;
                        assert!(!name.chars().any(char::is_control), "{name:?}");
                        tally.documents += 1;
                        match document.content {
                            Content::Whole(bytes) => tally.bytes += bytes.len() as u64,
                            Content::Pieces(pieces) => readers.push(std::thread::spawn(move || {
                                std::iter::from_fn(|| pieces.receive().ok()?)
                                    .map(|piece| piece.len() as u64)
                                    .sum::<u64>()
                            })),
                            Content::File | Content::Compressed(_) | Content::Temporary(_) | Content::Pipe(_) => {
                                panic!("a member is no file")
                            }
                        }
                    }
                }
                ControlFlow::Continue(())
            });
            tally.failures += u64::from(whole.is_err());
            tally.bytes += readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u64>();
        }
    }
    tally
}

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum ByteChange {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, u8),
    Double(prop::sample::Index, u8),
    Largest(prop::sample::Index),
}

fn change() -> impl Strategy<Value = ByteChange> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| ByteChange::Set(at, byte)),
        1 => at().prop_map(ByteChange::Cut),
        1 => (at(), any::<u8>()).prop_map(|(at, count)| ByteChange::Remove(at, count)),
        1 => (at(), any::<u8>()).prop_map(|(at, count)| ByteChange::Double(at, count)),
        // Sets lengths to the maximum.
        2 => at().prop_map(ByteChange::Largest),
    ]
}

fn apply(changes: &[ByteChange], bytes: &mut Vec<u8>) {
    for change in changes {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        let part = |at: &prop::sample::Index, count: u8| {
            let start = at.index(length);
            start..(start + usize::from(count)).min(length)
        };
        match change {
            ByteChange::Set(at, byte) => bytes[at.index(length)] = *byte,
            ByteChange::Cut(at) => bytes.truncate(at.index(length)),
            ByteChange::Remove(at, count) => drop(bytes.drain(part(at, *count))),
            ByteChange::Double(at, count) => {
                let copy = bytes[part(at, *count)].to_vec();
                let start = at.index(length);
                drop(bytes.splice(start..start, copy));
            }
            ByteChange::Largest(at) => bytes[part(at, 4)].fill(0xff),
        }
    }
}

fn check_changes(sample: &Path, changes: &[ByteChange]) {
    let mut bytes = std::fs::read(sample).unwrap();
    apply(changes, &mut bytes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(sample.file_name().unwrap());
    std::fs::write(&path, bytes).unwrap();
    unfold(&path);
}

fn check_any(ending: &str, magic: &[u8], bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("a.{ending}"));
    std::fs::write(&path, [magic, bytes].concat()).unwrap();
    unfold(&path);
}

/// Extensions, and the first bytes of such files.
const KINDS: [(&str, &[u8]); 13] = [
    ("gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
    ("zst", b"\x28\xb5\x2f\xfd"),
    ("xz", b"\xfd7zXZ\0"),
    ("bz2", b"BZh91AY&SY"),
    ("tar", b""),
    ("zip", b"PK\x03\x04"),
    ("jsonl", b"{\"text\": "),
    ("parquet", b"PAR1"),
    ("warc", b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 50\r\n\r\nHTTP/1.1 200\r\n"),
    ("arc", b"filedesc:a 1 2 3 4\n"),
    ("mbox", b"From a b\n"),
    ("eml", b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment\n"),
    ("tgz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
];

#[test]
fn the_samples_unfold() {
    let tallies: Vec<(String, TestTally)> =
        samples().iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), unfold(path))).collect();
    assert!(tallies.len() > 25);
    for (name, tally) in &tallies {
        let failures = match name.as_str() {
            // The records of the first file have other fields. The second file is encrypted.
            "body.jsonl" | "encrypted.zip" => 1,
            _ => 0,
        };
        assert_eq!(tally.failures, failures, "{name}: {tally:?}");
        assert!(tally.documents > 0 || failures > 0, "{name}: {tally:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_are_safe(kind in 0..KINDS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let (ending, magic) = KINDS[kind];
        check_any(ending, magic, &bytes);
    }

    #[test]
    fn changed_samples_are_safe(sample in any::<prop::sample::Index>(), changes in proptest::collection::vec(change(), 1..6)) {
        let samples = samples();
        check_changes(&samples[sample.index(samples.len())], &changes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    #[ignore = "takes minutes"]
    fn very_many_changed_samples_are_safe(
        sample in any::<prop::sample::Index>(),
        changes in proptest::collection::vec(change(), 1..6),
    ) {
        let samples = samples();
        check_changes(&samples[sample.index(samples.len())], &changes);
    }

    #[test]
    #[ignore = "takes minutes"]
    fn very_many_bytes_are_safe(kind in 0..KINDS.len(), bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let (ending, magic) = KINDS[kind];
        check_any(ending, magic, &bytes);
    }
}
