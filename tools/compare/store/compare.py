#!/usr/bin/env python3
"""Builds fpdb's store and sourmash's index from the same 64-bit hashes, and compares the costs.

usage: PYTHON tools/compare/store/compare.py FPDB HASHES [DOCUMENTS] [FOLDER]

PYTHON has sourmash and its plugin branchwater (README.md beside this file says how to install them). FPDB is the built program, and
HASHES is `hashes` of tools/measure. The script makes DOCUMENTS documents (5,000 by default) of 1,000 random words in FOLDER, or in the
system's folder for temporary files. fpdb ingests the texts with profile `words` and `--memory 128MiB`, keeps positions, and compacts.
sourmash gets the same hashes as finished signatures, and builds its RocksDB index from them with `sourmash scripts index`. Prints for
each process its time, its peak memory, the bytes that it kept and the bytes that it wrote, as the system counts them. The processes run
one after the other. Standard library and sourmash only.
"""
import array
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import sourmash
from sourmash.sourmash_args import SaveSignaturesToLocation

WORDS = 1000
MEMORY = "128MiB"


def write_documents(folder, documents):
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(1 << 16)]
    for number in range(documents):
        inside = folder / f"{number // 1000:03}"
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"{number:06}.txt").write_text(" ".join(chance.choices(words, k=WORDS)))


def write_signatures(hashes, path):
    postings = 0
    with SaveSignaturesToLocation(str(path)) as save:
        for file in sorted(hashes.iterdir()):
            values = array.array("Q", file.read_bytes())
            # Scaled by 1: every 64-bit hash belongs to the sketch.
            sketch = sourmash.MinHash(n=0, ksize=31, scaled=1)
            sketch.add_many(values)
            postings += len(sketch)
            save.add(sourmash.SourmashSignature(sketch, name=file.name))
    return postings


def run(*command):
    """Seconds, peak bytes and bytes written of a process."""
    started = time.monotonic()
    process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(errors.decode())
    return time.monotonic() - started, usage.ru_maxrss * 1024, usage.ru_oublock * 512


def kept(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    fpdb, hashes = (os.path.abspath(path) for path in sys.argv[1:3])
    documents = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
    folder = pathlib.Path(tempfile.mkdtemp(dir=sys.argv[4] if len(sys.argv) > 4 else None))
    try:
        write_documents(folder / "documents", documents)
        subprocess.run([hashes, "words", folder / "documents", folder / "hashes"], check=True)
        postings = write_signatures(folder / "hashes", folder / "signatures.zip")
        db, index = folder / "db", folder / "index.rocksdb"
        ingest = run(fpdb, "--db", db, "ingest", "-q", "--profile", "words", "--memory", MEMORY, folder / "documents")
        compact = run(fpdb, "--db", db, "compact")
        ours = (ingest[0] + compact[0], max(ingest[1], compact[1]), ingest[2] + compact[2], kept(db))
        script = pathlib.Path(sys.executable).parent / "sourmash"
        theirs = run(script, "scripts", "index", "-k", "31", "-s", "1", "-o", index, folder / "signatures.zip")
        theirs = (*theirs, kept(index))
        print(f"{postings:,} postings of {documents:,} documents; sourmash {sourmash.VERSION}\n")
        print("| | seconds | postings/s | peak MB | bytes kept a posting | bytes written / bytes kept |")
        print("|---|--:|--:|--:|--:|--:|")
        for name, (seconds, peak, written, bytes_kept) in [("fpdb", ours), ("sourmash", theirs)]:
            print(f"| {name} | {seconds:.1f} | {postings / seconds:,.0f} | {peak / 1e6:.0f} "
                  f"| {bytes_kept / postings:.1f} | {written / bytes_kept:.1f} |")
        print(f"| sourmash : fpdb | {theirs[0] / ours[0]:.1f} | 1 : {theirs[0] / ours[0]:.1f} "
              f"| {theirs[1] / ours[1]:.1f} | {theirs[3] / ours[3]:.1f} | |")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
