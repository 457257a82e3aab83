"""Inputs: what users give as documents, as tables and as queries, as the engine takes it."""

from __future__ import annotations

import glob
import itertools
import os
import pathlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any, Protocol, TypeAlias, Union, runtime_checkable

from . import _native
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
    """A document that is no file: its name, its text (or bytes in any encoding or format), and what is kept with it.

    Its format is chosen by its name and its first bytes, as that of a file is.
    """

    name: str
    text: str | bytes
    metadata: Mapping[str, str] = field(default_factory=dict)


Path: TypeAlias = Union[str, "os.PathLike[str]"]
DocumentsLike: TypeAlias = "Iterable[Document | tuple[str, str | bytes]] | Mapping[str, str | bytes]"
ArrowData: TypeAlias = Union[ArrowStream, ArrowArray]


def _reader() -> list[str] | None:
    """The command that reads documents in foreign formats in a process of its own."""
    if not sys.executable or os.name != "posix":
        return None
    script = pathlib.Path(__file__).with_name("_reader.py")
    # Nothing of the user's environment has a say in it. The engine is found beside the script.
    return [sys.executable, "-E", "-s", "-S", str(script)]


def reading(format: str) -> _native._Reading:
    return {"format": format, "reader": _reader()}


def arrow_of(data: object) -> object | None:
    """The Arrow data that an object has or is; None where it is neither."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return data
    # A data set of Hugging Face keeps a table of pyarrow; with a selection of rows it has to be made anew.
    if type(data).__module__.split(".")[0] == "datasets" and hasattr(data, "with_format"):
        return _dataset(data)
    return None


def _dataset(data: Any) -> object:
    import pyarrow

    batches = data.with_format("arrow").iter(batch_size=4096)
    first = next(batches, None)
    if first is None:
        return data.data.table.slice(0, 0)
    tables = itertools.chain([first], batches)
    return pyarrow.RecordBatchReader.from_batches(
        first.schema, (batch for table in tables for batch in table.to_batches())
    )


def listed(given: Iterable[str]) -> list[str]:
    """Strings as a list. A single one is the only one, and not a sequence of characters."""
    return [given] if isinstance(given, str) else list(given)


def given_documents(given: Any) -> tuple[list[str], Iterator[object] | None]:
    """Paths, or documents as the engine takes them."""
    if isinstance(given, (str, os.PathLike)):
        return _paths([given]), None
    if isinstance(given, bytes):
        raise TypeError("a document needs a name: ingest([(name, text)])")
    if isinstance(given, Mapping):
        given = given.items()
    items = iter(given)
    first = next(items, None)
    if first is None:
        return [], None
    items = itertools.chain([first], items)
    if isinstance(first, (str, os.PathLike)):
        return _paths(items), None
    return [], (_document(item) for item in items)


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
    """A query as the engine takes it: (kind, name, content)."""
    if isinstance(query, Document):
        return "bytes", query.name, query.text
    if isinstance(query, (str, bytes)):
        return "bytes", name, query
    if isinstance(query, os.PathLike):
        return "file", "", os.fspath(query)
    raise TypeError(f"a query is str, bytes, a path or a Document, not {type(query).__name__}")


#: The greatest number of a document, and of a window or a length.
NUMBERS = 2**32 - 1


def whole(name: str, value: int | None, most: int = 2**64 - 1) -> int | None:
    """A whole number that the engine can take.

    Raises:
        ParameterError: it is out of range.
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        # None, or no whole number: the engine says what it expects.
        return value
    if not 0 <= number <= most:
        raise ParameterError(f"{name} cannot be {number}: expected a whole number from 0 to {most:,}")
    return number
