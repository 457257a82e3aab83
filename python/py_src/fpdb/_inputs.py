"""Inputs: converts the documents, tables and queries that users give to the form that the engine takes."""

from __future__ import annotations

import glob
import itertools
import os
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, Protocol, TypeAlias, Union, runtime_checkable

from ._errors import ParameterError


@runtime_checkable
class ArrowStream(Protocol):
    """Tables and columns of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


@runtime_checkable
class ArrowArray(Protocol):
    """Arrays and record batches of pyarrow, nanoarrow and others."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


@dataclass(frozen=True)
class Document:
    """A document that is not a file: its name, its text or bytes, and its metadata.

    The name and the first bytes determine the format and encoding of the document, as for a file. This holds for a str too: the str of a
    mail is read as mail, unless `format="text"` is given. It is always one document: compressed bytes and archives are not opened, and
    lines of JSONL are not separate documents.

    A text that is None is skipped. Metadata values are stored as `str(value)`; None is left out.
    """

    name: str
    text: str | bytes
    metadata: Mapping[str, str] = field(default_factory=dict)


Path: TypeAlias = Union[str, "os.PathLike[str]"]
DocumentsLike: TypeAlias = "Iterable[Document | tuple[str, str | bytes]] | Mapping[str, str | bytes]"
ArrowData: TypeAlias = Union[ArrowStream, ArrowArray]


_SCRIPT = str(pathlib.Path(__file__).with_name("_reader.py"))


def reader() -> list[str] | None:
    """The command that reads documents of untrusted formats in a separate process."""
    if not sys.executable or os.name != "posix":
        return None
    # The environment of the user has no effect on this process, which finds the engine beside the script.
    return [sys.executable, "-E", "-s", "-S", _SCRIPT]


def arrow_of(data: object, columns: Sequence[str] | None = None) -> object | None:
    """The Arrow data of an object; None if it has none. `columns` limits a data set to these columns."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    # A data set of Hugging Face keeps a table of pyarrow. If rows of the data set were selected, the table must be built again.
    if type(data).__module__.split(".")[0] == "datasets" and hasattr(data, "with_format"):
        return _dataset(data, columns)
    return None


def not_a_table(data: object) -> TypeError:
    """The error for an object without Arrow data. It names the call that makes a table of the object."""
    kind = type(data)
    calls = {
        "Dataset": "dataset.scanner().to_reader()",
        "Scanner": "scanner.to_reader()",
        "ParquetFile": "pyarrow.dataset.dataset(path).scanner().to_reader()",
        "LazyFrame": "frame.collect()",
        "generator": "pyarrow.RecordBatchReader.from_batches(schema, batches)",
    }
    names = [one.__name__ for one in kind.__mro__]
    call = next((f": give {made}" for name, made in calls.items() if name in names), "")
    return TypeError(f"{kind.__name__} is not a table: it has no __arrow_c_stream__{call}")


def _dataset(data: Any, columns: Sequence[str] | None) -> object:
    import pyarrow

    if isinstance(data, dict):
        raise TypeError(f"{type(data).__name__} is several data sets: give one of {', '.join(map(str, data))}")
    described = getattr(data, "format", None)
    if isinstance(described, Mapping) and described.get("type") == "custom":
        raise ParameterError(
            "the data set has a transform, which Arrow data is made without", "apply it with map, or remove it with reset_format"
        )
    features = getattr(data, "features", None)
    if features:
        batches = data.with_format("arrow").iter(batch_size=4096)
    else:
        # A stream without known types makes tables of different types, and refuses to join them.
        batches = map(pyarrow.table, data.with_format(None).iter(batch_size=4096))
    first = next(batches, None)
    schema = features.arrow_schema if features else None if first is None else first.schema
    if schema is None:
        raise ParameterError("the data set is empty, and does not tell its columns")
    # A missing column causes an error that names the existing columns.
    if columns is not None and set(columns) <= set(schema.names):
        schema = pyarrow.schema([field for field in schema if field.name in columns])
    # A stream takes its types from its first rows. If a column is null in all these rows, it has no type.
    null, text = pyarrow.null(), pyarrow.large_string()
    schema = pyarrow.schema([field.with_type(text) if field.type == null else field for field in schema])

    def rows() -> Iterator[Any]:
        for table in itertools.chain([] if first is None else [first], batches):
            there = {name: table[name].cast(schema.field(name).type) for name in schema.names if name in table.column_names}
            missing = {name: pyarrow.nulls(len(table), schema.field(name).type) for name in schema.names if name not in there}
            made = {**there, **missing}
            yield from pyarrow.table([made[name] for name in schema.names], schema=schema).to_batches()

    return pyarrow.RecordBatchReader.from_batches(schema, rows())


def listed(given: Iterable[str]) -> list[str]:
    """A list of strings. A single string is one item, and not a sequence of characters."""
    return [given] if isinstance(given, str) else list(given)


def given_documents(given: Any) -> tuple[list[str], Iterator[object] | None]:
    """Paths, or documents in the form that the engine takes."""
    if isinstance(given, (str, os.PathLike)):
        return _paths([given]), None
    if isinstance(given, bytes):
        raise TypeError("a document needs a name: ingest([(name, text)])")
    if isinstance(given, Mapping):
        given = given.items()
    elif hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        raise TypeError(f"{type(given).__name__} is a table: ingest_table takes its rows")
    elif (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(one, str) and not glob.has_magic(one) and not _is_there(one) for one in given)
    ):
        raise TypeError("neither of these two strings is a path; documents go in a list: ingest([(name, text)])")
    items = iter(given)
    first = next(items, None)
    if first is None:
        return [], None
    items = itertools.chain([first], items)
    if isinstance(first, (str, os.PathLike)):
        return _paths(items), None
    return [], (_document(item) for item in items)


def _is_there(path: str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:
        # The path has a NUL.
        return False


def _paths(given: Iterable[Any]) -> list[str]:
    paths: list[str] = []
    for one in given:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"paths and documents go in separate calls: after paths there is a {type(one).__name__}")
        path = os.fspath(one)
        if glob.has_magic(path) and not os.path.lexists(path):
            found = sorted(glob.glob(path, recursive=True))
            if not found:
                raise ParameterError(f"no file matches the pattern {path}")
            paths.extend(found)
        else:
            paths.append(path)
    return paths


def _document(item: object) -> tuple[str, object, dict[str, str] | None]:
    if isinstance(item, Document):
        return item.name, item.text, dict(item.metadata)
    if isinstance(item, tuple) and len(item) == 2:
        return item[0], item[1], None
    raise TypeError(f"a document is a Document or a tuple (name, text), not {type(item).__name__}")


def source_of(query: object, name: str) -> tuple[str, str, object]:
    """A query in the form that the engine takes: (kind, name, content)."""
    if isinstance(query, Document):
        return "bytes", query.name, query.text
    if isinstance(query, str):
        return "text", name, query
    if isinstance(query, bytes):
        return "bytes", name, query
    if isinstance(query, os.PathLike):
        return "file", "", os.fspath(query)
    raise TypeError(f"a query is str, bytes, a path or a Document, not {type(query).__name__}")


#: Maximum number of a document, and maximum of a window or a length.
NUMBERS = 2**32 - 1


def whole(name: str, value: int, most: int = 2**64 - 1) -> int:
    """An integer in the range that the engine accepts.

    Raises:
        TypeError: the value is not an integer, or is True or False.
        ParameterError: the number is out of range.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a whole number, not {type(value).__name__}")
    number = index(value)
    if not 0 <= number <= most:
        raise ParameterError(f"{name} cannot be {number}: expected a whole number from 0 to {most:,}")
    return number


