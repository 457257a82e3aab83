//! Tests of reader processes that do not answer properly. `tests/it/reader_process.rs` tests reading with the
//! real program.

use super::*;
use crate::extract::{Extracted, InputLimits, extract};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_kernel::document::Format;

fn limits(program: &str, arguments: &[&str]) -> InputLimits {
    InputLimits { process: Some(ReaderProcess::new(program, arguments)), ..InputLimits::default() }
}

/// Reads a document with a shell script as the reader.
fn read_by(script: &str) -> Result<Extracted> {
    extract(Format::Pdf, b"%PDF-1.7", &limits("/bin/sh", &["-c", script]))
}

fn failure(script: &str) -> String {
    match read_by(script) {
        Err(Error::Document(DocumentError::ReaderFailed { detail })) => detail,
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn a_reader_that_ends_fails_the_document_with_the_reason() {
    assert_eq!(failure("exit 3"), "its process ended with status 3");
    assert_eq!(failure("kill -SEGV $$"), "its process was ended by signal 11");
    assert_eq!(failure("head -c 80 >/dev/null; kill -ABRT $$"), "its process was ended by signal 6");
    assert_eq!(
        failure("head -c 80 >/dev/null; echo 'thread main has overflowed its stack' >&2; kill -ABRT $$"),
        "its parts lie too deep within each other"
    );
    assert!(matches!(
        read_by("head -c 80 >/dev/null; echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$"),
        Err(Error::Document(DocumentError::ReadingMemory { format: "pdf", limit: 0x4000_0000 }))
    ));
    assert!(matches!(
        read_by("kill -XCPU $$"),
        Err(Error::Document(DocumentError::ReadingTime { format: "pdf", seconds: 60 }))
    ));
}

/// A shell command that answers with a text of `length` bytes, in `printf` syntax, for a document without
/// unread parts.
fn answer(length: usize, text: &str) -> String {
    // The kind, the length in little-endian order, count and digest of the unread parts, and no undecodable
    // sequences and pages.
    format!(r"printf '\000\{:03o}\000\000\000\000\000\000\000{}{text}' >&0", 40 + length, r"\000".repeat(40))
}

#[test]
fn an_answer_that_is_none_is_not_believed() {
    // Standard input also carries the answer.
    assert_eq!(
        failure("head -c 80 >/dev/null; printf 'nonsense that is long enough' >&0"),
        "its answer makes no sense"
    );
    let not_utf8 = format!("head -c 80 >/dev/null; {}", answer(2, r"\377\376"));
    assert_eq!(failure(&not_utf8), "its text is not UTF-8");
    let text = format!("head -c 80 >/dev/null; {}", answer(2, "ok"));
    assert_eq!(read_by(&text).unwrap().text, b"ok");
}

/// A reader that writes messages about every document must not block. Its last message must still arrive.
#[test]
fn a_reader_that_writes_much_to_standard_error_goes_on() {
    let noise = "head -c 3000000 /dev/zero >&2 2>/dev/null";
    let answer = answer(2, "ok");
    let script = format!(
        "for i in 1 2; do head -c 80 >/dev/null; {noise}; {answer}; done; head -c 80 >/dev/null; \
         echo 'thread main has overflowed its stack' >&2; kill -ABRT $$"
    );
    let limits = limits("/bin/sh", &["-c", &script]);
    for _ in 0..2 {
        assert_eq!(extract(Format::Pdf, b"%PDF-1.7", &limits).unwrap().text, b"ok");
    }
    match extract(Format::Pdf, b"%PDF-1.7", &limits) {
        Err(Error::Document(DocumentError::ReaderFailed { detail })) => {
            assert_eq!(detail, "its parts lie too deep within each other");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = extract(Format::Mail, b"x", &limits("/nowhere/fpdb", &[])).unwrap_err();
    assert!(error.chain().starts_with("cannot start /nowhere/fpdb: "), "{}", error.chain());
}

#[test]
fn formats_with_offsets_of_their_own_are_read_here() {
    let limits = limits("/nowhere/fpdb", &[]);
    assert_eq!(extract(Format::Html, b"<p>here", &limits).unwrap().text, b"here");
}

/// A process reads one document after the other, also for several clones of a handle. A process that ended is
/// replaced.
#[test]
fn processes_are_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("starts");
    let answer = answer(0, "");
    let script = format!("echo >>{}; for i in 1 2 3; do head -c 80 >/dev/null; {answer}; done", count.display());
    let limits = limits("/bin/sh", &["-c", &script]);
    for read in 1..=7 {
        let again = limits.clone();
        // A process that ended may still look alive for a moment.
        let mut result = extract(Format::Pdf, b"%PDF-1.7", &again);
        if result.is_err() {
            result = extract(Format::Pdf, b"%PDF-1.7", &again);
        }
        assert!(result.is_ok(), "{read}: {result:?}");
    }
    let starts = std::fs::read_to_string(&count).unwrap().lines().count();
    assert_eq!(starts, 3);
}
