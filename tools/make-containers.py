#!/usr/bin/env python3
"""Makes tests/samples/: the same three texts in every container, by the tools that usually make them.

usage: tools/make-containers.py [FOLDER]

Needs GNU tar, gzip, zstd, xz, bzip2, Info-ZIP's zip, and the Python packages pyarrow, warcio and brotli, none of
which fpdb itself needs. The texts are numbers 1, 10 and 51 of data-samples/federalist, cut to their first paragraphs.
"""
import gzip
import io
import json
import mailbox
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib
from email.message import EmailMessage

import brotli
import pyarrow
import pyarrow.parquet
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMES = ["fed01.txt", "fed10.txt", "fed51.txt"]
BYTES = 3000
# A fixed time in the past, so that the archives are the same whenever they are made.
TIME = "2003-06-09 12:00:00"


def texts():
    folder = ROOT / "data-samples" / "federalist"
    found = {}
    for name in NAMES:
        text = (folder / name).read_text("utf-8")
        # One character that is not ASCII, and one beyond 16 bits, so that errors in escapes and encodings show.
        found[name] = text[:text.rindex(".", 0, BYTES) + 1] + "\n\u201cFinis\u201d \U0001f58b\n"
    return found


def run(*arguments, cwd=None):
    subprocess.run(arguments, check=True, cwd=cwd, env={**os.environ, "TZ": "UTC", "GZIP": "", "LC_ALL": "C"})


def archives(plain, out):
    tar = ["tar", "--sort=name", f"--mtime={TIME}", "--owner=0", "--group=0", "--numeric-owner"]
    # The format of GNU tar, with a name too long for the header, a link and a folder.
    run(*tar, "--format=gnu", "-cf", str(out / "texts.tar"), "texts", cwd=plain)
    run(*tar, "--format=pax", "-czf", str(out / "pax.tar.gz"), "texts", cwd=plain)
    run(*tar, "--zstd", "-cf", str(out / "texts.tar.zst"), "texts", cwd=plain)
    run("zip", "-q", "-X", "-r", str(out / "texts.zip"), "texts", cwd=plain)
    run("zip", "-q", "-X", "-0", "-r", str(out / "stored.zip"), "texts", cwd=plain)
    run("zip", "-q", "-X", "-Z", "bzip2", "-r", str(out / "bzip2.zip"), "texts", cwd=plain)
    run("zip", "-q", "-X", "-e", "-P", "secret", str(out / "encrypted.zip"), "texts/fed01.txt", cwd=plain)
    # A zip in a tar in a zip.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(out / "texts.zip", folder)
        run(*tar, "-czf", "inner.tgz", "texts.zip", cwd=folder)
        run("zip", "-q", "-X", str(out / "nested.zip"), "inner.tgz", cwd=folder)


def compressed(plain, out):
    source = str(plain / "texts" / "fed01.txt")
    for tool, ending in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz"), ("bzip2", "bz2")]:
        for flags, name in [(["-n"] if tool == "gzip" else [], "fed01.txt"), ]:
            with open(out / f"{name}.{ending}", "wb") as file:
                subprocess.run([tool, *flags, "-q", "-c", source], check=True, stdout=file)
    # Several members or frames, one after the other. The text is the content of all of them together.
    data = pathlib.Path(source).read_bytes()
    for tool, ending in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz"), ("bzip2", "bz2")]:
        with open(out / f"parts.txt.{ending}", "wb") as file:
            for part in (data[:1000], data[1000:1001], data[1001:]):
                flags = ["-n"] if tool == "gzip" else []
                done = subprocess.run([tool, *flags, "-q", "-c"], input=part, check=True, stdout=subprocess.PIPE)
                file.write(done.stdout)


def records(found, out):
    rows = [{"id": name, "text": text, "n": number, "tags": {"part": [number]}}
            for number, (name, text) in enumerate(found.items())]
    for name, lines in [
        ("texts.jsonl", [json.dumps(row) for row in rows]),
        ("utf8.ndjson", [json.dumps(row, ensure_ascii=False) for row in rows]),
    ]:
        (out / name).write_text("\n".join(lines) + "\n", "utf-8")
    run("gzip", "-n", "-k", str(out / "texts.jsonl"))
    run("zstd", "-q", "-k", str(out / "texts.jsonl"))
    body = [{"key": row["id"], "body": row["text"]} for row in rows]
    (out / "body.jsonl").write_text("".join(json.dumps(row) + "\n" for row in body), "utf-8")
    columns = {"id": [row["id"] for row in rows] + [None], "text": [row["text"] for row in rows] + [None],
               "n": [0, 1, 2, 3], "tags": [["a"], [], None, ["b", "c"]]}
    table = pyarrow.table(columns)
    for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
        pyarrow.parquet.write_table(table, out / f"{codec}.parquet", compression=codec, row_group_size=2,
                                    store_schema=False, write_statistics=False)


