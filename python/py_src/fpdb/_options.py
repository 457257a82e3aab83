"""Options: tables of the arguments that set options of the library, and the types of arguments that several methods share."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

from . import _native
from ._errors import ParameterError
from ._inputs import NUMBERS, Path, listed, reader, whole
from ._progress import ProgressLike

_Read = Callable[[str, Any], Any]
_Method = TypeVar("_Method", bound=Callable[..., Any])

#: Stands for the default of the library.
_DEFAULT = object()


class Argument(NamedTuple):
    """An argument of methods.

    Attributes:
        field: the field of the library's options, as a path: "joining.gap".
        default: the value of the argument if it is not given.
        read: converts the name and the value of the argument to the value of the field. Errors for wrong values contain the name.
    """

    field: str
    default: Any
    read: _Read


class Arguments:
    """The arguments of a method that set options of the library."""

    def __init__(self, *tables: Mapping[str, Argument]) -> None:
        self.table = {name: argument for table in tables for name, argument in table.items()}
        self._fields: dict[str, str] = {}
        for name, argument in self.table.items():
            self._fields.setdefault(argument.field, name)
        self._steps = [
            (name, argument.read, argument.read(name, argument.default), argument.field.split("."))
            for name, argument in self.table.items()
        ]

    def without(self, *names: str) -> Arguments:
        """The arguments without these."""
        return Arguments({name: argument for name, argument in self.table.items() if name not in names})

    def fields(self, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of the library's options that these arguments set.

        Raises:
            TypeError: the method has no such argument, or the value has another type.
            ParameterError: a number is out of range.
        """
        if unknown := options.keys() - self.table.keys():
            raise TypeError(f"{method}() got an unexpected keyword argument {min(unknown)!r}")
        fields: dict[str, Any] = {}
        for name, read, default, (*above, last) in self._steps:
            value = read(name, options[name]) if name in options else default
            if value is _DEFAULT:
                continue
            below = fields
            for step in above:
                below = below.setdefault(step, {})
            below[last] = value
        return fields

    def given(self, method: str, options: Mapping[str, Any]) -> _native._Given:
        """The options in the form that the engine takes.

        Raises:
            TypeError, ParameterError: as for `fields`.
        """
        fields = self.fields(method, options)
        beside = {name: fields.pop(name, None) for name in ("phrases", "temp_dir")}
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
        return {"fields": text, "arguments": self._fields, "reader": reader(), **beside}  # type: ignore[typeddict-item]

    def of(self, fields: Mapping[str, Any], above: str = "") -> dict[str, Any]:
        """The arguments that set these fields of the library's options.

        Raises:
            ParameterError: no argument sets a field.
        """
        made: dict[str, Any] = {}
        for step, value in fields.items():
            field = above + step
            if field in self._fields:
                made[self._fields[field]] = value
            elif isinstance(value, Mapping):
                made.update(self.of(value, f"{field}."))
            else:
                raise ParameterError(f"no argument sets the option {field}")
        return made


def takes(arguments: Arguments, types: type) -> Callable[[_Method], _Method]:
    """Adds these arguments to the visible signature of a method that takes them as `**options`. `types` is the `TypedDict` of its
    options.
    """

    def with_signature(method: _Method) -> _Method:
        signature = inspect.signature(method)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        annotations = types.__annotations__
        for name, argument in arguments.table.items():
            if name not in signature.parameters:
                annotation = annotations[name]
                annotation = getattr(annotation, "__forward_arg__", annotation)
                own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=argument.default, annotation=annotation))
        # These come last, as in the descriptions of the arguments.
        own.sort(key=lambda one: one.name in ("progress", "stop"))
        method.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return method

    return with_signature


# Functions that convert the value of an argument to the value of a field.


def _wrong(name: str, expected: str, value: object) -> TypeError:
    return TypeError(f"{name} is {expected}, not {type(value).__name__}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a str", value)
    return value


def _texts(name: str, value: Any) -> list[str]:
    return [_text(name, one) for one in listed(value)]


def _values(name: str, value: Mapping[str, Any]) -> dict[str, str]:
    return {_text(name, field): str(one) for field, one in value.items()}


def _lines(name: str, value: Any) -> str:
    return "\n".join(_texts(name, value))


def _switch(name: str, value: Any) -> bool:
    # A numpy bool is a separate type, with a Python bool as its item.
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool):
        raise _wrong(name, "True or False", value)
    return value


