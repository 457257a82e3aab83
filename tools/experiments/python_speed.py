#!/usr/bin/env python3
"""Measures the speed of the Python package: beside the program, and beside packages that make MinHash signatures.

    python tools/experiments/python_speed.py ingest FOLDER [DOCUMENTS]
    python tools/experiments/python_speed.py signatures [DOCUMENTS]

Run it with an interpreter that has the wheel and pyarrow; `signatures` needs datasketch and rensa too. Documents have 2,000 characters
of words of a Zipf distribution. Times are CPU time, so that other load on the machine counts little; runs are paired, and the median
of the ratios is given.

`ingest` ingests the rows of one Parquet file with two threads: by the program, and by `ingest_table` from pyarrow's reader and from a table
in memory. It gives the time of the whole process, and that of the ingest alone, without the start of Python and the import of pyarrow.
FOLDER is made, and may be removed afterwards.
`signatures` uses one thread, and compares with MinHash with 128 permutations over shingles of five words, a usual setting for corpora.
"""

import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time

PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "fpdb"
ROUNDS = 5

# Prints the CPU time of the ingest. For the reader, as for the program, the time includes the decoding of the file. For the table it does
# not.
INGEST = """
import sys, time, fpdb, pyarrow, pyarrow.parquet as parquet
kind, path, db = sys.argv[1:]
table = parquet.read_table(path) if kind == "table" else None
before = time.process_time()
with fpdb.create(db, "prose", threads=2) as database:
    if kind == "reader":
        file = parquet.ParquetFile(path)
        table = pyarrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(4096))
    database.ingest_table(table)
print(time.process_time() - before)
"""


def texts(count):
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlucmfwypvbgk", k=chance.randint(2, 9))) for _ in range(50_000)]
    weights, total = [], 0.0
    for rank in range(len(words)):
        total += 1 / (rank + 10)
        weights.append(total)
    return [" ".join(chance.choices(words, cum_weights=weights, k=400))[:2000] for _ in range(count)]


def cpu_of(*command):
    """The CPU time of a process, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, run.stdout


def ingest(folder, count=100_000):
    import pyarrow
    import pyarrow.parquet

    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True)
    path, db = folder / "documents.parquet", folder / "db"
    table = pyarrow.table({"id": [str(number) for number in range(count)], "text": texts(count)})
    pyarrow.parquet.write_table(table, path, row_group_size=10_000)
    del table
    program = [PROGRAM, "--db", db, "--threads", "2", "-q", "--no-progress", "ingest", path, "--profile", "prose"]
    ways = {"program": program, **{kind: [sys.executable, "-c", INGEST, kind, path, db] for kind in ("reader", "table")}}
    spent = {name: [] for name in ("program", "reader", "reader, ingest alone", "table", "table, ingest alone")}
    for _ in range(ROUNDS):
        for name, command in ways.items():
            whole, printed = cpu_of(*command)
            spent[name].append(whole)
            if name != "program":
                spent[f"{name}, ingest alone"].append(float(printed))
            shutil.rmtree(db, ignore_errors=True)
    for name in list(spent)[1:]:
        ratio = statistics.median(one / other for one, other in zip(spent["program"], spent[name]))
        print(json.dumps({"way": name, "program_takes": round(ratio, 3)}))
    print(json.dumps({name: [round(one, 2) for one in times] for name, times in spent.items()}))


def signatures(count=4_000):
    import datasketch
    import rensa

    import fpdb

    documents = texts(count)

    def shingles(text):
        words = text.split()
        return [" ".join(words[at : at + 5]) for at in range(len(words) - 4)]

    def sketch():
        for text in documents:
            made = datasketch.MinHash(num_perm=128)
            made.update_batch([shingle.encode() for shingle in shingles(text)])

    def rensas(kind):
        def run():
            for text in documents:
                made = kind(num_perm=128, seed=42)
                made.update(shingles(text))
                made.digest()

        return run

    ways = {
        "fpdb.fingerprint prose": lambda: fpdb.fingerprint(documents, "prose", threads=1),
        "fpdb.fingerprint text": lambda: fpdb.fingerprint(documents, "text", threads=1),
        f"datasketch {datasketch.__version__} MinHash": sketch,
        "rensa RMinHash": rensas(rensa.RMinHash),
        "rensa CMinHash": rensas(rensa.CMinHash),
        "(shingles alone)": lambda: [shingles(text) for text in documents],
    }
    for name, run in ways.items():
        times = []
        for _ in range(3):
            before = time.process_time()
            run()
            times.append(time.process_time() - before)
        print(json.dumps({"way": name, "documents_per_second_and_core": round(count / min(times))}), flush=True)


if __name__ == "__main__":
    # One thread, also for numpy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    {"ingest": ingest, "signatures": signatures}[sys.argv[1]](*(int(word) if word.isdigit() else word for word in sys.argv[2:]))
