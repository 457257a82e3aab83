"""Pairs: as a stream whose memory is bounded, and with their passages."""

import itertools
import os
import pickle
import time

import polars
import pyarrow
import pytest

import fpdb
from conftest import program

# The number of rows in a batch of the engine.
BATCH = 4096
TEXT = "When in the Course of human events, it becomes necessary for one people to dissolve the political bands"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """44,850 pairs, which are more than ten batches."""
    path = tmp_path_factory.mktemp("many") / "db"
    with fpdb.create(path) as database:
        database.ingest((f"d{number}", f"{TEXT}, number {number}") for number in range(300))
    with fpdb.open(path) as database:
        yield database


ALL = {"max_df": None, "min_resemblance": 0.0}


def test_a_stream_has_the_rows_of_pairs(samples, many):
    for database, options in [(samples, {}), (samples, {"min_containment": 0.5, "top": 3, "groups": False}), (many, ALL)]:
        expected = database.pairs(**options)
        assert [pair.to_dict() for pair in database.iter_pairs(**options)] == expected.to_dicts()
        table = pyarrow.RecordBatchReader.from_stream(database.iter_pairs(**options)).read_all()
        assert table.equals(pyarrow.table(expected))
        assert polars.DataFrame(database.iter_pairs(**options)).equals(polars.DataFrame(expected))
    assert len(expected) == 300 * 299 // 2
    none = samples.iter_pairs(min_shared=10**9)
    assert list(none) == list(none) == []
    # Read first as objects and then as a table: no row is lost, and none occurs twice.
    stream = many.iter_pairs(**ALL)
    first = next(stream)
    rest = pyarrow.RecordBatchReader.from_stream(stream).read_all()
    assert first.to_dict() == expected[0].to_dict() and rest.num_rows == len(expected) - 1
    assert rest.equals(pyarrow.table(expected).slice(1))


def test_a_stream_that_was_read_or_closed_does_not_read_as_an_empty_table(many):
    # Read twice.
    stream = many.iter_pairs(**ALL)
    assert polars.DataFrame(stream).height == 300 * 299 // 2
    for again in (polars.DataFrame, pyarrow.table, next):
        with pytest.raises(Exception, match="have been read|each row is read once"):
            again(stream)
    stream = many.iter_pairs(**ALL)
    assert sum(1 for _ in stream) == 300 * 299 // 2
    with pytest.raises(Exception, match="have been read"):
        pyarrow.table(stream)
    # Two readers.
    stream = many.iter_pairs(**ALL)
    one, two = (pyarrow.RecordBatchReader.from_stream(stream) for _ in range(2))
    assert one.read_next_batch().num_rows == BATCH
    for other in (lambda: two.read_all(), lambda: next(stream)):
        with pytest.raises(Exception, match="each row is read once"):
            other()
    assert one.read_all().num_rows == 300 * 299 // 2 - BATCH
    # Closed before it is read, and in the middle.
    with many.iter_pairs(**ALL) as stream:
        unread = pyarrow.RecordBatchReader.from_stream(stream)
    with many.iter_pairs(**ALL) as stream:
        begun = pyarrow.RecordBatchReader.from_stream(stream)
        begun.read_next_batch()
    for cut in (unread, begun):
        with pytest.raises(pyarrow.ArrowException, match="ended before its last row"):
            cut.read_all()
    stop = fpdb.StopToken()
    stopped = pyarrow.RecordBatchReader.from_stream(many.iter_pairs(stop=stop, **ALL))
    stop.stop()
    with pytest.raises(pyarrow.ArrowException, match="stopped"):
        stopped.read_all()
    with pytest.raises(pyarrow.ArrowException, match="ended before its last row"):
        stopped.read_all()


def test_a_stream_holds_three_batches_at_most(many):
    stream = many.iter_pairs(**ALL)
    native, read = stream._native, 0
    for _ in range(5):
        # The thread has filled its batches, and waits.
        deadline = time.monotonic() + 60
        while native.held < 3 * BATCH and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert native.held == 3 * BATCH
        read += sum(native.next_row() is not None for _ in range(BATCH))
    assert read == 5 * BATCH
    assert read + sum(1 for _ in stream) == 300 * 299 // 2 and native.held == 0


