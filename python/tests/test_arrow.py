"""Tables as input and answers as output, with the real versions of the libraries that make and read them."""

import json

import datasets
import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import fpdb
from conftest import SAMPLES, paragraphs, program


@pytest.fixture(scope="module")
def table():
    rows = paragraphs()
    return pyarrow.table(
        {
            "id": [name for name, _ in rows],
            "text": [text for _, text in rows],
            "url": [f"https://example.org/{index}" if index % 3 else None for index in range(len(rows))],
            "year": pyarrow.array([1787 + index % 2 for index in range(len(rows))], pyarrow.int16()),
        }
    )


def stored(database):
    return [(info.name, info.digest, info.metadata) for info in database.documents()]


def ingested(path, data, **options):
    with fpdb.create(path) as database:
        summary = database.ingest_table(data, keep=["url", "year"], **options)
        assert summary.failures == 0
        return stored(database)


SOURCES = {
    "pyarrow": lambda table: table,
    "record batches": lambda table: table.to_reader(max_chunksize=100),
    "one record batch": lambda table: table.combine_chunks().to_batches()[0],
    "large strings": lambda table: table.set_column(1, "text", table["text"].cast(pyarrow.large_string())),
    "string views": lambda table: table.set_column(1, "text", table["text"].cast(pyarrow.string_view())),
    "bytes": lambda table: table.set_column(1, "text", table["text"].cast(pyarrow.binary())),
    "a dictionary": lambda table: table.set_column(1, "text", table["text"].dictionary_encode()),
    "a slice": lambda table: pyarrow.concat_tables([table, table]).slice(0, len(table)),
    "polars": polars.from_arrow,
    "pandas": lambda table: table.to_pandas(types_mapper=pandas.ArrowDtype),
    "duckdb": lambda table: duckdb.from_arrow(table),
    "datasets": lambda table: datasets.Dataset(table),
    "selected rows of datasets": lambda table: datasets.Dataset(table).select(range(len(table))),
}


@pytest.mark.parametrize("name", SOURCES)
def test_tables_of_all_kinds_give_the_same_documents(tmp_path, table, name):
    expected = ingested(tmp_path / "expected", table)
    assert len(expected) == len(table)
    assert expected[1][2] == {"id": table["id"][1].as_py(), "url": "https://example.org/1", "year": "1788"}
    assert "url" not in expected[0][2], "null is no value"
    assert ingested(tmp_path / "db", SOURCES[name](table)) == expected


def test_a_table_gives_what_the_program_makes_of_the_same_parquet_file(tmp_path, table):
    file = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(table, file)
    with fpdb.create(tmp_path / "db") as database:
        mine = database.ingest_table(table, keep=["url"], prefix="table.parquet", id=None, store_text=True)
        names = [info.name for info in database.documents()]
    theirs = program(
        "ingest", "--db", "of-program", "table.parquet", "--keep-fields", "url", "--store-text", cwd=tmp_path
    )[0]
    same = ["documents", "added", "bytes", "symbols", "fingerprints", "identical", "formats", "undecodable"]
    assert {name: getattr(mine, name) for name in same} == {name: theirs[name] for name in same}
    with fpdb.open(tmp_path / "of-program") as database:
        assert [info.name for info in database.documents()] == names
    # The package also ingests the file itself.
    with fpdb.create(tmp_path / "of-file") as database:
        assert database.ingest(str(file), keep=["url"]).symbols == mine.symbols


def chats():
    """Messages of chats: several, none, and with nulls in every place."""
    said = [f"é {text}" for _, text in paragraphs()[:5]]

    def message(content):
        return {"role": "user", "content": content}

    return [
        [message(said[0]), message(said[1])],
        None,
        [message(None), message(said[2]), None, message(said[0])],
        [],
        [None],
        [message(""), message(said[3]), message("")],
        [message(said[4])],
    ]


