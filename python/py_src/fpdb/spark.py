"""Building and asking databases with Spark.

    import fpdb.spark

    documents = spark.read.parquet("/shared/corpus")
    fpdb.spark.build(documents, "/shared/build-1", "text", text="content", id="url")

    # then, on the machine that keeps the database:
    #   fpdb assemble --db archive.db /shared/build-1

`build` fingerprints a DataFrame on all executors and leaves the sorted files of a database in a folder that all machines see;
`fpdb assemble` moves them into a database in one commit. `query` asks a database from all executors, and `apply` leaves out the rows
that a dedup report removes.

Spark 4 or later, pyarrow, and this package on every executor are needed (`spark.archives`, or installed). Executors need no database
and no program.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._answers import Answer, Failure
from ._database import Database
from ._errors import ParameterError
from ._functions import open as open_database
from ._profile import Profile, native_profile

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["BuildSummary", "apply", "build", "query"]

# Postings of a part: files of some 70 MB, and 128 MB of memory of the process that sorts them.
_POSTINGS = 8_000_000
# Documents of a part: files of some 100 MB.
_DOCUMENTS = 400_000
# A hash with more postings than so many parts is divided by document.
_HEAVY_PARTS = 4
# Documents that are looked at for hashes with very many postings and for the bounds of names.
_SAMPLE = 50_000

_ROWS = "part int not null, high bigint not null, low bigint not null, value binary not null"


@dataclass(frozen=True)
class BuildSummary(Answer):
    """What a build has made: the fields of the JSON `fpdb.build/1`.

    Attributes:
        path: its folder, for `fpdb assemble`.
        generation: what tells it from other builds.
        documents: documents that were read.
        failures: documents that could not be read.
        failed: the first of them.
        bytes, symbols, fingerprints: sums over the documents.
        parts: parts that have rows, and `staged_bytes`, the bytes of their files.
    """

    path: str
    generation: str
    documents: int
    failures: int
    failed: list[Failure]
    bytes: int
    symbols: int
    fingerprints: int
    parts: int
    staged_bytes: int


def build(
    df: DataFrame,
    path: str | os.PathLike[str],
    profile: str | Profile = "prose",
    *,
    text: str = "text",
    id: str = "id",
    metadata: Sequence[str] = (),
    format: str = "auto",
    store_text: bool = False,
    parts: int | None = None,
) -> BuildSummary:
    """Makes the parts of a database of all rows of a DataFrame, one document a row.

    Documents are numbered by file and row: by those of the Parquet files that the DataFrame reads, if it reads all rows of them;
    else by those of a copy in the folder of the build. So the build is the same whatever Spark does with its partitions, and a
    build that was stopped goes on when it is called again: only parts that are missing are made.

    Args:
        df: the documents.
        path: a folder that the driver and all executors see under this name. It must be a file system, not an object store.
        profile: a name, or a `Profile`.
        text: the column of texts: string or binary.
        id: the column that names documents; unique, without nulls.
        metadata: columns that are kept with the documents.
        format: as for `Database.ingest_table`.
        store_text: keep the documents' bytes, so that passages can be compared symbol by symbol.
        parts: parts of the postings; None: one for 8 million expected postings.

    Raises:
        ParameterError: a column is missing or null; names that repeat; another build in the folder.
        DamagedError: the engine lost or repeated rows. Rows that it did not sort fail the job.
    """
    spark = df.sparkSession
    path = os.path.abspath(os.fspath(path))
    _check_columns(df, [text, id, *metadata])
    settings = native_profile(profile)
    rows, documents = _numbered(df, path, text, id, metadata)
    staging = _begun(path)
    if staging is None:
        plan = {
            "profile": settings,
            "documents": documents,
            "posting_parts": parts or 1,
            "document_parts": max(1, math.ceil(documents / _DOCUMENTS)),
            "name_bounds": [],
            "heavy": [],
            "format": format,
            "store_text": store_text,
        }
        _measure(rows, plan, parts)
        staging = _native.NativeStaging(path, plan)
    else:
        _check_plan(json.loads(staging.plan()), settings, documents, format, store_text)
    finished = staging.finished_parts()
    generation, count = staging.generation, staging.part_count
    if len(finished) < count:
        map_side, reduce_side = _sides(path, generation, finished)
        # Batches of many large documents would fill an executor.
        limits = {
            "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
            "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
        }
        with _configured(spark, limits):
            mapped = rows.mapInArrow(map_side, _ROWS)
            sorted_rows = _by_part(mapped, count).sortWithinPartitions("part", "high", "low", "value")
            sorted_rows.mapInArrow(reduce_side, "part int").collect()
    summary = json.loads(staging.finish())
    failed = [Failure._of(one) for one in summary.pop("failed")]
    return BuildSummary._of({**summary, "path": path, "failed": failed})


def _check_columns(df: DataFrame, names: Iterable[str]) -> None:
    for name in names:
        if name not in df.columns:
            raise ParameterError(f"the DataFrame has no column {name}; it has {', '.join(df.columns)}")


def _begun(path: str) -> _native.NativeStaging | None:
    """The build that is in the folder, if there is one."""
    return _native.NativeStaging(path) if os.path.exists(os.path.join(path, "plan.json")) else None


def _check_plan(plan: Mapping[str, Any], profile: str, documents: int, format: str, store_text: bool) -> None:
    asked = {
        "profile": json.loads(_native.profile(profile)),
        "documents": documents,
        "front_end": format,
        "store_text": store_text,
    }
    for name, value in asked.items():
        if plan[name] != value:
            raise ParameterError(
                f"another build is in this folder: its {name} is {plan[name]}, and {value} is asked for",
                "name an empty folder, or remove that build if it is no longer needed",
            )


def _numbered(df: DataFrame, path: str, text: str, id: str, metadata: Sequence[str]) -> tuple[DataFrame, int]:
    """The rows as the map side takes them (`number`, `name`, `text`, and what is kept), and how many there are."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    kept = [name for name in metadata if name not in (id, text)]
    columns = [F.col(id).alias("name"), F.col(text).alias("text"), F.col(id).alias(id), *map(F.col, kept)]

    def placed(frame: DataFrame) -> DataFrame:
        place = [F.col("_metadata.file_path").alias("__file"), F.col("_metadata.row_index").alias("__row")]
        return frame.select(*place, *columns)

    def counted(frame: DataFrame) -> list[Any]:
        per_file = frame.groupBy("__file").agg(F.count("*").alias("rows"), F.max("__row").alias("last"))
        return sorted(per_file.collect(), key=lambda row: row["__file"])

    copy = os.path.join(path, "input")
    files = None
    if not os.path.exists(copy):
        try:
            frame = placed(df)
            files = counted(frame)
        except AnalysisException:
            # It does not come from files, or from files of another format.
            files = None
    # A filter leaves gaps, a join repeats rows.
    if files is None or any(row["rows"] != row["last"] + 1 for row in files):
        if not os.path.exists(os.path.join(copy, "_SUCCESS")):
            names = list(dict.fromkeys([id, text, *kept]))
            df.select(*names).write.mode("overwrite").parquet("file://" + copy)
        frame = placed(df.sparkSession.read.parquet("file://" + copy))
        files = counted(frame)
    before, bases = 0, []
    for row in files:
        bases.append((row["__file"], before))
        before += row["rows"]
    if before >= 2**32 - 1:
        raise ParameterError(f"a database holds 4,294,967,294 documents, and these are {before}")
    table = df.sparkSession.createDataFrame(bases, "__file string, __base bigint")
    joined = frame.join(F.broadcast(table), "__file")
    number = (F.col("__base") + F.col("__row")).alias("number")
    return joined.select(number, *[F.col(name) for name in frame.columns[2:]]), before


