#!/usr/bin/env python3
"""Has other programs read what `fpdb apply --write` and `--mark` have written.

usage: tools/apply-round-trip.py FPDB

Makes one container of each format with another library, has fpdb remove what repeats, and compares what pyarrow, DuckDB,
pandas, warcio, GNU tar, Info-ZIP and Python's own readers find in the copy with what they found before. What goes has to be
exactly what the report lists. A reader that is not installed is SKIPPED, with a word.
"""
import bz2
import gzip
import hashlib
import io
import json
import lzma
import mailbox
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

FPDB = os.path.abspath(sys.argv[1])
RNG = random.Random(7)
WORDS = ["".join(RNG.choice("abcdefghijklmnop") for _ in range(7)) for _ in range(5000)]
# Of 60 documents 40 have a text of their own; the others repeat one of them.
SEEDS = [n if n < 40 else RNG.randrange(40) for n in range(60)]
DONE = []


def text(seed):
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(150))


def fpdb(folder, *arguments):
    run = subprocess.run([FPDB, "-q", *arguments], cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"fpdb {arguments}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def library(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"SKIPPED {name}: it is not installed")
        return None


def trip(name, make, read, suffix_of):
    """Makes a container, applies, and compares what `read` finds: a list of (suffix, value)."""
    with tempfile.TemporaryDirectory() as folder:
        path, copy = os.path.join(folder, "in", name), os.path.join(folder, "clean", "in", name)
        os.mkdir(os.path.dirname(path))
        make(path)
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl")
        with open(os.path.join(folder, "report.jsonl")) as lines:
            rows = [json.loads(line) for line in lines]
        gone = {row["remove"].removeprefix("in/" + name) for row in rows if "remove" in row}
        assert len(gone) == 20, (name, len(gone))
        fpdb(folder, "apply", "report.jsonl", "--write", "clean", "--yes")
        before, after = read(path), read(copy)
        kept = [value for number, value in enumerate(before) if suffix_of(number, value) not in gone]
        assert len(kept) == 40 and after == kept, f"{name}: the copy is not what should stay"
        DONE.append(name)
        return True


def lines_of(opener):
    def read(path):
        with opener(path, "rb") as file:
            return file.read().splitlines(keepends=True)

    return read


def json_lines():
    rows = [json.dumps({"id": n, "text": text(seed), "x": [1.5, None, "é"]}, ensure_ascii=n % 2 == 0) + "\n" for n, seed in enumerate(SEEDS)]

    def writer(opener):
        def make(path):
            with opener(path, "wb") as file:
                file.write("".join(rows).encode())

        return make

    openers = {"jsonl": open, "jsonl.gz": gzip.open, "jsonl.bz2": bz2.open, "jsonl.xz": lzma.open}
    for ending, opener in openers.items():
        trip(f"a.{ending}", writer(opener), lines_of(opener), lambda number, _: f":{number + 1}")
    zstd = shutil.which("zstd")
    if not zstd:
        print("SKIPPED zstd: the program is not installed")
        return

    def make(path):
        subprocess.run([zstd, "-q", "-o", path], input="".join(rows).encode(), check=True)

    def read(path):
        return subprocess.run([zstd, "-dc", path], capture_output=True, check=True).stdout.splitlines(keepends=True)

    trip("a.jsonl.zst", make, read, lambda number, _: f":{number + 1}")


def tar():
    def make(mode, form):
        def write(path):
            with tarfile.open(path, mode, format=form) as archive:
                for number, seed in enumerate(SEEDS):
                    member = tarfile.TarInfo(("deep/" * 30 if number % 4 == 0 else "") + f"{number}.txt")
                    content = text(seed).encode()
                    member.size, member.mtime, member.mode = len(content), 1_000_000_000 + number, 0o640
                    archive.addfile(member, io.BytesIO(content))

        return write

    def read(path):
        with tarfile.open(path) as archive:
            return [(m.name, m.mtime, m.mode, archive.extractfile(m).read()) for m in archive]

    for form, what in ((tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax"), (tarfile.USTAR_FORMAT, "ustar")):
        for mode, ending in (("w", "tar"), ("w:gz", "tar.gz"), ("w:xz", "tar.xz")):
            trip(f"{what}.{ending}", make(mode, form), read, lambda _, value: "!" + value[0])
    program = shutil.which("tar")
    if not program or b"GNU tar" not in subprocess.run([program, "--version"], capture_output=True).stdout:
        print("SKIPPED GNU tar: it is not installed")
        return

    def listed(path):
        lines = subprocess.run([program, "-tf", path], capture_output=True, check=True, text=True).stdout.splitlines()
        contents = [subprocess.run([program, "-xOf", path, name], capture_output=True, check=True).stdout for name in lines]
        return list(zip(lines, contents))

    trip("by-gnu-tar.tar", make("w", tarfile.PAX_FORMAT), listed, lambda _, value: "!" + value[0])


def zipped():
    def make(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = b"a comment"
            for number, seed in enumerate(SEEDS):
                info = zipfile.ZipInfo(f"d/é{number}.txt", (2001, 2, 3, 4, 5, 6))
                info.comment, info.external_attr = b"about", 0o640 << 16
                info.compress_type = zipfile.ZIP_STORED if number % 3 == 0 else zipfile.ZIP_DEFLATED
                archive.writestr(info, text(seed))

    def read(path):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None and archive.comment == b"a comment"
            fields = ("filename", "date_time", "comment", "external_attr", "compress_type", "CRC", "file_size", "compress_size")
            return [tuple(getattr(i, field) for field in fields) + (archive.read(i),) for i in archive.infolist()]

    trip("a.zip", make, read, lambda _, value: "!" + value[0])
    if not shutil.which("unzip"):
        print("SKIPPED Info-ZIP: unzip is not installed")
        return

    def by_unzip(path):
        subprocess.run(["unzip", "-tqq", path], check=True, stdout=subprocess.DEVNULL)
        return read(path)

    trip("by-info-zip.zip", make, by_unzip, lambda _, value: "!" + value[0])


def mbox():
    def make(path):
        with open(path, "w", newline="") as file:
            for number, seed in enumerate(SEEDS):
                file.write(f"From a@example.org Sat Jan  3 01:05:34 1996\nSubject: {seed}\nTo: b\n\n>From me\n{text(seed)}\n\n")
            # The last mail is no twin: readers count its empty line.
            file.write(f"From a@example.org Sat Jan  3 01:05:34 1996\nSubject: last\nTo: b\n\n{text(999)}\n")

    def read(path):
        return [mail.as_bytes() for mail in mailbox.mbox(path, create=False)][:-1]

    trip("a.mbox", make, read, lambda number, _: f"#{number + 1}")


def warc():
    if not library("warcio"):
        return
    from warcio.archiveiterator import ArchiveIterator
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    def make(gzipped):
        def write(path):
            with open(path, "wb") as file:
                writer = WARCWriter(file, gzip=gzipped)
                writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
                for number, seed in enumerate(SEEDS):
                    headers = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], protocol="HTTP/1.1")
                    record = writer.create_warc_record(
                        f"http://example.org/{number}", "response", payload=io.BytesIO(text(seed).encode()), http_headers=headers
                    )
                    writer.write_record(record)

        return write

    def read(path):
        found = []
        with open(path, "rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                content = record.content_stream().read()
                if record.rec_type == "response":
                    found.append((record.rec_headers.get_header("WARC-Record-ID"), tuple(record.rec_headers.headers), content))
        return found

    for gzipped, name in ((False, "a.warc"), (True, "a.warc.gz")):
        trip(name, make(gzipped), read, lambda _, value: "#" + value[0].strip("<>"))


def parquet():
    if not library("pyarrow"):
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = len(SEEDS)
    table = pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "text": [text(seed) for seed in SEEDS],
            "when": pa.array([n * 1000 if n % 5 else None for n in range(count)], pa.timestamp("us", tz="UTC")),
            "list": [[f"{n}", None] * (n % 4) if n % 3 else None for n in range(count)],
            "struct": [{"a": n, "b": {"c": n % 2 == 0}} for n in range(count)],
            "kind": pa.array([f"k{n % 3}" for n in range(count)]).dictionary_encode(),
            "money": pa.array([n * 11 for n in range(count)]).cast(pa.decimal128(21, 2)),
            "raw": pa.array([bytes([n]) * 16 for n in range(count)], pa.binary(16)),
            "map": pa.array([[("x", n)] for n in range(count)], pa.map_(pa.string(), pa.int32())),
            "half": pa.array([n / 4 for n in range(count)], pa.float64()),
        },
    ).replace_schema_metadata({"about": "a crawl"})

    def make(version, compression, dictionary):
        def write(path):
            pq.write_table(table, path, row_group_size=13, compression=compression, use_dictionary=dictionary, data_page_version=version)

        return write

    def read(path):
        file = pq.ParquetFile(path)
        assert file.schema_arrow.equals(table.schema, check_metadata=True), file.schema_arrow
        assert file.metadata.num_row_groups <= 5
        found = pq.read_table(path)
        return [tuple(column[row].as_py().__repr__() for column in found.columns) for row in range(found.num_rows)]

    for version in ("1.0", "2.0"):
        for compression in ("none", "snappy", "zstd", "gzip", "brotli", "lz4"):
            for dictionary in (True, False):
                name = f"v{version[0]}-{compression}-{dictionary}.parquet"
                trip(name, make(version, compression, dictionary), read, lambda number, _: f":{number + 1}")
    duckdb, pandas = library("duckdb"), library("pandas")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "in"))
        make("1.0", "zstd", True)(os.path.join(folder, "in", "a.parquet"))
        with open(os.path.join(folder, "in", "b.jsonl"), "w") as file:
            file.writelines(json.dumps({"id": n, "text": text(seed)}) + "\n" for n, seed in enumerate(SEEDS))
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl")
        fpdb(folder, "apply", "report.jsonl", "--write", "clean", "--yes")
        fpdb(folder, "apply", "report.jsonl", "--write", "marked", "--mark", "dup", "--yes")
        for what, kept, removable in (("a.parquet", 40, 20), ("b.jsonl", 0, 60)):
            clean, marked = (os.path.join(folder, place, "in", what) for place in ("clean", "marked"))
            if duckdb:
                if kept:
                    (found,) = duckdb.sql(f"SELECT count(*), count(DISTINCT text) FROM '{clean}'").fetchall()
                    assert found == (kept, kept), found
                (found,) = duckdb.sql(f"SELECT count(*) FILTER (dup = 'remove'), count(dup_survivor), count(*) FROM '{marked}'").fetchall()
                assert found == (removable, removable, 60), (what, found)
            if pandas:
                frame = pandas.read_parquet(marked) if what.endswith("parquet") else pandas.read_json(marked, lines=True)
                assert (frame["dup"] == "remove").sum() == removable and len(frame) == 60
        DONE.append("DuckDB and pandas")


def folder_tree():
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS):
            path = os.path.join(folder, "in", str(number % 3), f"{number}.txt")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text(seed))
        fpdb(folder, "ingest", "--profile", "words", "in")
        fpdb(folder, "dedup", "--format", "json", "-o", "report.jsonl", "--write", "clean")
        contents = lambda root: sorted(
            hashlib.sha256(open(os.path.join(where, name), "rb").read()).hexdigest() for where, _, names in os.walk(root) for name in names
        )
        assert contents(os.path.join(folder, "clean")) == sorted(set(contents(os.path.join(folder, "in"))))
        DONE.append("folder")


for check in (json_lines, tar, zipped, mbox, warc, parquet, folder_tree):
    check()
print(f"round trips: {len(DONE)} ok")
