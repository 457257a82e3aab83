"""Options: keyword arguments that several methods take alike, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from . import _native
from ._inputs import Path
from ._progress import ProgressLike


class BelowOptions(TypedDict, total=False):
    """The options of `Database.iter_query_below`."""

    mode: Literal["containment", "resemblance"]
    window: int | None
    n: int | None
    top: int | None
    min_score: float
    max_df: int | None
    passages: bool
    rewritten: bool
    gap: int | None
    min_passage: int
    skip_quotes: bool
    ignore_phrases: Path | None
    weight: Literal["none", "idf"]
    submission_by: str | None
    format: str
    limits: Mapping[str, int] | None


class QueryOptions(BelowOptions, total=False):
    """The options of `Database.query`."""

    progress: ProgressLike
    stop: _native.StopToken | None


class PairsOptions(TypedDict, total=False):
    """The thresholds and filters of `Database.pairs`."""

    min_shared: int | None
    min_resemblance: float | None
    min_containment: float | None
    max_df: int | None
    across: Sequence[str]
    old: Sequence[str]
    group_by: str | None
    groups: bool
    submission_by: str | None
    new_since: int | None
    weight: Literal["none", "idf"]
    top: int | None


class DedupOptions(TypedDict, total=False):
    """The rule and scope of `Database.dedup`."""

    threshold: float | None
    max_novel: int | Literal["any"] | None
    keep: Literal["longest", "first", "newest", "oldest"]
    prefer: Sequence[str]
    protect: Sequence[str]
    max_df: int | None
    budget: int | None
    mode: Literal["once", "append", "rerank"]
    temp_dir: Path | None