def _share(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise _wrong(name, "a number", value)
    number = float(value)
    if not isfinite(number):
        raise ParameterError(f"{name} cannot be {number}: expected a number from 0 to 1")
    return number


def _whole(most: int) -> _Read:
    def read(name: str, value: Any) -> int:
        return whole(name, value, most)

    return read


_count, _number = _whole(2**64 - 1), _whole(NUMBERS)


def _path(_: str, value: Any) -> str:
    return os.fspath(value)


def _limits(name: str, value: Mapping[str, Any] | None) -> dict[str, int]:
    return {_text(name, limit): _count(f"{name}[{limit!r}]", bound) for limit, bound in (value or {}).items()}


def _or_none(read: _Read) -> _Read:
    return lambda name, value: None if value is None else read(name, value)


def _or_default(read: _Read) -> _Read:
    return lambda name, value: _DEFAULT if value is None else read(name, value)


def _group_by(name: str, value: Any) -> Any:
    return {"name": text} if (text := _text(name, value)) else "nothing"


def _groups(name: str, value: Any) -> Any:
    return _DEFAULT if _switch(name, value) else "nothing"


def _novel(name: str, value: Any) -> Any:
    return None if value == "any" else _DEFAULT if value is None else _count(name, value)


# The arguments.

_READING = {
    "format": Argument("read.front_end", "auto", _text),
    "limits": Argument("read.limits", None, _limits),
}
_FIELDS = {
    "text": Argument("read.fields.text", "text", _lines),
    "id": Argument("read.fields.id", "id", _text),
    "keep": Argument("read.fields.keep", (), _texts),
    "attachments": Argument("read.attachments", False, _switch),
}
_WALKING = {
    "exclude": Argument("walk.exclude", (), _texts),
    "include": Argument("walk.include", (), _texts),
    "skip_hidden": Argument("walk.skip_hidden", False, _switch),
    "follow": Argument("walk.follow", False, _switch),
}
_JOINING = {
    "rewritten": Argument("joining.rewritten", False, _switch),
    "gap": Argument("joining.gap", None, _or_none(_number)),
    "min_passage": Argument("joining.least", 0, _count),
}
_IGNORING = {
    "skip_quotes": Argument("read.skip_quotes", False, _switch),
    "ignore_phrases": Argument("phrases", None, _or_none(_path)),
}
_TEMPORARY = {"temp_dir": Argument("temp_dir", None, _or_none(_path))}
_PAIRS = {
    "min_shared": Argument("min_shared", None, _or_default(_count)),
    "min_resemblance": Argument("min_resemblance", None, _or_default(_share)),
    "min_containment": Argument("min_containment", None, _or_default(_share)),
    "max_df": Argument("max_df", 1000, _or_none(_count)),
    "across": Argument("across", (), _texts),
    "old": Argument("old", (), _texts),
    "where": Argument("metadata", None, _or_default(_values)),
    "group_by": Argument("group_by", None, _or_default(_group_by)),
    "groups": Argument("group_by", True, _groups),
    "submission_by": Argument("submission_by", None, _or_none(_text)),
    "submission_files": Argument("submission_files", 10, _count),
    "file_times": Argument("file_times", False, _switch),
    "new_since": Argument("new_since", None, _or_none(lambda name, value: {"document": _number(name, value)})),
    "weight": Argument("weight", "none", _text),
    "top": Argument("top", None, _or_none(_count)),
}

INGEST = Arguments(
    _READING,
    {
        "closed": Argument("read.closed", False, _switch),
        "on_change": Argument("on_change", "replace", _text),
        "store_text": Argument("store_text", False, _switch),
        "boilerplate": Argument("boilerplate", False, _switch),
        "prune": Argument("prune", False, _switch),
        "dry_run": Argument("dry_run", False, _switch),
    },
    _WALKING,
    _FIELDS,
)
QUERY = Arguments(
    {
        "mode": Argument("mode", "containment", _text),
        "window": Argument("window", None, _or_none(_number)),
        "n": Argument("n", None, _or_none(_count)),
        "top": Argument("top", 10, _or_none(_count)),
        "min_score": Argument("min_score", 0.0, _share),
        "max_df": Argument("max_df", None, _or_none(_count)),
        "where": Argument("metadata", None, _or_default(_values)),
        "passages": Argument("passages", True, _switch),
    },
    _JOINING,
    _IGNORING,
    {
        "weight": Argument("weight", "none", _text),
        "submission_by": Argument("submission_by", None, _or_none(_text)),
        "submission_files": Argument("submission_files", 10, _count),
        "file_times": Argument("file_times", False, _switch),
    },
    _READING,
)
BELOW = Arguments(_WALKING, _FIELDS, QUERY.table, {"join_submissions": Argument("join_submissions", False, _switch)})
ITER_PAIRS = Arguments(_PAIRS)
PAIRS = Arguments(
    _PAIRS,
    {
        "passages": Argument("passages", False, _switch),
    },
    _JOINING,
)
DEDUP = Arguments(
    {
        "by": Argument("by", "exact", _text),
        "threshold": Argument("threshold", None, _or_default(_share)),
        "max_novel": Argument("max_novel", None, _novel),
        "keep": Argument("keep", "longest", _text),
        "prefer": Argument("prefer", (), _texts),
        "protect": Argument("protect", (), _texts),
        "max_df": Argument("max_df", None, _or_none(_count)),
        "budget": Argument("budget", None, _or_none(_count)),
        "mode": Argument("mode", "once", _text),
    },
    _TEMPORARY,
)
REPEATS = Arguments({"min_length": Argument("min_length", None, _or_default(_number))}, _TEMPORARY)
DIFF = Arguments(_JOINING, _IGNORING, _READING)

# A service has its own limits and folders, and reads no file that a client names.
SERVED_QUERY = QUERY.without("ignore_phrases", "limits")
SERVED_DEDUP = DEDUP.without("temp_dir")
SERVED_REPEATS = REPEATS.without("temp_dir")


# The types of options that several methods share, for type checkers. The tables have the defaults.


class ServedQueryOptions(TypedDict, total=False):
    """The options of `Client.query`."""

    mode: Literal["containment", "resemblance"]
    window: int | None
    n: int | None
    top: int | None
    min_score: float
    max_df: int | None
    where: Mapping[str, str] | None
    passages: bool
    rewritten: bool
    gap: int | None
    min_passage: int
    skip_quotes: bool
    weight: Literal["none", "idf"]
    submission_by: str | None
    submission_files: int
    file_times: bool
    format: str


class MatchOptions(ServedQueryOptions, total=False):
    """The options for reading queries and choosing matches."""

    ignore_phrases: Path | None
    limits: Mapping[str, int] | None


class QueryOptions(MatchOptions, total=False):
    """The options of `Database.query`."""

    progress: ProgressLike
    stop: _native.StopToken | None


class WalkOptions(TypedDict, total=False):
    """The options that choose files below folders, and their fields."""

    exclude: Sequence[str]
    include: Sequence[str]
    skip_hidden: bool
    follow: bool
    text: str | Sequence[str]
    id: str
    keep: Sequence[str]
    attachments: bool


class BelowOptions(MatchOptions, WalkOptions, total=False):
    """The options of `Database.query_below` and `Database.iter_query_below`."""

    join_submissions: bool


class IngestOptions(WalkOptions, total=False):
    """The options of `Database.ingest`."""

    format: str
    closed: bool
    limits: Mapping[str, int] | None
    on_change: Literal["replace", "keep", "both"]
    store_text: bool
    boilerplate: bool
    prune: bool
    dry_run: bool


class PairsOptions(TypedDict, total=False):
    """The thresholds and filters of `Database.pairs`."""

    min_shared: int | None
    min_resemblance: float | None
    min_containment: float | None
    max_df: int | None
    across: Sequence[str]
    old: Sequence[str]
    where: Mapping[str, str] | None
    group_by: str | None
    groups: bool
    submission_by: str | None
    submission_files: int
    file_times: bool
    new_since: int | None
    weight: Literal["none", "idf"]
    top: int | None


class PassagePairsOptions(PairsOptions, total=False):
    """The options of `Database.pairs`."""

    passages: bool
    rewritten: bool
    gap: int | None
    min_passage: int


class ServedDedupOptions(TypedDict, total=False):
    """The rule and scope of `Client.dedup`."""

    threshold: float | None
    max_novel: int | Literal["any"] | None
    keep: Literal["longest", "first", "newest", "oldest"]
    prefer: Sequence[str]
    protect: Sequence[str]
    max_df: int | None
    budget: int | None
    mode: Literal["once", "append", "rerank"]


class DedupOptions(ServedDedupOptions, total=False):
    """The rule and scope of `Database.dedup`."""

    temp_dir: Path | None
