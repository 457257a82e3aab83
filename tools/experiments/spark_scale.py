#!/usr/bin/env python3
"""Compares a build with Spark with an ingest of the same rows on one thread: are the databases the same, and what does each cost?

    python tools/experiments/spark_scale.py FOLDER WHAT...

WHAT is a number of documents to generate, or a folder whose text files are the documents. Generated documents have 2,000 characters
of words of a Zipf distribution. Every tenth begins with 400 characters of another document. FOLDER is made, and may be removed
afterwards. Run the script with an interpreter that has the wheel and Spark: `tools/spark.sh` makes one in ~/.cache/fpdb/spark.

Starts a master and two workers of one core each on loopback. Prints a line of JSON for each WHAT. `same` says whether `list`, `pairs`,
`dedup` and queries with 50 stored documents give the same rows. CPU times are in seconds. `one_cpu` is that of the ingest.
`cluster_cpu` is that of the workers and all processes that they started, with JIT compilation and garbage collection. `map_cpu` and
`reduce_cpu` are the parts of it in the Python processes that run the kernel of fpdb.
"""

import array
import glob
import hashlib
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import sysconfig
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "tests_spark"))

import pyarrow
import pyarrow.parquet

import fpdb
import fpdb.spark

PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "fpdb"
LENGTH = 2000
ROWS = 10_000
SCHEMA = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string())])


