"""Profile: the settings that decide what is compared, and how long a match must be."""

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
    """The settings that decide what is compared, and how long a match must be. A database keeps the profile with which it was created.

    `Profile("prose")` is a named profile: prose, text, words, code or bytes. `Profile(unit="char", k=25, w=20)` is a profile of your own.

    Args:
        name: the name of a profile, which gives the settings that are not given as arguments.
        unit: the unit of symbols: char, word, token or byte.
        k: the noise threshold, in symbols: nothing shorter can match.
        w: the window: a number of k-gram hashes. A larger window stores fewer fingerprints.
        selection: robust, plain, mod:P, safe-mod:P or all.
        words: for unit word, the parts of a text that are words: letters or unicode.

    Attributes:
        guarantee: every shared run of at least this number of symbols is found: w + k - 1. None if the selection guarantees nothing.
        text: for source code in two views, k, w and guarantee of the text as written. The other settings are then those of the structure.
            None for one view, which is every profile with a given unit, k, w or selection.

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
            # The guarantee follows from the other settings. A profile with own settings has one view.
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
    """A profile in the form that the engine takes."""
    return profile._json() if isinstance(profile, Profile) else profile