def test_a_stream_ends_when_it_is_closed_or_stopped(tmp_path, many):
    with many.iter_pairs(**ALL) as stream:
        assert len(list(itertools.islice(stream, 10))) == 10
    # The batch that was already fetched can still be read.
    assert len(list(stream)) == BATCH - 10
    abandoned = many.iter_pairs(**ALL)
    next(abandoned)
    del abandoned
    stop = fpdb.StopToken()
    stop.stop()
    with pytest.raises(fpdb.StoppedError):
        list(many.iter_pairs(stop=stop, **ALL))
    with pytest.raises(fpdb.ParameterError):
        many.iter_pairs(group_by="(")
        list(many.iter_pairs(group_by="("))
    with fpdb.create(tmp_path / "db") as database, pytest.raises(fpdb.ParameterError, match="open for writing"):
        database.iter_pairs()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_stream_belongs_to_its_process(many):
    stream = many.iter_pairs(**ALL)
    next(stream)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            list(stream)
        except fpdb.ForkedError:
            del stream
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(1 for _ in stream) == 300 * 299 // 2 - 1


def test_old_documents_are_not_compared_with_each_other(tmp_path, many):
    whole = many.pairs(**ALL)
    old = {document.name for document in many.documents() if document.name.startswith("d1")}
    found = many.pairs(old=["d1"], **ALL)
    expected = [one.to_dict() for one in whole if not (one.a in old and one.b in old)]
    answers = [one.to_dict() for one in found]
    marked = [one | {f"{side}_old": True for side in "ab" if one[side] in old} for one in expected]
    # Lists of this length are compared without a report of their differences, which would take minutes.
    assert len(answers) == len(marked) and all(one == other for one, other in zip(answers, marked, strict=True))
    assert len(old) == 111 and len(found) == 300 * 299 // 2 - 111 * 110 // 2
    with pytest.raises(fpdb.ParameterError, match="old"):
        many.pairs(old=["nothing"])
    with pytest.raises(fpdb.ParameterError, match="new_since"):
        many.pairs(old=["d1"], new_since=3)


def test_views_and_passages_are_those_of_the_program(tmp_path, samples):
    code = """def total(values):
    # {}
    {} = 0
    for value in values:
        if value > 10:
            {} += value * 2
    return {}
"""
    (tmp_path / "files").mkdir()
    for name, words in {"a": ("sums", "result"), "b": ("sums", "result"), "c": ("other words", "something")}.items():
        text = code.format(words[0], *[words[1]] * 3)
        (tmp_path / "files" / f"{name}.py").write_text(text + f"\n\nprint(total([{', '.join(map(str, range(ord(name))))}]))\n")
    with fpdb.create(tmp_path / "two", "code") as database:
        database.ingest(tmp_path / "files")
        assert database.profile.text["k"] < database.profile.k
        assert fpdb.Profile._of_json(database.profile.to_dict()) == database.profile
        found = database.pairs(min_resemblance=0.0, passages=True)
        assert found.to_dicts() == program("pairs", "--db", database.path, "--min-resemblance", "0", "--passages", "--top", "0")
        table = pyarrow.table(found)
        for name in ("text_shared", "text_resemblance", "text_containment_a", "text_containment_b"):
            assert table[name].to_pylist() == [getattr(pair, name) for pair in found]
        assert found[0].text_resemblance > found[2].text_resemblance
        answer = database.query(tmp_path / "files" / "a.py")
        assert [answer.to_dict()] == program("query", "--db", database.path, tmp_path / "files" / "a.py")
        assert answer.text.looked_up > 0 and answer[0].text_containment > 0
    found = samples.pairs(passages=True)
    assert found.to_dicts() == program("pairs", "--db", samples.path, "--passages", "--top", "0")
    assert found[3].passages[0].exact


def test_measures_without_boilerplate_are_those_of_the_program(tmp_path):
    handed_out = " ".join(f"statement {number} was handed out;" for number in range(60))
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"task": handed_out}, boilerplate=True)
        summary = database.ingest({name: f"{handed_out} {TEXT} {end}" for name, end in [("a", "with an end"), ("b", "and another one")]})
        assert (summary.added, summary.boilerplate) == (2, 0)
        found = database.pairs()
        assert [pair.to_dict() for pair in found] == program("pairs", "--db", database.path)
        [pair] = found
        own = pair.without_boilerplate
        assert own.resemblance == pytest.approx(pair.score) and own.resemblance > pair.resemblance
        assert pyarrow.table(found)["without_boilerplate"][0].as_py()["containment_a"] == own.containment_a
        assert pickle.loads(pickle.dumps(found))[0] == pair
        answer = database.query(document="a")
        [match] = answer.matches
        assert match.without_boilerplate.containment > match.containment
        assert answer.to_dict() == program("query", "--db", database.path, "--document", "a")[0]