def generated(count):
    chance = random.Random(count)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(50_000)]
    total, weights = 0.0, []
    for rank in range(len(words)):
        total += 1 / (rank + 10)
        weights.append(total)
    # A million draws, from which each text takes some, because drawing by weight for each text would take ten times as long.
    drawn = chance.choices(words, cum_weights=weights, k=1 << 20)
    before = []
    for number in range(count):
        places = array.array("I", chance.randbytes(4 * (LENGTH // 5)))
        text = " ".join([drawn[place >> 12] for place in places])
        if number % 10 == 9:
            text = chance.choice(before) + " " + text
        before = [*before[-99:], text[:400]]
        yield str(number), text[:LENGTH]


def found(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            try:
                yield str(path.relative_to(folder)), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def write(documents, folder):
    """Parquet files of some 20 MB each."""
    folder.mkdir(parents=True)
    rows, files = [], 0
    for document in documents:
        rows.append(document)
        if len(rows) == ROWS:
            write_file(rows, folder / f"{files:05}.parquet")
            rows, files = [], files + 1
    if rows or not files:
        write_file(rows, folder / f"{files:05}.parquet")


def write_file(rows, path):
    ids, texts = zip(*rows) if rows else ((), ())
    pyarrow.parquet.write_table(pyarrow.table([ids, texts], schema=SCHEMA), path, row_group_size=ROWS // 4)


def ingest(files, path):
    """Ingests on one thread. Runs in a separate process."""

    def batches():
        for file in sorted(pathlib.Path(files).iterdir()):
            yield from pyarrow.parquet.ParquetFile(file).iter_batches(2000)

    with fpdb.create(path, PROFILE, threads=1) as database:
        database.ingest_table(pyarrow.RecordBatchReader.from_batches(SCHEMA, batches()))


def timed_sides(folder):
    """Lets each task write the CPU time that its Python process took."""
    sides = fpdb.spark._sides

    def wrapped(*arguments):
        def timed(name, run):
            def task(batches):
                started = time.process_time()
                yield from run(batches)
                with open(os.path.join(folder, f"{name}.{os.getpid()}.{time.monotonic_ns()}"), "w") as file:
                    file.write(str(time.process_time() - started))

            return task

        map_side, reduce_side = sides(*arguments)
        return timed("map", map_side), timed("reduce", reduce_side)

    fpdb.spark._sides = wrapped
    return sides


def spent(folder, name):
    return sum(float(open(path).read()) for path in glob.glob(os.path.join(folder, f"{name}.*")))


def bytes_below(path):
    return sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file())


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_of(pids):
    """The CPU time of processes and of all processes that they have started."""
    parents, ticks = {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        # The time of the process, and of its children that have ended.
        ticks[pid] = sum(map(int, fields[11:15]))
    total = 0
    for pid, spent_ticks in ticks.items():
        ancestor = pid
        while ancestor and ancestor not in pids:
            ancestor = parents.get(ancestor, 0)
        total += spent_ticks if ancestor else 0
    return total / os.sysconf("SC_CLK_TCK")


def shuffled(folder, after):
    """Sums over the tasks that began after this time."""
    sums = {"shuffle": 0, "spilled": 0}
    for path in glob.glob(os.path.join(folder, "**", "*"), recursive=True):
        if not os.path.isfile(path):
            continue
        for line in open(path, errors="replace"):
            if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                event = json.loads(line)
                metrics = event.get("Task Metrics")
                if metrics and event["Task Info"]["Launch Time"] >= after:
                    sums["shuffle"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                    sums["spilled"] += metrics["Disk Bytes Spilled"]
    return sums


def answers(db):
    """Digests of the answers of the program about a database, without times."""
    names = [line["name"] for line in lines(db, "list")]
    asked = [word for name in names[:: max(1, len(names) // 50)] for word in ("--document", name)]
    commands = [["list"], ["pairs", "--top", 100_000], ["dedup", "--by", "containment"], ["query", *asked]]
    made = {}
    for command in commands:
        digest, count = hashlib.sha256(), 0
        for line in lines(db, *command):
            digest.update(json.dumps(timeless(line), sort_keys=True).encode())
            count += 1
        made[command[0]] = (count, digest.hexdigest())
    return made


def lines(db, *words):
    command = [PROGRAM, "--db", db, *words, "--format", "json", "-q"]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as run:
        yield from map(json.loads, run.stdout)
    assert run.returncode == 0, command


def timeless(value):
    if isinstance(value, dict):
        return {name: timeless(inner) for name, inner in value.items() if name not in ("ingested_at", "seconds")}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def measure(spark, cluster, folder, what):
    place = folder / pathlib.Path(what).name
    write(generated(int(what)) if what.isdigit() else found(what), place / "files")
    before = children()
    subprocess.run([sys.executable, __file__, "--ingest", place / "files", place / "one"], check=True)
    one = children() - before
    (place / "sides").mkdir()
    original = timed_sides(str(place / "sides"))
    workers = {process.pid for name, process in cluster.processes.items() if name != "master"}
    after, before, began = int(time.time() * 1000), cpu_of(workers), time.time()
    try:
        summary = fpdb.spark.build(spark.read.parquet(str(place / "files")), place / "staging", PROFILE)
    finally:
        fpdb.spark._sides = original
    seconds = time.time() - began
    # Spark writes the last tasks to the log a moment later.
    time.sleep(2)
    cluster_cpu, seen = cpu_of(workers) - before, shuffled(folder / "events", after)
    before = children()
    subprocess.run([PROGRAM, "--db", place / "db", "assemble", "-q", place / "staging"], check=True)
    assemble = children() - before
    first, second = answers(place / "one"), answers(place / "db")
    postings = max(1, summary.fingerprints)
    return {
        "what": what,
        "same": first == second,
        "rows": {command: count for command, (count, _) in second.items()},
        "documents": summary.documents,
        "bytes": summary.bytes,
        "postings": postings,
        "parts": summary.parts,
        "one_cpu": round(one, 2),
        "cluster_cpu": round(cluster_cpu, 2),
        "map_cpu": round(spent(place / "sides", "map"), 2),
        "reduce_cpu": round(spent(place / "sides", "reduce"), 2),
        "assemble_cpu": round(assemble, 2),
        "of_one_machine": round(one / (cluster_cpu + assemble), 3),
        "shuffle_bytes": seen["shuffle"],
        "spilled_bytes": seen["spilled"],
        "staged_bytes": summary.staged_bytes,
        "database_bytes": bytes_below(place / "db"),
        "one_bytes": bytes_below(place / "one"),
        "build_seconds": round(seconds, 1),
    }


PROFILE = fpdb.Profile("text", k=50, w=50)


def main():
    if sys.argv[1] == "--ingest":
        ingest(*sys.argv[2:])
        return
    from cluster import Cluster
    from pyspark.sql import SparkSession

    folder = pathlib.Path(sys.argv[1]).resolve()
    (folder / "events").mkdir(parents=True)
    (folder / "cluster").mkdir()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with Cluster(folder / "cluster") as cluster:
        builder = SparkSession.builder.master(cluster.url).appName("fpdb scale")
        for name, value in {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "768m",
            "spark.executor.memory": "1g",
            "spark.executor.cores": "1",
            # This setting follows docs/scale.md.
            "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{folder}/events",
            "spark.local.dir": str(folder / "driver"),
            "spark.sql.files.openCostInBytes": "0",
            "spark.sql.files.maxPartitionBytes": "32m",
        }.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        try:
            cluster.await_executors(spark)
            for what in sys.argv[2:]:
                print(json.dumps(measure(spark, cluster, folder, what)), flush=True)
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
