#!/usr/bin/env python3
"""Loads a generated archive into new databases, and prints the time, memory and space as a Markdown table.

usage: tools/experiments/load.py PATH-OF-FPDB [MEGABYTES] [FOLDER]

The archive consists of words and of 40-word pieces of data-samples/federalist, chosen at random with a fixed seed, in
files of 50 kB, by default 200 MB of them. Standard library only. Every figure is of the whole process, from its start
to the last commit. A row `then` has the figures of `fpdb compact` after that.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

FILE_BYTES = 50_000


def write_archive(folder, megabytes):
    samples = pathlib.Path(__file__).resolve().parents[2] / "data-samples" / "federalist"
    words = " ".join(path.read_text("utf-8") for path in sorted(samples.glob("*.txt"))).split()
    chance = random.Random(5)
    total = 0
    for number in range(megabytes * 1_000_000 // FILE_BYTES):
        pieces, size = [], 0
        while size < FILE_BYTES:
            if chance.random() < 0.3:
                start = chance.randrange(len(words) - 40)
                piece = " ".join(words[start:start + 40])
            else:
                piece = " ".join(chance.choices(words, k=40))
            pieces.append(piece)
            size += len(piece) + 1
        path = folder / f"{number // 200:03}" / f"{number:05}.txt"
        path.parent.mkdir(exist_ok=True, parents=True)
        total += path.write_text("\n".join(pieces), "utf-8")
    return total


def run(fpdb, *arguments):
    """Runs the program. Returns its output, the seconds that it took and its peak memory in MB."""
    started = time.monotonic()
    done = subprocess.Popen([fpdb, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output = done.stdout.read()
    errors = done.stderr.read()
    _, status, usage = os.wait4(done.pid, 0)
    if status:
        sys.exit(errors.decode())
    return output, time.monotonic() - started, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    fpdb = os.path.abspath(sys.argv[1])
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    folder = pathlib.Path(tempfile.mkdtemp(dir=sys.argv[3] if len(sys.argv) > 3 else None))
    try:
        total = write_archive(folder / "archive", megabytes)
        print(f"{total / 2**20:.0f} MiB in files of {FILE_BYTES // 1000} kB\n")
        print("| | fingerprints | seconds | MiB/s | fingerprints/s | peak MB | bytes a fingerprint |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for profile, flags in [("text", []), ("prose", []), ("prose", ["--memory", "64MiB"])]:
            db = folder / "db"
            _, seconds, peak = run(fpdb, "--db", db, "ingest", "-q", "--profile", profile, *flags, folder / "archive")
            row(fpdb, db, " ".join([f"`{profile}`", *flags]), total, seconds, peak)
            _, seconds, peak = run(fpdb, "--db", db, "compact")
            row(fpdb, db, "then `compact`", None, seconds, peak)
            shutil.rmtree(db)
    finally:
        shutil.rmtree(folder)


def row(fpdb, db, what, total, seconds, peak):
    stats = json.loads(run(fpdb, "--db", db, "stats", "--format", "json")[0])
    fingerprints = stats["fingerprints"]
    stored = sum(part["bytes"] for part in stats["stored"])
    speed = f"{total / 2**20 / seconds:.0f}" if total else ""
    rate = f"{fingerprints / seconds / 1e6:.1f} M" if total else ""
    print(f"| {what} | {fingerprints:,} | {seconds:.1f} | {speed} | {rate} | {peak:.0f} "
          f"| {stored / fingerprints:.1f} |", flush=True)


if __name__ == "__main__":
    main()
