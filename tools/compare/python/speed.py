"""Measures the Python package: an ingest from Arrow beside the program on the same Parquet file, and fingerprints beside MinHash signatures.

    python tools/compare/python/speed.py [--documents N] [--rounds N] [--folder DIR]

Runs in an environment with the wheel of fpdb and requirements.txt. Rounds are paired: each runs everything once, in turn. Prints the
medians as Markdown; times are processor time of one process and its children, so that they hold on a busy machine.
"""

import argparse
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "fpdb"

INGEST = """
import sys, fpdb, pyarrow.parquet as parquet
file = parquet.ParquetFile(sys.argv[1])
import pyarrow
reader = pyarrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(batch_size=4096, use_threads=False))
with fpdb.create(sys.argv[2], threads=2) as database:
    print(database.ingest_table(reader, prefix="t", id=None).fingerprints)
"""


def documents(count):
    """Texts of some 2 KB, made of shuffled sentences of the Federalist papers. They compress and fingerprint like prose."""
    text = " ".join(path.read_text() for path in sorted((ROOT / "data-samples" / "federalist").glob("*.txt")))
    words = text.split()
    draw = random.Random(1)
    for _ in range(count):
        parts = []
        for _ in range(12):
            begin = draw.randrange(len(words) - 40)
            parts.append(" ".join(words[begin : begin + 30]))
        yield ". ".join(parts)


def used(command):
    """The processor time and the wall-clock time of a command, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - began


def ingests(texts, folder, rounds):
    import pyarrow
    import pyarrow.parquet

    file = folder / "texts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), file, compression="zstd", row_group_size=20_000)
    database = folder / "db"
    commands = {
        "`fpdb ingest texts.parquet`": [PROGRAM, "--db", database, "--threads", "2", "ingest", file],
        "`ingest_table` of the same file, read by pyarrow": [sys.executable, "-c", INGEST, file, database],
    }
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            shutil.rmtree(database, ignore_errors=True)
            times[name].append(used(command))
    size = sum(len(text) for text in texts)
    print(f"\n{len(texts):,} texts, {size / 1e6:.0f} MB\n\n| | processor time, s | wall-clock time, s | MB/s of processor time |\n|---|--:|--:|--:|")
    for name, both in times.items():
        cpu, wall = (statistics.median(column) for column in zip(*both))
        print(f"| {name} | {cpu:.2f} | {wall:.2f} | {size / 1e6 / cpu:.0f} |")
    ours, theirs = (times[name] for name in reversed(commands))
    ratios = sorted(theirs[index][0] / ours[index][0] for index in range(rounds))
    walls = sorted(theirs[index][1] / ours[index][1] for index in range(rounds))
    print(f"\nspeed of the package / that of the program, median of {rounds} pairs: {statistics.median(ratios):.2f} by processor time, {statistics.median(walls):.2f} by wall-clock time")


def signatures(texts, rounds):
    import datasketch
    import pyarrow
    import rensa

    import fpdb

    column = pyarrow.array(texts)
    words = [[word.encode() for word in text.split()] for text in texts]

    def sketch():
        for text in words:
            datasketch.MinHash(num_perm=128).update_batch(text)

    def rminhash():
        for text in texts:
            made = rensa.RMinHash(num_perm=128, seed=1)
            made.update(text.split())
            made.digest()

    ways = {
        "`fpdb.fingerprint`, prose": lambda: fpdb.fingerprint(column, "prose", threads=1),
        "`fpdb.fingerprint`, words": lambda: fpdb.fingerprint(column, "words", threads=1),
        "datasketch `MinHash`, 128 permutations of the words": sketch,
        "rensa `RMinHash`, 128 permutations of the words": rminhash,
    }
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.process_time()
            way()
            times[name].append(time.process_time() - began)
    print(f"\n{len(texts):,} texts of {sum(map(len, texts)) // len(texts):,} characters, one thread\n\n| | documents/s and core |\n|---|--:|")
    for name, taken in times.items():
        print(f"| {name} | {len(texts) / statistics.median(taken):,.0f} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--documents", type=int, default=60_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--folder", type=pathlib.Path)
    given = arguments.parse_args()
    texts = list(documents(given.documents))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        ingests(texts, pathlib.Path(folder), given.rounds)
    signatures(texts[: given.documents // 10], given.rounds)


main()