MESSAGE = pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.string()})
BYTES = pyarrow.struct({"role": pyarrow.string(), "content": pyarrow.large_binary()})
CHATS = {
    "pyarrow": lambda rows: pyarrow.table({"messages": pyarrow.array(rows, pyarrow.list_(MESSAGE))}),
    "large lists": lambda rows: pyarrow.table({"messages": pyarrow.array(rows, pyarrow.large_list(MESSAGE))}),
    "views of lists": lambda rows: pyarrow.table({"messages": pyarrow.array(rows, pyarrow.list_view(MESSAGE))}),
    "lists of one length": lambda rows: pyarrow.table(
        {"messages": pyarrow.array([row if row is None else (row + [None] * 4)[:4] for row in rows], pyarrow.list_(MESSAGE, 4))}
    ),
    "bytes": lambda rows: pyarrow.table({"messages": CHATS["pyarrow"](rows)["messages"].cast(pyarrow.list_(BYTES))}),
    "a slice": lambda rows: pyarrow.table({"messages": pyarrow.array(rows[::-1] + rows, pyarrow.list_(MESSAGE))}).slice(len(rows)),
    "polars": lambda rows: polars.DataFrame({"messages": rows}, strict=False),
    "duckdb": lambda rows: duckdb.from_arrow(CHATS["pyarrow"](rows)),
    "datasets": lambda rows: datasets.Dataset(CHATS["pyarrow"](rows)),
}


@pytest.mark.parametrize("name", CHATS)
def test_texts_in_lists_are_joined_as_the_program_joins_those_of_a_parquet_file(tmp_path, name):
    pyarrow.parquet.write_table(CHATS["pyarrow"](chats()), tmp_path / "chats.parquet")
    with fpdb.create(tmp_path / "db") as database:
        options = {"text": "messages[].content", "id": None, "prefix": "chats.parquet", "store_text": True}
        mine = database.ingest_table(CHATS[name](chats()), **options)
        documents = [(info.name, info.digest, info.bytes) for info in database.documents()]
        texts = [database.text(info.id).decode() for info in database.documents()]
    flags = ("--text-field", "messages[].content", "--store-text")
    theirs = program("ingest", "--db", "of-program", "chats.parquet", *flags, cwd=tmp_path)[0]
    with fpdb.open(tmp_path / "of-program") as database:
        assert [(info.name, info.digest, info.bytes) for info in database.documents()] == documents
    assert (mine.documents, mine.skips, mine.symbols) == (theirs["documents"], theirs["skips"], theirs["symbols"])
    said = [[one["content"] for one in row or [] if one and one["content"] is not None] for row in chats()]
    assert texts == ["\n\n".join(row) for row in said if row] and len(texts) == 4


def test_texts_of_several_columns_are_joined_as_the_program_joins_them(tmp_path):
    rows = {"response": ["answer " * 30, None, "alone " * 30, None], "turns": [["b " * 30], ["c " * 30], [], None]}
    table = pyarrow.table({**rows, "prompt": ["question " * 30, "asked " * 30, None, None]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    text = ["prompt", "turns[]", "response"]
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest_table(table, text=text, id=None, prefix="t.parquet", store_text=True)
        assert (summary.documents, summary.skips) == (3, 1)
        assert database.text(0).decode() == "question " * 30 + "\n\n" + "b " * 30 + "\n\n" + "answer " * 30
        documents = [(info.name, info.digest) for info in database.documents()]
        with pytest.raises(fpdb.ParameterError, match=r"no column respnse \(text\)"):
            database.ingest_table(table, text=["prompt", "respnse"])
    with fpdb.create(tmp_path / "files") as database:
        database.ingest([tmp_path / "t.parquet"], text=text)
        assert [info.digest for info in database.documents()] == [digest for _, digest in documents]
    program("ingest", "--db", "of-program", "t.parquet", *(f"--text-field={field}" for field in text), cwd=tmp_path)
    with fpdb.open(tmp_path / "of-program") as database:
        assert [(info.name, info.digest) for info in database.documents()] == documents


def test_paths_lead_through_structs_and_lists_of_lists(tmp_path):
    turns = [{"turns": [["one " * 30, "two " * 30], [], ["three " * 30]]}, {"turns": None}, None]
    table = pyarrow.table({"chat.log": turns, "chat": turns, "a.b": ["plain " * 30, None, None]})
    for text, expected in [
        ("chat.turns[][]", b"\n\n".join([b"one " * 30, b"two " * 30, b"three " * 30])),
        ("a.b", b"plain " * 30),
    ]:
        with fpdb.create(tmp_path / text) as database:
            summary = database.ingest_table(table, text=text, id=None, store_text=True)
            assert (summary.documents, summary.skips) == (1, 2)
            assert database.text(0) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("other[].content", r"no column other \(text\); it has messages"),
        ("messages", r"the column messages \(text\) is of type .*: cast it to text"),
        ("messages[]", r"messages\[\] \(text\) leads to no text: messages is of type"),
        ("messages[].other", "leads to no text"),
        ("messages[].role[]", "leads to no text"),
        ("messages.content[]", "leads to no text"),
    ],
)
def test_a_path_that_leads_to_no_text_is_an_error(tmp_path, text, message):
    with fpdb.create(tmp_path / "db") as database, pytest.raises(fpdb.ParameterError, match=message):
        database.ingest_table(CHATS["pyarrow"](chats()), text=text, id=None)


