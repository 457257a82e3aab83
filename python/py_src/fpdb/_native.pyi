"""The engine. What users call is in the modules beside it."""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypedDict, final

__version__: str

class _Reading(TypedDict):
    format: str
    reader: list[str] | None
    limits: dict[str, int]

class _Walking(TypedDict):
    exclude: list[str]
    include: list[str]
    skip_hidden: bool
    follow: bool

class _Ruling(TypedDict):
    by: str
    threshold: float | None
    max_novel: int | None
    any_novel: bool

class _Ingesting(TypedDict):
    reading: _Reading
    walking: _Walking
    on_change: str
    store_text: bool
    boilerplate: bool
    prune: bool
    text: str
    id: str
    keep: list[str]

class _Joining(TypedDict):
    rewritten: bool
    gap: int | None
    min_passage: int

class _Ignoring(TypedDict):
    skip_quotes: bool
    phrases: str | None

class _Showing(TypedDict):
    settings: list[tuple[str, str]]
    failed: list[tuple[str, str]]
    max_pairs: int | None
    max_size: int | None
    anonymise: bool
    texts: bool
    single_file: bool

class _Querying(TypedDict):
    reading: _Reading
    mode: str
    window: int | None
    n: int | None
    top: int | None
    min_score: float
    max_df: int | None
    passages: bool
    weight: str
    joining: _Joining
    ignoring: _Ignoring
    submission_by: str | None

class _Pairing(TypedDict):
    min_shared: int | None
    min_resemblance: float | None
    min_containment: float | None
    max_df: int | None
    across: list[str]
    old: list[str]
    group_by: str | None
    submission_by: str | None
    new_since: int | None
    weight: str
    top: int | None
    reading: _Reading
    own_text: bool
    passages: bool
    joining: _Joining

class _Repeating(TypedDict):
    min_length: int | None
    temp_dir: str | None
    reading: _Reading

class _Deduplicating(TypedDict):
    rule: _Ruling
    keep: str
    prefer: list[str]
    protect: list[str]
    max_df: int | None
    budget: int | None
    mode: str
    temp_dir: str | None

_Applying = TypedDict(
    "_Applying",
    {
        "write": str | None,
        "cut": bool,
        "mark": str | None,
        "remove": bool,
        "link": str | None,
        "move": str | None,
        "act": bool,
        "temp_dir": str | None,
    },
)

_Progress = Callable[[str, int, int, int], object] | None
_Ingested = tuple[str, BaseException | None]
# Bytes of memory and of the cache, and a number of threads.
_Room = tuple[int | None, int | None, int | None]
# Which documents of a path are queried with, and the fields of records: text, id, others to keep.
_Found = tuple[_Walking, tuple[str, str, list[str]]]
# Its callback, and the token that stops its work.
_Caller = tuple[_Progress, StopToken | None]

@final
class StopToken:
    """Stops work from another thread: an ingest at its next commit, anything else at once."""

    def __new__(cls) -> StopToken: ...
    def stop(self) -> None:
        """Asks all work that was given this token to end."""
    @property
    def stopped(self) -> bool:
        """Whether `stop` has been called."""