def mails(found, out):
    path = out / "texts.mbox"
    box = mailbox.mbox(path)
    for name, text in found.items():
        message = EmailMessage()
        message["From"] = "publius@example.org"
        message["Subject"] = name
        message["Date"] = "Mon, 09 Jun 2003 12:00:00 +0000"
        message.set_content(text + "\nFrom here on nothing follows.\n", cte="8bit")
        box.add(mailbox.mboxMessage(message))
    box.flush()
    box.close()
    lines = path.read_bytes().split(b"\n")
    # The lines between mails contain the time at which the mailbox was made.
    lines = [b"From MAILER-DAEMON Mon Jun  9 12:00:00 2003" if line.startswith(b"From MAILER") else line for line in lines]
    path.write_bytes(b"\n".join(lines))


def chunked(data):
    parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part)
                     for part in (data[start:start + 700] for start in range(0, len(data), 700)))
    return parts + b"0\r\n\r\n"


def crawls(found, out):
    codings = [("identity", lambda data: data), ("gzip", lambda data: gzip.compress(data, mtime=0)),
               ("deflate", zlib.compress), ("br", brotli.compress)]
    for name, compress in [("texts.warc", False), ("texts.warc.gz", True)]:
        with open(out / name, "wb") as file:
            writer = WARCWriter(file, gzip=compress)
            number = 0

            def record(kind, url, payload, headers=None, media_type=None):
                nonlocal number
                number += 1
                fixed = {"WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012}>",
                         "WARC-Date": "2003-06-09T12:00:00Z"}
                writer.write_record(writer.create_warc_record(
                    url, kind, payload=io.BytesIO(payload), http_headers=headers, warc_headers_dict=fixed,
                    warc_content_type=media_type or ""))

            record("warcinfo", None, b"software: a test\r\n", media_type="application/warc-fields")
            for text_name, text in found.items():
                for coding, encode in codings:
                    headers = StatusAndHeaders("200 OK", [
                        ("Content-Type", "text/plain; charset=utf-8"), ("Content-Encoding", coding),
                        ("Transfer-Encoding", "chunked")], protocol="HTTP/1.1")
                    record("response", f"http://example.org/{coding}/{text_name}", chunked(encode(text.encode())), headers)
                record("resource", f"http://example.org/resource/{text_name}", text.encode(), media_type="text/plain")
            request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
            record("request", "http://example.org/", b"", request)
    with open(out / "texts.wet.gz", "wb") as file:
        for number, (name, text) in enumerate(found.items(), 1):
            data = text.encode()
            head = (f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://example.org/{name}\r\n"
                    f"WARC-Date: 2003-06-09T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:wet-{number}>\r\n"
                    f"Content-Type: text/plain\r\nContent-Length: {len(data)}\r\n\r\n")
            file.write(gzip.compress(head.encode() + data + b"\r\n\r\n", mtime=0))
    with open(out / "texts.arc", "wb") as file:
        info = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
        file.write(b"filedesc://texts.arc 0.0.0.0 20030609120000 text/plain %d\n" % len(info) + info + b"\n")
        for name, text in found.items():
            body = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text.encode()
            file.write(f"http://example.org/{name} 127.0.0.1 20030609120000 text/plain {len(body)}\n".encode())
            file.write(body + b"\n")


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "tests" / "samples").resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    found = texts()
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder)
        (plain / "texts").mkdir()
        (out / "texts").mkdir()
        for name, text in found.items():
            (plain / "texts" / name).write_text(text, "utf-8")
            (out / "texts" / name).write_text(text, "utf-8")
        for path in (plain / "texts").iterdir():
            os.utime(path, (1055160000, 1055160000))
        compressed(plain, out)
        (plain / "texts" / "link.txt").symlink_to("fed01.txt")
        long = "/".join(["a-folder-with-a-rather-long-name"] * 5)
        (plain / "texts" / long).mkdir(parents=True)
        shutil.copy2(plain / "texts" / "fed01.txt", plain / "texts" / long / "again.txt")
        for path in sorted(plain.rglob("*"), reverse=True):
            os.utime(path, (1055160000, 1055160000), follow_symlinks=False)
        archives(plain, out)
    records(found, out)
    mails(found, out)
    crawls(found, out)


if __name__ == "__main__":
    main()
