//! The hostile set: for each reader of formats and containers, input that is deep, long, wide, lying or
//! repeated. The program reads each input under limits of the system on memory and processor time. Each input
//! is ingested or fails by name, and the program ends by itself. `make test` reads the whole set at once, at
//! 200 kB each. `make soak` reads each input by itself, at 1 MB and at 20 MB.

use std::io::Write;
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::support::{Folder, Run, gzip, zip};

/// A document that repeats `unit` up to `bytes` bytes, between a beginning and an end.
fn repeated(before: &str, unit: &str, after: &str, bytes: usize) -> Vec<u8> {
    [before.as_bytes(), &unit.as_bytes().repeat(bytes / unit.len()), after.as_bytes()].concat()
}

fn tar(members: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, &content[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

fn docx(body: Vec<u8>) -> Vec<u8> {
    const RELATIONS: &str = "<Relationships><Relationship Target=\"word/document.xml\" \
        Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\"/></Relationships>";
    zip([
        ("[Content_Types].xml", &b"<Types/>"[..]),
        ("_rels/.rels", RELATIONS.as_bytes()),
        ("word/document.xml", &body[..]),
    ])
}

/// A PDF of one page with this content, compressed. It has no table of its parts, so readers search for them.
fn pdf(content: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content).unwrap();
    let packed = packed.finish().unwrap();
    let objects: [Vec<u8>; 5] = [
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>>>".to_vec(),
        [format!("<</Length {}/Filter/FlateDecode>>stream\n", packed.len()).as_bytes(), &packed, b"\nendstream"]
            .concat(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_vec(),
    ];
    let (mut document, mut offsets) = (b"%PDF-1.5\n".to_vec(), Vec::new());
    for (index, object) in objects.iter().enumerate() {
        offsets.push(document.len());
        document.extend([format!("{} 0 obj\n", index + 1).as_bytes(), object, b"\nendobj\n"].concat());
    }
    let table = document.len();
    document.extend(b"xref\n0 6\n0000000000 65535 f \n");
    document.extend(offsets.iter().flat_map(|offset| format!("{offset:010} 00000 n \n").into_bytes()));
    document.extend(format!("trailer<</Size 6/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").into_bytes());
    document
}

const MIXED: &str = "From: a\nContent-Type: multipart/mixed; boundary=b\n\n";

/// The set, with documents of about `bytes` bytes once they are unpacked.
fn set(bytes: usize) -> Vec<(String, Vec<u8>)> {
    let mut set: Vec<(String, Vec<u8>)> = Vec::new();
    let text = [
        ("a.md", "", "[", ""),
        ("b.md", "", "> ", ""),
        ("c.md", "", "*a_", ""),
        ("d.md", "", "`", ""),
        ("e.md", "", "[a]: b\n", ""),
        ("f.md", "|a|b|\n|-|-|\n", "|a|b|\n", ""),
        ("g.md", "", "<a><!--", ""),
        ("a.html", "<html>", "<div><b>", ""),
        ("b.html", "<html>", "&lt;", ""),
        ("c.html", "<html>", "<svg><![CDATA[", ""),
        ("d.html", "<html>", "<a b=", ""),
        ("e.html", "<html>", "<script><!--", ""),
        ("f.html", "<html>", "\r\n", ""),
        ("a.tex", "\\documentclass{a}\\begin{document}", "\\a[", ""),
        ("b.tex", "", "\\cite{", ""),
        ("c.tex", "", "{\\'e", ""),
        ("a.ipynb", "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": \"", "[\\n", "\"}]}"),
        ("b.ipynb", "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"\"", ",\"\"", "]}]}"),
        ("c.ipynb", "{\"cells\": ", "[", ""),
        ("a.eml", "From: a\n", "A: b\n", "\ntext\n"),
        ("b.eml", "From: a\nTo: ", "a,", "\n\ntext\n"),
        ("c.eml", "From: a\nTo: ", "(", "\n\ntext\n"),
        (
            "d.eml",
            "Content-Type: multipart/mixed; boundary=b\n\n",
            "--b\nContent-Type: multipart/mixed; boundary=b\n\n",
            "",
        ),
        ("e.eml", "From: a\n\n", "--b\nContent-Type: message/rfc822\n\n", ""),
        ("f.eml", MIXED, "--b\nContent-Disposition: attachment; filename=a\n\na\n", "--b--\n"),
        ("g.eml", MIXED, "--b\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=b\n\n", ""),
        ("h.eml", MIXED, "--b\nContent-Transfer-Encoding: base64\nContent-Type: a/b\n\nYQ\n", ""),
        ("a.txt", "", "a", ""),
        ("b.txt", "", "e\u{301}\u{327}", ""),
        ("c.txt", "", "\u{fb03}\u{1f468}\u{200d}", ""),
        ("a.jsonl", "{\"text\":\"a\"}\n", "{}\n", ""),
        ("b.jsonl", "{\"text\":\"a\"}\n", "{\"a\":\n", ""),
        ("c.jsonl", "{\"text\":\"a\"}\n", "{\"text\":\"\"}\n", ""),
        ("d.jsonl", "{\"text\":\"a\"}\n{\"text\":", "[", "\n"),
        ("e.jsonl", "{\"text\":\"a\"}\n{\"id\":\"", "x", "\",\"text\":\"b\"}\n"),
        ("f.jsonl", "{\"text\":\"a\"}\n{", "\"a\":1,", "\"text\":\"b\"}\n"),
        ("a.warc", "", "WARC/1.0\nWARC-Type: resource\nContent-Length: 1\n\na\n\n", ""),
        ("b.warc", "WARC/1.0\n", "A: b\n", "\n"),
        ("c.warc", "WARC/1.0\nWARC-Type: resource\nContent-Length: 1\nWARC-Record-ID: ", "x", "\n\na\n\n"),
        (
            "d.warc",
            "WARC/1.0\nWARC-Type: response\nContent-Length: 99999999\n\nHTTP/1.1 200\nTransfer-Encoding: chunked\n\n",
            "1\na\n",
            "0\n",
        ),
        ("a.arc", "filedesc://a 0 0 text/plain 1\na\n", "http://a 0 20200101 text/plain 1\na\n", ""),
        ("a.mbox", "From a Sat Jan  3 01:05:34 1996\nTo: b\n", "\nFrom a Sat Jan  3 01:05:34 1996\nTo: b\n", ""),
        ("b.mbox", "From a Sat Jan  3 01:05:34 1996\nTo: b\n", "\n", ""),
    ];
    set.extend(text.map(|(name, before, unit, after)| (name.to_owned(), repeated(before, unit, after, bytes))));
    let mut add = |name: &str, content: Vec<u8>| set.push((name.to_owned(), content));
    // Each byte is a character with its own origin.
    add("latin1.html", [&b"<html>"[..], &b"\xe9".repeat(bytes)].concat());
    add(
        "utf16.html",
        "<html>é".encode_utf16().chain("é".encode_utf16().cycle().take(bytes / 2)).flat_map(u16::to_le_bytes).collect(),
    );
    let empty = |count: usize| (0..count).map(|number| (format!("m{number}"), Vec::new()));
    add("empty.tar", tar(empty(bytes / 512)));
    add("same.tar", tar((0..bytes / 1024).map(|number| ("m".to_owned(), number.to_string().into_bytes()))));
    add("names.tar", tar((0..bytes / 61_000).map(|number| (format!("{}/{number}", "n/".repeat(30_000)), vec![b'x']))));
    add("empty.zip", zip(empty(bytes / 100)));
    add("names.zip", zip((0..bytes / 60_000).map(|number| (format!("{}{number}", "n".repeat(60_000)), vec![b'x']))));
    add("bomb.zip", zip([("a".to_owned(), vec![b'a'; bytes * 20])]));
    let mut attached = [MIXED.as_bytes(), b"--b\nContent-Disposition: attachment; filename=a.zip\n\n"].concat();
    attached.extend(zip([("a".to_owned(), vec![b'a'; bytes * 20])]));
    add("bomb.eml", attached);
    let mut matryoshka = b"From: a\n\ntext\n".to_vec();
    for depth in 0..20 {
        // The boundary of the outer mail must not occur in the inner one.
        let head = format!(
            "From: a\nContent-Type: multipart/mixed; boundary=b{depth}b\n\n--b{depth}b\nContent-Type: \
             application/octet-stream; name=a.eml\n\n"
        );
        matryoshka = [head.as_bytes(), &matryoshka, &vec![b'a'; bytes / 20]].concat();
    }
    add("nested.eml", matryoshka);
    let mut nested = vec![b'a'; bytes];
    for _ in 0..20 {
        nested = gzip(&nested);
    }
    add("nested.gz", nested);
    add("empty.gz", gzip(b"").repeat(bytes / 20));
    add("lines.jsonl.gz", gzip(repeated("", "{\"text\":\"\"}\n", "", bytes)));
    add("empty.bz2", b"BZh9\x17rE8P\x90\0\0\0\0".repeat(bytes / 14));
    add("deep.docx", docx(repeated("", "<a>", "", bytes)));
    add("wide.docx", docx(repeated("<d>", "<p><t>a</t></p>", "</d>", bytes)));
    add("attributes.docx", docx(repeated("<d ", "a=\"b\" ", "/>", bytes)));
    add("spaces.docx", docx(repeated("<d><p><t>", " ", "</t></p></d>", bytes * 20)));
    let content = |unit: &str| repeated("BT /F1 12 Tf ", unit, " ET", bytes);
    for (name, unit) in [
        ("q", "q "),
        ("tj", "(a) Tj "),
        ("arrays", "[1[2]] TJ "),
        ("deep", "[ "),
        ("dictionaries", "<</A "),
        ("numbers", "1 "),
    ] {
        add(&format!("{name}.pdf"), pdf(&content(unit)));
    }
    let lists = repeated("%PDF-1.5\n1 0 obj\n", "[", "\nendobj\ntrailer<</Root 1 0 R>>\n", bytes);
    add("lists.pdf", lists);
    add("objects.pdf", repeated("%PDF-1.5\n", "1 0 obj\n<<>>\nendobj\n", "trailer<</Root 1 0 R>>\n", bytes));
    set
}

/// Ingests files with limits on memory (in MiB, per process) and processor time (in seconds). The program may
/// end with a signal.
fn ingest(folder: &Folder, memory: u64, seconds: u64, files: &[&str]) -> Run {
    let mut command = Command::new("/bin/sh");
    let script = "ulimit -d $0 && ulimit -t $1 && shift && exec \"$@\"";
    command.args(["-c", script, &(memory << 10).to_string(), &seconds.to_string()]);
    command.args([env!("CARGO_BIN_EXE_fpdb"), "ingest", "--format", "json", "--threads", "2", "--memory", "64MiB"]);
    command.arg("--attachments");
    command.args(files).current_dir(folder.path()).stdin(Stdio::null());
    Run::of(&command.output().unwrap())
}

/// Reads each file of the set under limits in proportion to its size.
fn each(bytes: usize) {
    let mut broken = Vec::new();
    for (name, content) in set(bytes) {
        let folder = Folder::new();
        folder.write(&name, content);
        let run = ingest(&folder, 1024, 30 + 20 * (bytes as u64 >> 20), &[&name]);
        if ![0, 2].contains(&run.status) || run.stdout.is_empty() {
            broken.push(format!("{name}: status {}, {}", run.status, run.stderr.lines().last().unwrap_or_default()));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_hostile_set_is_read_or_refused() {
    let folder = Folder::new();
    let names: Vec<String> =
        set(200_000).into_iter().map(|(name, content)| (folder.write(&name, content), name).1).collect();
    let run = ingest(&folder, 768, 120, &names.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(run.status, 2, "{}", run.stderr);
    let report = &run.json()[0];
    assert!(report["documents"].as_u64().unwrap() > 1000, "{report}");
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
#[ignore = "long: run by make soak"]
#[cfg(target_os = "linux")]
fn the_hostile_set_at_one_and_at_twenty_megabytes() {
    each(1 << 20);
    each(20 << 20);
}