@final
class Rows:
    def __len__(self) -> int: ...
    def json(self, index: int) -> str: ...
    def text(self, index: int) -> tuple[bytes, str] | None: ...
    def state(self) -> tuple[str, bytes]: ...
    @staticmethod
    def restore(kind: str, lines: bytes) -> Rows: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class RowStream:
    def next_row(self) -> str | None: ...
    def close(self) -> None: ...
    @property
    def held(self) -> int: ...
    @property
    def failed(self) -> list[tuple[str, str]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class NativeFingerprints:
    def __len__(self) -> int: ...
    def get(self, index: int) -> tuple[list[int], list[int]] | None: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class StagedBatches:
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any: ...

@final
class NativeMapper:
    def push(self, batch: object) -> StagedBatches: ...
    def finish(self) -> StagedBatches: ...

@final
class NativeStaging:
    def __new__(cls, path: str | os.PathLike[str], plan: dict[str, Any] | None = None) -> NativeStaging: ...
    @property
    def generation(self) -> str: ...
    @property
    def part_count(self) -> int: ...
    def plan(self) -> str: ...
    def finished_parts(self) -> list[int]: ...
    def mapper(self, finished: list[int]) -> NativeMapper: ...
    def reduce(self, batches: Iterable[object]) -> list[int]: ...
    def finish(self) -> str: ...

@final
class NativePages:
    def next_page(self, most: int) -> Rows: ...

@final
class NativeDatabase:
    def __new__(
        cls,
        path: str,
        write: bool,
        profile: str | None,
        room: _Room,
    ) -> NativeDatabase: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def writable(self) -> bool: ...
    def profile(self) -> str: ...
    def commit_id(self) -> str: ...
    def refresh(self) -> bool: ...
    def stats(self) -> str: ...
    def ingest_paths(
        self, paths: list[str], options: _Ingesting, caller: _Caller
    ) -> _Ingested: ...
    def ingest_documents(
        self, documents: Iterable[object], options: _Ingesting, caller: _Caller
    ) -> _Ingested: ...
    def ingest_table(
        self,
        table: object,
        columns: tuple[str, str | None, list[str], str],
        options: _Ingesting,
        caller: _Caller,
    ) -> _Ingested: ...
    def query(
        self, sources: list[tuple[str, str, object]], options: _Querying, caller: _Caller
    ) -> tuple[Rows, list[tuple[str, str]]]: ...
    def query_column(
        self, column: object, options: _Querying, caller: _Caller
    ) -> tuple[Rows, list[tuple[str, str]]]: ...
    def query_below(
        self, path: str, found: _Found, options: _Querying, caller: _Caller
    ) -> tuple[Rows, list[tuple[str, str]]]: ...
    def iter_query_below(
        self, path: str, found: _Found, options: _Querying, stop: StopToken | None
    ) -> RowStream: ...
    def pairs(self, options: _Pairing, caller: _Caller) -> Rows: ...
    def iter_pairs(self, options: _Pairing, stop: StopToken | None) -> RowStream: ...
    def repeats(self, options: _Repeating, caller: _Caller) -> tuple[Rows, Rows, str]: ...
    def dedup(
        self, options: _Deduplicating, caller: _Caller
    ) -> tuple[Rows, Rows, Rows, str]: ...
    def plan_dedup(self, options: _Deduplicating) -> str: ...
    def apply(
        self, report: str, options: _Applying, caller: _Caller
    ) -> tuple[Rows, str]: ...
    def document_pages(self) -> NativePages: ...
    def documents_stream(self) -> Any: ...
    def documents_named(self, name: str) -> Rows: ...
    def document(self, id: int) -> Rows: ...
    def text(self, id: int) -> tuple[bytes, str] | None: ...
    def remove(self, names: list[str], ids: list[int]) -> str: ...
    def remove_reported(self, report: str, caller: _Caller) -> str: ...
    def rename(self, old: str, new: str) -> str: ...
    def select(self, prefixes: list[str], fields: list[tuple[str, str]]) -> tuple[list[int], list[str]]: ...
    def assemble(self, staging: str, caller: _Caller) -> str: ...
    def compact(self, caller: _Caller) -> str: ...

def diff(
    a: tuple[str, str, object],
    b: tuple[str, str, object],
    profile: str,
    reading: _Reading,
    passages: tuple[_Joining, _Ignoring],
    caller: _Caller,
) -> Rows: ...
def verify(database: NativeDatabase, caller: _Caller) -> str: ...
def merge(database: NativeDatabase, other: NativeDatabase, on_change: str, caller: _Caller) -> _Ingested: ...
def backup(database: NativeDatabase, folder: str, keep: int | None, quick: bool, caller: _Caller) -> str: ...
def backups(folder: str) -> list[str]: ...
def restore(path: str, folder: str, number: int | None, room: _Room) -> NativeDatabase: ...
def write_report(database: NativeDatabase, rows: Rows, path: str, showing: _Showing, caller: _Caller) -> str: ...
def fingerprint(texts: object, profile: str, format: str, threads: int) -> NativeFingerprints: ...
def profile(text: str) -> str: ...
def serve_documents() -> None: ...
