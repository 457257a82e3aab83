#!/usr/bin/env python3
"""Ingests compressed containers, and compares the time with those of decompressing alone and of ingesting alone.

usage: tools/experiments/containers.py PATH-OF-FPDB [MEGABYTES] [RUNS]

The documents are those of load.py in pieces of 5 kB, by default 200 MB of them: as lines of JSON, records of a WARC, and members of a
tar. Each row has three times in seconds: to decompress the container alone (the usual tool, to /dev/null), to ingest the uncompressed
container, and to ingest the compressed one. Each figure is the best of RUNS (3). If reading and fingerprinting overlap, the third time
is about the larger of the other two: `share` is the larger of the two divided by the third. `best possible` is a lower bound on two
cores: the larger of the two times, or half of their processor time. Rows also have the processor times of both ingests, which other load
of the machine changes less, and the peak memory. Ingests have one worker thread and 64 MiB of memory. Needs gzip and zstd.
"""
import io
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

from load import run, write_archive

DOCUMENT_BYTES = 5_000


def documents(folder):
    for path in sorted(folder.rglob("*.txt")):
        text = path.read_text("utf-8")
        for start in range(0, len(text), DOCUMENT_BYTES):
            yield text[start:start + DOCUMENT_BYTES]


def write_containers(archive, out):
    with open(out / "a.jsonl", "w", encoding="utf-8") as lines, open(out / "a.warc", "wb") as warc, \
            tarfile.open(out / "a.tar", "w") as tar:
        for number, text in enumerate(documents(archive)):
            lines.write(json.dumps({"id": number, "text": text}) + "\n")
            data = text.encode()
            warc.write(b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:%d>\r\n"
                       b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (number, len(data), data))
            info = tarfile.TarInfo(f"{number}.txt")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    for name, tool in [("a.jsonl", "zstd"), ("a.warc", "gzip"), ("a.tar", "gzip"), ("a.tar", "zstd")]:
        subprocess.run([tool, "-q", "-k", str(out / name)], check=True)


def timed(work):
    """The result of `work`, the seconds that it took, and the processor time of the processes that it has waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = work()
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def decompress(path):
    tool = "gzip" if path.suffix == ".gz" else "zstd"
    return timed(lambda: subprocess.run([tool, "-dc", str(path)], check=True, stdout=subprocess.DEVNULL))[1:]


def ingest(fpdb, db, path):
    shutil.rmtree(db, ignore_errors=True)
    options = ["-q", "--threads", "1", "--memory", "64MiB"]
    (_, _, peak), seconds, cpu = timed(lambda: run(fpdb, "--db", db, "ingest", *options, path))
    return seconds, cpu, peak


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    fpdb = str(pathlib.Path(sys.argv[1]).resolve())
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        write_archive(folder / "archive", megabytes)
        write_containers(folder / "archive", folder)
        print("| | decompress s | ingest plain s | ingest s | share | best possible s | cpu plain s | cpu s | peak MB |\n"
              "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for name in ["a.jsonl.zst", "a.warc.gz", "a.tar.gz", "a.tar.zst"]:
            path = folder / name
            rows = []
            # Measures in turns, so that other load of the machine disturbs all three equally.
            for _ in range(runs):
                plain, plain_cpu, _ = ingest(fpdb, folder / "db", path.with_suffix(""))
                packed, packed_cpu, peak = ingest(fpdb, folder / "db", path)
                rows.append((*decompress(path), plain, plain_cpu, packed, packed_cpu, peak))
            unpack, unpack_cpu, plain, plain_cpu, packed, packed_cpu, peak = (min(column) for column in zip(*rows))
            slower = max(unpack, plain)
            best = max(slower, (unpack_cpu + plain_cpu) / 2)
            print(f"| `{name}` | {unpack:.2f} | {plain:.2f} | {packed:.2f} | {slower / packed:.2f} | {best:.2f} "
                  f"| {plain_cpu:.2f} | {packed_cpu:.2f} | {peak:.0f} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