def test_rows_without_text_or_id(tmp_path):
    table = pyarrow.table({"id": ["a", None, "c", "d"], "text": ["x" * 100, "y" * 100, None, ""]})
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest_table(table, prefix="t/")
        assert (summary.documents, summary.skips) == (3, 1)
        assert [(skip.name, skip.reason) for skip in summary.skipped] == [("t/c", "its text is null")]
        assert [info.name for info in database.documents()] == ["t/a", "t/:2", "t/d"]


def test_rows_that_are_null_are_no_documents(tmp_path):
    columns = [pyarrow.array([10, 11, 12]), pyarrow.array(["ten " * 30, "eleven " * 30, "twelve " * 30])]
    rows = pyarrow.StructArray.from_arrays(columns, names=["id", "text"], mask=pyarrow.array([False, True, False]))
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest_table(rows)
        assert [(skip.name, skip.reason) for skip in summary.skipped] == [(":2", "its row is null")]
        assert [info.name for info in database.documents()] == ["10", "12"]


def test_dictionaries_are_names_and_metadata(tmp_path):
    ids = [f"i{number % 7}/{number}" for number in range(50)]
    kinds = [None if number % 5 == 0 else f"k{number % 3}" for number in range(50)]
    texts = [f"a text of some length, number {number}, which is enough" for number in range(50)]
    plain = pyarrow.table({"id": ids, "text": texts, "kind": kinds})
    coded = pyarrow.table({name: plain[name].dictionary_encode() for name in plain.column_names})
    found = []
    for name, table in [("plain", plain), ("coded", coded.slice(0, 20)), ("rest", coded.slice(20))]:
        with fpdb.create(tmp_path / name) as database:
            database.ingest_table(table, keep=["kind"])
            found.append(stored(database))
    assert found[0] == found[1] + found[2] and len(found[0]) == 50
    assert found[0][1][2] == {"id": "i1/1", "kind": "k1"} and "kind" not in found[0][0][2]


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"body": ["x"]}, {}, "no column text .* it has body"),
        ({"text": ["x"]}, {}, r"no column id \(id\)"),
        ({"text": [1], "id": [1]}, {}, "of type Int64: cast it to text"),
        ({"text": ["x"], "id": [[1]]}, {}, "cast it to text"),
        ({"text": ["x"], "id": [1]}, {"keep": ["url"]}, r"no column url \(keep\)"),
    ],
)
def test_columns_that_are_not_there_are_named(tmp_path, columns, options, words):
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(fpdb.ParameterError, match=words):
            database.ingest_table(pyarrow.table(columns), **options)
        with pytest.raises(TypeError, match="not a table"):
            database.ingest_table({"text": ["x"]})
        with pytest.raises(fpdb.ParameterError, match="a table is expected"):
            database.ingest_table(pyarrow.chunked_array([["x"]]))


def test_a_stream_that_fails_ends_the_ingest_with_its_words(tmp_path, table):
    def batches():
        yield table.slice(0, 100).combine_chunks().to_batches()[0]
        raise ValueError("no more rows today")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, batches())
    with fpdb.create(tmp_path / "db") as database:
        with pytest.raises(fpdb.ParameterError, match="no more rows today"):
            database.ingest_table(reader)
        assert database.ingest_table(table).documents == len(table)


