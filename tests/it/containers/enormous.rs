//! An enormous member is read within the allowed memory. The test generates it while it is read, never on a
//! disk.

use std::fs;
use std::io::Write;
use std::process::{ChildStdin, Stdio};

use crate::bad_input::prose;
use crate::support::{Folder, Run};

const MIB: u64 = 1 << 20;

/// Writes a tar with one member of `bytes` bytes of text.
fn write_tar(bytes: u64, out: &mut dyn Write) {
    let mut header = [0; 512];
    header[..7].copy_from_slice(b"big.txt");
    header[100..108].copy_from_slice(b"0000644\0");
    // Sizes above 8 GiB do not fit in octal digits. So the size is binary, after a byte that marks this form.
    header[124] = 0x80;
    header[128..136].copy_from_slice(&bytes.to_be_bytes());
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.write_all(&header).unwrap();
    let text = prose(7).repeat(1000);
    let text = &text.as_bytes()[..text.len().min(1 << 20)];
    let mut left = bytes;
    while left > 0 {
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(text.len());
        out.write_all(&text[..now]).unwrap();
        left -= now as u64;
    }
    let padding = bytes.next_multiple_of(512) - bytes;
    out.write_all(&vec![0; padding as usize + 1024]).unwrap();
}

/// The peak memory of a process so far.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Ingests standard input, to which `write` writes. Returns the peak memory.
fn ingest(name: &str, bytes: u64, write: impl FnOnce(ChildStdin) -> ChildStdin) -> u64 {
    let folder = Folder::new();
    // The test measures the memory for the text, so a wide window keeps the postings few.
    let arguments =
        ["ingest", "-", "--name", name, "-w", "5000", "--memory", "64MiB", "--threads", "2", "--format", "json"];
    let mut command = folder.command(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = write(child.stdin.take().unwrap());
    // The program has read all bytes except those in the pipe, and waits for more.
    let peak = peak(child.id());
    drop(stdin);
    let run = Run::of(&child.wait_with_output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!((&run.json()[0]["added"], &run.json()[0]["bytes"]), (&1.into(), &bytes.into()), "{run:?}");
    let documents = folder.ok(&["list", "--format", "json"]).json();
    assert_eq!(documents[0]["name"], format!("{name}!big.txt"));
    eprintln!("{name}: a member of {} MiB, peak {} MiB", bytes / MIB, peak / MIB);
    peak
}

fn survives(bytes: u64) {
    // Twice the memory allowed for postings, and the memory of the program itself, mostly of RocksDB.
    let most = 160 * MIB;
    let plain = ingest("big.tar", bytes, |mut stdin| {
        write_tar(bytes, &mut stdin);
        stdin
    });
    assert!(plain < most, "{} MiB", plain / MIB);
    // Stored without compression, because the test is about decompression.
    let packed = ingest("big.tar.gz", bytes, |stdin| {
        let mut packer = flate2::write::GzEncoder::new(stdin, flate2::Compression::none());
        write_tar(bytes, &mut packer);
        packer.finish().unwrap()
    });
    assert!(packed < most, "{} MiB", packed / MIB);
}

#[test]
fn a_member_larger_than_the_memory_passes_through() {
    survives(400 * MIB + 7);
}

#[test]
#[ignore = "long: make soak"]
fn a_member_of_ten_gigabytes_passes_through() {
    survives(10_000_000_007);
}
