"""Progress: how callers follow long work."""

from __future__ import annotations

from collections.abc import Callable
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


def told(progress: ProgressLike, kind: str) -> tuple[_native._Progress, Callable[[], None]]:
    """The callback of the engine, and what ends it."""
    if progress is None or progress is False:
        return None, lambda: None
    if progress is True:
        from tqdm.auto import tqdm

        bar = tqdm(desc=kind, unit=" documents", unit_scale=True)

        def show(step: str, done: int, total: int, _: int) -> None:
            bar.total = total or None
            if step:
                bar.set_description(step, refresh=False)
            bar.update(done - bar.n)

        return show, bar.close
    callback = progress
    return (lambda step, done, total, size: callback(Progress(step, done, total or None, size))), lambda: None