def as_json(data):
    """The rows of a pyarrow table as in the JSON: without fields that the JSON leaves out."""

    def plain(value, kind):
        if value is None:
            return None
        if pyarrow.types.is_map(kind):
            return dict(value)
        if pyarrow.types.is_struct(kind):
            made = {field.name: plain(value[field.name], field.type) for field in kind}
            return {name: item for name, item in made.items() if item is not None or name in NULLS}
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
            return [plain(item, kind.value_type) for item in value]
        return value

    return [plain(row, pyarrow.struct(list(data.schema))) for row in data.to_pylist()]


# Fields that are null in the JSON. It leaves out other fields without a value.
NULLS = {"interval", "coverage", "inferred", "agreement", "source"}


def test_answers_are_the_json_column_for_field(samples, tmp_path):
    queries = sorted((SAMPLES / "planted").glob("*.txt"))
    answers = samples.query(queries)
    assert as_json(pyarrow.table(answers)) == answers.to_dicts()
    sampled = samples.query(queries, mode="resemblance", passages=False)
    assert any(match["interval"] for row in sampled.to_dicts() for match in row["matches"])
    assert as_json(pyarrow.table(sampled)) == sampled.to_dicts()
    for rows in [samples.pairs(), samples.dedup("containment").removable]:
        assert len(rows) > 0
        assert as_json(pyarrow.table(rows)) == rows.to_dicts()
    documents = pyarrow.table(samples.documents())
    assert as_json(documents) == program("list", "--db", samples.path)
    # Metadata, versions, members and text that is not available.
    with fpdb.create(tmp_path / "db") as database:
        database.ingest([fpdb.Document("a", "x y z " * 50, {"group": "g", "id": "1"})], on_change="both")
        database.ingest([fpdb.Document("b", "x y z " * 50 + "!", {"id": "2"}), ("c", "x y z " * 50 + "?")])
        for rows in [database.query(["x y z " * 50]), database.pairs(), database.dedup("resemblance").removable]:
            assert len(rows) > 0
            assert as_json(pyarrow.table(rows)) == rows.to_dicts()
        undecided = database.dedup("resemblance", budget=0, keep="first").undecided
        assert as_json(pyarrow.table(undecided)) == undecided.to_dicts()


