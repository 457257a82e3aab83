"""Each error of the library is an exception of a class that says what to do about it."""

import re

import pytest

import fpdb
from conftest import ROOT

LONG = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."


def test_every_error_has_a_class():
    source = (ROOT / "crates" / "host" / "src" / "error" / "mod.rs").read_text(encoding="utf-8")
    listed = source[source.index("pub enum Error {") :]
    variants = re.findall(r"^    ([A-Z]\w+)(?: \{|\(|,)", listed, re.MULTILINE)
    assert len(variants) > 50
    table = (ROOT / "python" / "src" / "errors.rs").read_text(encoding="utf-8")
    # It is one of its own kind: the base class is the right one.
    without = [name for name in variants if not re.search(rf"Error::{name}\b", table)]
    assert without == ["WaitsForItself"]
    for name in re.findall(r'=> "(\w+)"', table):
        assert issubclass(getattr(fpdb, name), fpdb.Error), name


def test_a_rule_that_is_not_the_recorded_one_is_a_wrong_parameter(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": LONG, "b": LONG})
        database.dedup("containment", mode="append")
        with pytest.raises(fpdb.ParameterError, match="another rule"):
            database.dedup("containment", threshold=0.5, mode="append")
