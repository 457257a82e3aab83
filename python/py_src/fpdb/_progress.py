"""Progress: lets callers follow long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, Union

from . import _native


@dataclass(frozen=True)
class Progress:
    """The progress of work.

    Attributes:
        step: the current step: "documents", "documents searched for passages", ...
        done: number of items of the step that are done.
        total: number of items of the step, or None if unknown.
        bytes: number of bytes that an ingest has read from its files.
    """

    step: str
    done: int
    total: int | None
    bytes: int


ProgressLike: TypeAlias = Union[bool, Callable[[Progress], object], None]


@contextmanager
def following(kind: str, progress: ProgressLike, stop: _native.StopToken | None) -> Iterator[_native._Caller]:
    """The callback and the token of work, in the form that the engine takes. Shows a bar, if one is requested, as long as the work runs."""
    if progress is True:
        from tqdm.auto import tqdm

        bar = tqdm(desc=kind, unit=" documents", unit_scale=True)

        def show(step: str, done: int, total: int, _: int) -> None:
            bar.total = total or None
            if step:
                bar.set_description_str(step, refresh=False)
            bar.update(done - bar.n)

        try:
            yield show, stop
        finally:
            bar.close()
    elif progress is None or progress is False:
        yield None, stop
    else:
        callback = progress
        yield (lambda step, done, total, size: callback(Progress(step, done, total or None, size))), stop
