"""Progress: how callers follow long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, Union

from . import _native


@dataclass(frozen=True)
class Progress:
    """How far work has come.

    Attributes:
        step: what is counted: "documents", "documents compared", ...
        done: how many are done.
        total: how many there are, or None where that is not known.
        bytes: bytes that an ingest has read of its files.
    """

    step: str
    done: int
    total: int | None
    bytes: int


ProgressLike: TypeAlias = Union[bool, Callable[[Progress], object], None]


@contextmanager
def following(kind: str, progress: ProgressLike, stop: _native.StopToken | None) -> Iterator[_native._Caller]:
    """The caller of work as the engine takes it. A bar is there as long as the work."""
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