def _measure(rows: DataFrame, plan: dict[str, Any], parts: int | None) -> None:
    """Completes a plan: how many parts, where parts of names begin, which hashes have very many postings."""
    from pyspark.sql import functions as F

    documents = plan["documents"]
    share = min(1.0, _SAMPLE / max(1, documents))
    # Whole documents by number: the same ones each time.
    step = max(1, round(1 / share))
    sample = rows if step == 1 else rows.where(F.col("number") % step == 0)
    if plan["document_parts"] > 1:
        names = sorted(str(row["name"]) for row in sample.select("name").collect())
        bounds = {names[len(names) * part // plan["document_parts"]] for part in range(1, plan["document_parts"])}
        plan["name_bounds"] = sorted(bounds, key=lambda name: name.encode("utf-8"))
    if parts is not None and documents < _SAMPLE:
        return
    profile, format = plan["profile"], plan["format"] if plan["format"] not in ("auto", "code") else "text"

    def hashes(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            made = pyarrow.table(_native.fingerprint(batch.column(0), profile, format, 1))
            flat = [chunk.flatten() for chunk in made.column("hashes").chunks]
            values = pyarrow.chunked_array(flat, pyarrow.uint64()).combine_chunks()
            yield pyarrow.record_batch([values.view(pyarrow.int64())], ["hash"])

    hashed = sample.select("text").mapInArrow(hashes, "hash bigint")
    total = hashed.count()
    if parts is None:
        plan["posting_parts"] = max(1, math.ceil(total * step / _POSTINGS))
    if documents < _SAMPLE or plan["posting_parts"] <= _HEAVY_PARTS:
        # No hash can have more postings than so many parts.
        return
    each = max(1.0, total / plan["posting_parts"])
    heavy = hashed.groupBy("hash").count().where(F.col("count") > max(2.0, _HEAVY_PARTS * each)).collect()
    plan["heavy"] = sorted((row["hash"] % 2**64, max(2, math.ceil(row["count"] / each))) for row in heavy)


def _by_part(rows: DataFrame, count: int) -> DataFrame:
    """Brings the rows of each part together."""
    from pyspark.sql import functions as F

    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(count, F.col("part"))
    return rows.repartition(count, "part")


def _sides(path: str, generation: str, finished: list[int]) -> tuple[Any, Any]:
    """The functions that the executors run. They hold nothing but these values."""

    def staging() -> _native.NativeStaging:
        build = _native.NativeStaging(path)
        if build.generation != generation:
            raise RuntimeError(f"{path} holds another build on this machine: it must be one folder that all machines see")
        return build

    def map_side(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        mapper = staging().mapper(finished)
        for batch in batches:
            yield from pyarrow.RecordBatchReader.from_stream(mapper.push(batch))
        yield from pyarrow.RecordBatchReader.from_stream(mapper.finish())

    def reduce_side(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        made = staging().reduce(batches)
        yield pyarrow.record_batch([pyarrow.array(made, pyarrow.int32())], ["part"])

    return map_side, reduce_side


@contextmanager
def _configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Sets what is set nowhere else, for a while."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


_MATCHES = (
    "query string, document string, shared bigint, score double, containment double, document_containment double, "
    "resemblance double, identical boolean, coverage double, passages array<struct<"
    "query_start: bigint, query_end: bigint, document_start: bigint, document_end: bigint, symbols: bigint, exact: boolean>>"
)

_open: dict[str, Database] = {}
_opening = threading.Lock()


def _database(path: str) -> Database:
    """The database, open for reading: once in each process of an executor."""
    with _opening:
        if path not in _open:
            _open[path] = open_database(path)
        return _open[path]


def query(
    df: DataFrame,
    db: str | os.PathLike[str],
    *,
    text: str = "text",
    id: str = "id",
    mode: Literal["containment", "resemblance"] = "containment",
    window: int | None = None,
    top: int | None = 10,
    min_score: float = 0.0,
    max_df: int | None = None,
    passages: bool = True,
) -> DataFrame:
    """Which stored documents share text with the rows of a DataFrame: a row for each match, best first for each query.

    Args:
        df: the queries.
        db: a database on storage that all executors see. It is opened for reading, once in each of their processes.
        text: the column of texts: string or binary; nulls match nothing.
        id: the column that names queries.
        mode, window, top, min_score, max_df, passages: as for `Database.query`.

    Returns:
        A DataFrame of `query`, `document`, `shared`, `score`, `containment`, `document_containment`, `resemblance`, `identical`,
        `coverage` and `passages`, whose offsets are bytes.
    """
    from pyspark.sql import functions as F

    _check_columns(df, [text, id])
    path = os.path.abspath(os.fspath(db))
    options: dict[str, Any] = {
        "mode": mode,
        "window": window,
        "top": top,
        "min_score": min_score,
        "max_df": max_df,
        "passages": passages,
    }

    def ask(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        database = _database(path)
        schema: Any = None
        for batch in batches:
            batch = batch.filter(batch.column(1).is_valid())
            names = batch.column(0).to_pylist()
            texts = batch.column(1)
            for start in range(0, len(names), 256):
                some = names[start : start + 256]
                rows = []
                # Two at least: an error of a single query is raised, and here it concerns one row of many.
                column = pyarrow.concat_arrays([texts.slice(start, len(some)), texts.slice(start, 1)])
                for answer in database.query(column, **options):
                    index = int(answer.query.name)
                    if index < len(some):
                        rows += [_match_row(some[index], match) for match in answer.matches]
                schema = schema or _match_schema(pyarrow)
                if rows:
                    yield pyarrow.RecordBatch.from_pylist(rows, schema)

    return df.select(F.col(id).cast("string"), F.col(text)).mapInArrow(ask, _MATCHES)


def _match_row(query: str, match: Any) -> dict[str, Any]:
    return {
        "query": query,
        "document": match.document,
        "shared": match.shared,
        "score": match.score,
        "containment": match.containment,
        "document_containment": match.document_containment,
        "resemblance": match.resemblance,
        "identical": match.identical,
        "coverage": match.coverage,
        "passages": [
            {
                "query_start": passage.query.start,
                "query_end": passage.query.end,
                "document_start": passage.document.start,
                "document_end": passage.document.end,
                "symbols": passage.symbols,
                "exact": passage.exact,
            }
            for passage in match.passages
        ],
    }


def _match_schema(arrow: Any) -> Any:
    places = ["query_start", "query_end", "document_start", "document_end", "symbols"]
    passage = arrow.struct([*((name, arrow.int64()) for name in places), ("exact", arrow.bool_())])
    shares = ["score", "containment", "document_containment", "resemblance"]
    return arrow.schema(
        [
            ("query", arrow.string()),
            ("document", arrow.string()),
            ("shared", arrow.int64()),
            *((name, arrow.float64()) for name in shares),
            ("identical", arrow.bool_()),
            ("coverage", arrow.float64()),
            ("passages", arrow.list_(passage)),
        ]
    )


def apply(df: DataFrame, report: str | os.PathLike[str] | DataFrame, *, id: str = "id") -> DataFrame:
    """The rows of a DataFrame that a dedup report does not remove.

    Args:
        df: the documents.
        report: the output of `fpdb dedup --format json`: a path that all executors see; or a DataFrame with a column `remove`.
        id: the column that names documents, as in `build`.
    """
    from pyspark.sql import functions as F

    _check_columns(df, [id])
    if isinstance(report, (str, os.PathLike)):
        path = "file://" + os.path.abspath(os.fspath(report))
        lines = df.sparkSession.read.schema("schema string, remove string").json(path)
        # A line that is no JSON is a damaged report, not a line that removes nothing.
        lines = lines.where(F.col("schema") == "fpdb.dedup/1")
    else:
        lines = report
    removed = lines.select(F.col("remove").alias("__removed")).where(F.col("__removed").isNotNull()).distinct()
    return df.join(removed, F.col(id).cast("string") == F.col("__removed"), "left_anti")
