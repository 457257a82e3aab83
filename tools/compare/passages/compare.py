#!/usr/bin/env python3
"""Repeated passages: compares `fpdb dedup --passages` with a suffix array on the same texts. The answers must be the same.

The suffix array is the method of ExactSubstr (Lee et al. 2022, "Deduplicating training data makes language models better"): all texts in a row,
their suffix array and its longest common prefixes, and every run of N bytes that begins in two places. It is built by libdivsufsort (package
pydivsufsort), which is faster and smaller than the construction that comes with the paper: 4 bytes a position instead of 8.
The first occurrence of each run does not count, so that both programs give one answer. The two answers are compared by document.

Texts are the files of a folder in order of their names, reduced to ASCII letters and digits, so that a symbol is a byte on both sides.

usage: compare.py FOLDER [--endings .md,.rs] [--bytes 50000000] [--min-length 200] [--fpdb fpdb] [--memory 64MiB] [--threads 1]
Prints CPU and wall seconds, megabytes of text a second of CPU, peak memory, and whether the answers are the same.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def texts(folder, endings, most):
    """Documents of letters and digits, up to `most` bytes in all."""
    keep = bytes(b for b in range(256) if chr(b).isascii() and chr(b).isalnum())
    drop = bytes(set(range(256)) - set(keep))
    total = 0
    for path in sorted(Path(folder).rglob("*")):
        if total >= most or not path.is_file() or path.is_symlink() or path.suffix not in endings:
            continue
        text = path.read_bytes().translate(None, drop).lower()
        if text:
            total += len(text)
            yield text


def suffix_array(data, window):
    """Reads documents, one a line, and prints the number of repeated symbols of each."""
    import numpy
    import pydivsufsort

    text = numpy.frombuffer(Path(data).read_bytes(), dtype=numpy.uint8).copy()
    ends = numpy.flatnonzero(text == ord("\n"))
    array = pydivsufsort.divsufsort(text)
    shared = pydivsufsort.kasai(text, array)
    # Places in the order of suffixes where the first `window` bytes differ from those of the suffix before.
    begins = numpy.concatenate(([0], numpy.flatnonzero(shared[:-1] < window) + 1))
    del shared
    first = numpy.repeat(numpy.minimum.reduceat(array, begins), numpy.diff(numpy.append(begins, len(array))))
    repeated = array[array != first]
    del array, first
    # A run must lie within one document.
    limits = ends[numpy.searchsorted(ends, repeated)]
    repeated = numpy.sort(repeated[repeated + window <= limits])
    change = numpy.zeros(len(text) + 1, dtype=numpy.int32)
    numpy.add.at(change, repeated, 1)
    numpy.add.at(change, repeated + window, -1)
    covered = numpy.cumsum(change)[: len(text)] > 0
    starts = numpy.concatenate(([0], ends[:-1] + 1))
    print(json.dumps([int(count) for count in numpy.add.reduceat(covered, starts)]))


def measured(command):
    """Standard output, CPU seconds, wall seconds and peak bytes of memory of a command."""
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        child = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begun
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{command[0]} failed")
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024


def main():
    if sys.argv[1:2] == ["--suffix-array"]:
        return suffix_array(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--endings", default=".md,.rs,.txt")
    parser.add_argument("--bytes", type=int, default=50_000_000)
    parser.add_argument("--min-length", type=int, default=200)
    parser.add_argument("--fpdb", default="fpdb")
    parser.add_argument("--memory", default="64MiB")
    parser.add_argument("--threads", default="1")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines, records, database = (os.path.join(folder, name) for name in ("a.txt", "a.jsonl", "db"))
        count = size = 0
        with open(lines, "wb") as plain, open(records, "w") as json_lines:
            for text in texts(args.folder, args.endings.split(","), args.bytes):
                plain.write(text + b"\n")
                json_lines.write(json.dumps({"text": text.decode()}) + "\n")
                count, size = count + 1, size + len(text)
        print(f"{count} documents, {size / 1e6:.1f} MB, runs of {args.min_length} or more")
        rows = []

        def row(name, command):
            output, cpu, wall, peak = measured(command)
            rows.append((name, cpu, peak))
            print(f"{name:<24}{cpu:8.1f} s CPU{wall:8.1f} s{size / 1e6 / cpu:8.1f} MB/s{peak / 2**20:9.0f} MiB", flush=True)
            return output

        found = json.loads(row("suffix array", [sys.executable, __file__, "--suffix-array", lines, str(args.min_length)]))
        settings = ["--db", database, "--threads", args.threads, "--memory", args.memory]
        row("fpdb ingest", [args.fpdb, "ingest", "-q", "--store-text", *settings, records])
        passages = ["dedup", "--passages", "--min-length", str(args.min_length), "--format", "json", "-q", *settings]
        output = row("fpdb dedup --passages", [args.fpdb, *passages])
        ours = [0] * count
        for line in output.splitlines():
            record = json.loads(line)
            if record["schema"] == "fpdb.repeat/1":
                ours[int(record["document"].rsplit(":", 1)[1]) - 1] += record["symbols"]
        print(f"{sum(found):,} and {sum(ours):,} symbols repeat ({100 * sum(found) / size:.1f}%); "
              f"{'the same' if found == ours else 'NOT the same'} in each document")
        (_, slow, large), _, (_, quick, small) = rows
        print(f"{slow / quick:.1f} times the speed, {large / small:.1f} times less memory")
        sys.exit(found != ours)


if __name__ == "__main__":
    main()