def test_nothing_is_a_table_too(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        for rows in [database.pairs(), database.dedup(), database.documents(), database.query([])]:
            assert pyarrow.table(rows).num_rows == 0
            assert pyarrow.schema(rows) == pyarrow.table(rows).schema


def test_everybody_reads_the_answers(samples):
    pairs = samples.pairs(min_shared=1)
    expected = [(pair.a, pair.b, pair.shared) for pair in pairs]
    frame = polars.DataFrame(pairs)
    assert list(frame.select("a", "b", "shared").iter_rows()) == expected
    frame = pandas.DataFrame.from_arrow(pairs)
    assert list(frame[["a", "b", "shared"]].itertuples(index=False, name=None)) == expected
    rows = pyarrow.table(pairs)
    assert duckdb.sql("select a, b, shared from rows").fetchall() == expected
    assert duckdb.sql("select count(*) from pairs").fetchall() == [(len(pairs),)]
    matches = polars.DataFrame(samples.query([text for _, text in paragraphs()[:50]])).explode("matches")
    assert matches["matches"].struct.field("score").max() == 1 and matches.height >= 50
    json.dumps(pairs.to_dicts())


def test_queries_of_a_column(samples, table):
    answers = samples.query(polars.from_arrow(table)["text"], passages=False, top=1)
    assert [answer.query.name for answer in answers] == [str(row) for row in range(len(table))]
    for answer, name in zip(answers, table["id"].to_pylist(), strict=True):
        assert answer[0].document == f"data-samples/federalist/{name.split('/')[0]}.txt" or answer[0].score == 1
    one = samples.query(table["text"].slice(5, 1))
    text = table["text"][5].as_py()
    assert text[one[0][0].passages[0].query.slice] == one[0][0].passages[0].query.text


@pytest.mark.parametrize("profile", ["prose", "words", fpdb.Profile(k=5, w=4), fpdb.Profile("text", w=200)])
def test_fingerprints_are_those_that_a_database_holds(tmp_path, table, profile):
    made = fpdb.fingerprint(table["text"], profile)
    with fpdb.create(tmp_path / "db", profile) as database:
        database.ingest_table(table)
        for info, found in zip(database.documents(), made, strict=True):
            assert len(found.hashes) == len(found.positions) == info.fingerprints
            assert len(set(found.hashes)) == info.distinct
            assert found.positions == sorted(found.positions)
    texts = table["text"].to_pylist()
    assert pyarrow.table(fpdb.fingerprint(iter(texts), profile, threads=1)) == pyarrow.table(made)
    assert polars.DataFrame(made)["hashes"].to_list() == [found.hashes for found in made]


def test_fingerprints_of_nothing():
    made = fpdb.fingerprint(pyarrow.chunked_array([["x" * 100, None, ""], pyarrow.array([], pyarrow.string())]))
    assert made[1] is None and made[2].hashes == [] and made[-1] == made[2] and len(made) == 3
    assert pyarrow.table(made)["hashes"].null_count == 1
    assert len(fpdb.fingerprint([])) == 0
    with pytest.raises(fpdb.ParameterError, match="column of texts"):
        fpdb.fingerprint(pyarrow.array([1]))
    with pytest.raises(TypeError, match="str or bytes"):
        fpdb.fingerprint(["a", 3])


def test_metadata_are_written_as_those_of_the_same_parquet_file(tmp_path):
    import datetime

    floats = [0.0, -1.5, 1e20, 0.1, float("nan"), 1e16]
    times = [datetime.datetime(2020, 1, 2, 3, 4, 5, 678900), datetime.datetime(1960, 1, 1), None] * 2
    columns = {"text": ["a text that is long enough to be one " * 3] * 6, "f64": floats, "f32": pyarrow.array(floats, pyarrow.float32())}
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Berlin"):
            array = pyarrow.array(times, pyarrow.timestamp("us")).cast(pyarrow.timestamp(unit), safe=False)
            columns[f"t{unit}{zone}"] = array.cast(pyarrow.timestamp(unit, zone))
    columns["date"] = pyarrow.array([datetime.date(2020, 1, 2)] * 6)
    columns["bool"] = [True, False, None] * 2
    columns["u64"] = pyarrow.array([2**64 - 1, 0, 1, 2, 3, 4], pyarrow.uint64())
    table = pyarrow.table(columns)
    file = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(table, file)
    keep = [name for name in table.column_names if name != "text"]
    with fpdb.create(tmp_path / "file") as one, fpdb.create(tmp_path / "table") as other:
        assert one.ingest(file, keep=keep).added == other.ingest_table(table, keep=keep, id=None).added == 6
        assert [info.metadata for info in other.documents()] == [info.metadata for info in one.documents()]


def test_data_sets_that_are_streams_have_one_schema(tmp_path):
    def rows():
        for number in range(9000):
            yield {"id": str(number), "text": f"row number {number} of a stream, long enough", "url": None if number < 8000 else "u"}

    stream = datasets.IterableDataset.from_generator(rows)
    with fpdb.create(tmp_path / "db") as database:
        assert database.ingest_table(stream).added == 9000
        assert database.ingest_table(stream, keep="url", prefix="p/").added == 9000
        assert database.documents_named("p/8999")[0].metadata == {"id": "8999", "url": "u"}
        with pytest.raises(fpdb.ParameterError, match="no column body .* it has id, text, url"):
            database.ingest_table(stream, text="body")
        with pytest.raises(fpdb.ParameterError, match="is empty"):
            database.ingest_table(datasets.IterableDataset.from_generator(lambda: iter(())))
        with pytest.raises(TypeError, match="give one of train"):
            database.ingest_table(datasets.DatasetDict({"train": datasets.Dataset.from_dict({"id": [1], "text": ["x"]})}))
        with pytest.raises(fpdb.ParameterError, match="transform"):
            database.ingest_table(datasets.Dataset.from_dict({"id": [1], "text": ["x"]}).with_transform(lambda rows: rows))
