"""Profile: what is compared, and how long a match must be."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._answers import Answer


@dataclass(frozen=True, init=False)
class Profile(Answer):
    """What is compared, and how long a match must be. A database keeps the profile it was created with.

    `Profile("prose")` is a profile by its name: prose, text, words, code or bytes.
    `Profile(unit="char", k=25, w=20)` is one of your own.

    Args:
        name: the name of a profile; its settings are those that are not given.
        unit: char, word, token or byte: what a symbol is.
        k: the noise threshold, in symbols: nothing shorter matches.
        w: the window, in hashes: the price.
        selection: robust, plain, mod:P, safe-mod:P or all.
        words: letters or unicode, for unit word: which parts of a text are words.

    Attributes:
        guarantee: every shared run of so many symbols is found: w + k - 1. None where nothing is guaranteed.
        text: of source code in two views, k, w and guarantee of the text as written. The other settings are then those of the
            structure. None for one view, as every profile has whose unit, k, w or selection is given.

    Raises:
        ParameterError: the settings make no sense.
    """

    unit: str
    k: int
    w: int
    selection: str
    words: str | None = None
    guarantee: int | None = None
    text: dict[str, int] | None = None

    def __init__(
        self,
        name: str = "prose",
        *,
        unit: str | None = None,
        k: int | None = None,
        w: int | None = None,
        selection: str | None = None,
        words: str | None = None,
    ) -> None:
        fields = json.loads(_native.profile(name))
        k, w = (None if number is None else operator.index(number) for number in (k, w))
        given = {"unit": unit, "k": k, "w": w, "selection": selection, "words": words}
        given = {name: value for name, value in given.items() if value is not None}
        if given:
            # The guarantee follows from the rest. A profile of one's own has one view.
            fields.pop("guarantee", None)
            fields.pop("text", None)
            fields = json.loads(_native.profile(json.dumps({**fields, **given})))
        self._set(fields)

    def _set(self, fields: Mapping[str, Any]) -> None:
        for name in ("unit", "k", "w", "selection", "words", "guarantee", "text"):
            object.__setattr__(self, name, fields.get(name))

    @classmethod
    def _of_json(cls, fields: Mapping[str, Any]) -> Profile:
        profile = cls.__new__(cls)
        profile._set(fields)
        return profile

    def _json(self) -> str:
        fields = {name: value for name, value in self.to_dict().items() if value is not None and name != "guarantee"}
        return json.dumps(fields)


def native_profile(profile: Profile | str) -> str:
    """A profile as the engine takes it."""
    return profile._json() if isinstance(profile, Profile) else profile
