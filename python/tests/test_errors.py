"""Each error of the library is an exception of a class that tells users what to do."""

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
    # This error has no class of its own, so it gets the base class.
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


def test_a_wrong_option_is_named_as_the_argument(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": LONG})
        for refused, ask in [
            ("the option mode is not valid: mode cannot be both: expected containment or resemblance", lambda: database.query("x", mode="both")),
            ("the option format is not valid: the format cannot be klingon", lambda: database.query("x", format="klingon")),
            ("the option format is not valid: the format cannot be klingon", lambda: fpdb.diff("x", "y", format="klingon")),
            ("the option limits is not valid: no limit is named size", lambda: database.query("x", limits={"size": 3})),
            ("the option on_change is not valid: on_change cannot be", lambda: database.ingest({"b": LONG}, on_change="merge")),
            ("the option keep is not valid: keep cannot be shortest", lambda: database.dedup("containment", keep="shortest")),
            ("the option weight is not valid: weight cannot be all", lambda: database.pairs(weight="all")),
            ("by cannot be likeness", lambda: database.dedup("likeness")),
            ("min_score cannot be nan", lambda: database.query("x", min_score=float("nan"))),
            ("min_score cannot be 2", lambda: database.query("x", min_score=2)),
            ("limits['depth'] cannot be -1", lambda: database.query("x", limits={"depth": -1})),
        ]:
            with pytest.raises(fpdb.ParameterError) as raised:
                ask()
            assert raised.value.message.startswith(refused), raised.value.message
        for refused, ask in [
            ("query() got an unexpected keyword argument 'tpo'", lambda: database.query("x", tpo=3)),
            ("query_below() got an unexpected keyword argument 'tpo'", lambda: database.query_below(tmp_path, tpo=3)),
            ("dedup() got an unexpected keyword argument 'tpo'", lambda: database.dedup("exact", tpo=3)),
            ("min_passage is a whole number, not str", lambda: database.query("x", min_passage="20")),
            ("min_passage is a whole number, not NoneType", lambda: database.query("x", min_passage=None)),
            ("passages is True or False, not str", lambda: database.query("x", passages="no")),
            ("submission_by is a str, not int", lambda: database.pairs(submission_by=3)),
            ("min_resemblance is a number, not str", lambda: database.pairs(min_resemblance="0.5")),
            ("across is a str, not int", lambda: database.pairs(across=["a", 3])),
        ]:
            with pytest.raises(TypeError) as raised:
                ask()
            assert str(raised.value) == refused