def whole_or_none(name: str, value: int | None, most: int = 2**64 - 1) -> int | None:
    """Like `whole`, for an argument that may be None."""
    return None if value is None else whole(name, value, most)


def removed(
    names: Sequence[str],
    ids: Iterable[int],
    prefix: str | Sequence[str],
    where: Mapping[str, str] | None,
    report: object,
    dry_run: bool,
    keep_out: bool,
) -> tuple[list[int], list[str], dict[str, str]]:
    """Checks the arguments of `remove`. Returns the numbers, the prefixes and the values.

    Raises:
        TypeError: arguments have a wrong type, or do not go together.
        ParameterError: a number is out of range.
    """
    if not all(isinstance(name, str) for name in names):
        raise TypeError("names are given one by one, as str: remove(*names)")
    numbers = [whole("id", number, NUMBERS) for number in ids]
    prefixes, fields = listed(prefix), {name: str(value) for name, value in (where or {}).items()}
    is_selected = bool(prefixes or fields)
    if report is not None and (names or numbers or is_selected or dry_run or keep_out):
        raise TypeError("a report goes in a call of its own")
    if is_selected and (names or numbers):
        raise TypeError("names and ids go in one call, prefix and where in another")
    if dry_run and not is_selected:
        raise TypeError("dry_run goes with prefix and where")
    return numbers, prefixes, fields


def several(queries: object) -> Iterable[Any]:
    """The items of a list of queries.

    Raises:
        TypeError: the object is no list of queries.
    """
    if isinstance(queries, Mapping):
        raise TypeError("a mapping is no list of queries: give its texts, or Documents with a name")
    if not isinstance(queries, Iterable):
        stored = "; query(id=) takes the number of a stored document" if isinstance(queries, int) else ""
        raise TypeError(f"a query is str, bytes, a path, a Document or a list of these, not {type(queries).__name__}{stored}")
    return queries
