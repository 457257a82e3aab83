"""Answers: the same as the program's, offsets that index strings, pickling, notebooks."""

import base64
import gzip
import os
import pickle

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings, strategies

import fpdb
from conftest import SAMPLES, paragraphs, program

PLANTED = sorted(path.name for path in (SAMPLES / "planted").glob("*.txt"))


@pytest.mark.parametrize("name", PLANTED)
def test_queries_are_answered_as_the_program_answers_them(samples, name):
    path = SAMPLES / "planted" / name
    theirs = program("query", "--db", samples.path, path)[0]
    mine = samples.query(path)
    assert mine.to_dict() == theirs
    assert samples.query([path])[0].to_dict() == theirs
    name = f"data-samples/planted/{name}"
    assert samples.query(document=name).to_dict() == program("query", "--db", samples.path, "--document", name)[0]
    flags = ["--mode", "resemblance", "--window", "60", "--top", "3", "--min-score", "0.01", "--weight", "idf"]
    theirs = program("query", "--db", samples.path, path, *flags, "--no-passages")[0]
    options = {"mode": "resemblance", "window": 60, "top": 3, "min_score": 0.01, "weight": "idf", "passages": False}
    assert samples.query(path, **options).to_dict() == theirs
    # The query has the same bytes. A query of bytes has no name.
    mine = samples.query(path.read_bytes()).to_dict()
    theirs = program("query", "--db", samples.path, path)[0]
    assert mine["matches"] == theirs["matches"]


def test_pairs_and_dedup_are_those_of_the_program(samples):
    assert samples.pairs().to_dicts() == program("pairs", "--db", samples.path, "--top", "0")
    some = samples.pairs(min_containment=0.5, max_df=None, across=["data-samples/planted/"], weight="idf", top=3)
    flags = ["--min-containment", "0.5", "--max-df", "0", "--across", "data-samples/planted/", "--weight", "idf", "--top", "3"]
    assert some.to_dicts() == program("pairs", "--db", samples.path, *flags)
    for by in ["exact", "resemblance", "containment"]:
        dedup = samples.dedup(by, protect=["data-samples/federalist"])
        theirs = program("dedup", "--db", samples.path, "--by", by, "--protect", "data-samples/federalist")
        assert [*dedup.removable.to_dicts(), dedup.summary.to_dict()] == theirs
    stats = samples.stats()
    theirs = program("stats", "--db", samples.path)[0]
    volatile = {"cache"}
    assert {k: v for k, v in stats.items() if k not in volatile} == {k: v for k, v in theirs.items() if k not in volatile}


def test_no_limit_is_none_or_zero_as_in_the_program(samples):
    query = SAMPLES / "planted" / "essay-light-edits.txt"
    everything = samples.query(query, top=None, max_df=None, passages=False)
    assert len(everything) > 0
    assert samples.query(query, top=0, max_df=0, passages=False) == everything
    theirs = program("query", "--db", samples.path, query, "--top", "0", "--max-df", "0", "--no-passages")[0]
    assert everything.to_dict() == theirs
    pairs = samples.pairs(top=None, max_df=None)
    assert len(pairs) > 0 and samples.pairs(top=0, max_df=0).to_dicts() == pairs.to_dicts()
    by = "containment"
    assert samples.dedup(by, max_df=0).removable.to_dicts() == samples.dedup(by, max_df=None).removable.to_dicts()


def test_a_printed_summary_shows_the_first_of_many_names(tmp_path):
    with fpdb.create(tmp_path / "db") as database:
        summary = database.ingest(fpdb.Document(f"n{number}", None) for number in range(100))
    assert summary.skips == len(summary.skipped) == 100
    printed = repr(summary)
    assert printed.startswith("IngestSummary(documents=0, ") and "skips=100" in printed
    assert printed.count("Skipped(") == 3 and ", ... and 97 more]" in printed


def test_two_files_are_compared_as_the_program_compares_them():
    a, b = SAMPLES / "planted" / "essay-light-edits.txt", SAMPLES / "federalist" / "fed67.txt"
    theirs = program("diff", a, b)[0]
    assert fpdb.diff(a, b).to_dict() == theirs
    texts = fpdb.diff(a.read_text(encoding="utf-8"), b.read_bytes())
    assert texts[0].to_dict()["passages"] == theirs["matches"][0]["passages"]
    words = program("diff", "--profile", "words", "--rewritten", a, b)[0]
    assert fpdb.diff(a, b, rewritten=True).to_dict() == words
    assert len(fpdb.diff("one text", "another text")) == 0
    assert fpdb.diff(a, b, boilerplate=[b]).to_dict() == program("diff", a, b, "--boilerplate", b)[0]


# Letters of many scripts, marks, characters beyond the first plane, and characters that are not letters.
WORDS = strategies.text(
    strategies.characters(min_codepoint=0x20, max_codepoint=0x1FFFF, exclude_categories=["Cs"]), max_size=40
)
# Each of these letters is a separate symbol in the standard form.
SHARED = strategies.text(strategies.sampled_from("abcdefghiжзийκλμνξאבגדאあいうえお漢字語𐐨𐐩𐐪𐐫"), min_size=60, max_size=120)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=WORDS, shared=SHARED, after=WORDS, other_before=WORDS, other_after=WORDS)
def test_slices_index_strings(before, shared, after, other_before, other_after):
    a, b = f"{before} {shared} {after}", f"{other_before} {shared} {other_after}"
    answer = fpdb.diff(a, b)
    assert len(answer) == 1, "what is shared is longer than the guarantee"
    found = False
    for passage in answer[0].passages:
        assert passage.exact
        for text, side in [(a, passage.query), (b, passage.document)]:
            assert text[side.slice] == side.text == text.encode()[side.start : side.end].decode()
        found |= shared in a[passage.query.slice] and shared in b[passage.document.slice]
    assert found


def test_slices_of_many_texts_of_every_script(tmp_path):
    # 20,000 texts, each with letters of one of the other blocks of Unicode. Exact passages are equal on both sides.
    shared = "the quick brown fox jumps over the lazy dog while nobody looks at all"
    texts = {}
    for index in range(20_000):
        begin = 0x20 + (index * 7919) % 0x2FFA0
        strange = "".join(chr(at) for at in range(begin, begin + 12) if not 0xD800 <= at < 0xE000)
        texts[f"t{index}"] = f"{strange} {shared} {strange[::-1]}"
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(texts, store_text=True)
        # The long form queries with each of them.
        step, top = (1, 3) if os.environ.get("FPDB_SOAK") else (400, 20)
        queries = list(texts.values())[::step]
        for query, answer in zip(queries, database.query(queries, top=top), strict=True):
            assert len(answer) == top
            for match in answer:
                stored = texts[match.document]
                for passage in match.passages:
                    assert passage.exact
                    left, right = query[passage.query.slice], stored[passage.document.slice]
                    assert (left, right) == (passage.query.text, passage.document.text)
                    if passage.agreement == 1:
                        assert letters(left) == letters(right)
                assert any(shared in query[passage.query.slice] for passage in match.passages)


def letters(text):
    import unicodedata

    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return [letter for letter in folded if letter.isalnum()]


def test_text_in_other_encodings_has_offsets_and_no_slices(samples):
    answer = samples.query(SAMPLES / "planted" / "paper-10-utf16.txt")
    assert answer[0].identical and answer[0].text is None, "the identical document comes first, in UTF-16 too"
    match = next(match for match in answer if not match.identical)
    passage = match.passages[0]
    assert passage.query.slice is None and passage.query.end > 1000
    assert match.text is not None


def test_answers_are_pickled(samples):
    answer = samples.query((SAMPLES / "planted" / "essay-lifted-paragraphs.txt").read_text(encoding="utf-8"))
    copy = pickle.loads(pickle.dumps(answer))
    assert copy == answer and copy.to_dict() == answer.to_dict()
    # The slices were pickled, though the text was not.
    assert copy[0].passages[0].query.slice == answer[0].passages[0].query.slice is not None
    assert copy[0].passages[0].document.slice == answer[0].passages[0].document.slice is not None
    many = samples.query([text for _, text in paragraphs()[:5]])
    for rows in [many, samples.pairs(), samples.dedup("containment").removable]:
        copy = pickle.loads(pickle.dumps(rows))
        assert type(copy) is type(rows) and copy == rows and copy.to_dicts() == rows.to_dicts()
        assert copy[-1].to_dict() == rows[len(rows) - 1].to_dict() and len(rows[:2]) == 2
    for thing in [samples.profile, samples.dedup().summary, next(iter(samples.documents())), samples.dedup("containment")]:
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_notebooks_show_passages_side_by_side(samples):
    text = (SAMPLES / "planted" / "essay-lifted-paragraphs.txt").read_text(encoding="utf-8")
    shown = samples.query("<b>" + text)._repr_html_()
    assert shown.count("The regular distribution of power") + shown.count("Wherever two or more persons") >= 2
    assert "fed51.txt" in shown and "<b>" not in shown.replace("<b>", "", 0).split("</style>")[0]
    assert "lines 43-64" in shown
    for rows in [samples.pairs(), samples.dedup("containment"), samples.pairs(min_shared=10**9)]:
        assert "<" in rows._repr_html_()
    assert "25 w" not in repr(samples) and "k 25, w 20" in repr(samples)


def test_profiles():
    assert fpdb.Profile() == fpdb.Profile("prose") == fpdb.Profile(k=25)
    assert fpdb.Profile(unit="word", k=3, w=4, words="unicode").guarantee == 6
    assert fpdb.Profile(selection="mod:7").guarantee is None
    with pytest.raises(fpdb.ParameterError):
        fpdb.Profile(k=0)
    with pytest.raises(fpdb.ParameterError):
        fpdb.Profile("novel")
    with pytest.raises(AttributeError):
        fpdb.Profile().k = 3


SHARED_LINES = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity."
)


def mail(text):
    head = "From: a@b.c\nTo: d@e.f\nSubject: hi\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nMIME-Version: 1.0\n"
    kind = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    return (head + kind).encode() + base64.encodebytes(text.encode())


@pytest.mark.parametrize(("name", "made"), [("a.txt.gz", lambda text: gzip.compress(text.encode())), ("a.eml", mail)])
def test_texts_of_unpacked_and_extracted_queries_are_what_offsets_count(tmp_path, name, made):
    packed, plain = tmp_path / name, tmp_path / "b.txt"
    packed.write_bytes(made(f"Some words before: {SHARED_LINES}"))
    plain.write_text(f"Other words come here first, then: {SHARED_LINES}")
    with fpdb.create(tmp_path / "db") as database:
        database.ingest([plain])
        answers = [database.query(packed), database.query([packed, plain])[0], fpdb.diff(packed, plain)]
        if name == "a.eml":
            document = fpdb.Document(name, packed.read_bytes())
            answers += [database.query(document), database.query([document])[0], fpdb.diff(document, plain)]
        for answer in answers:
            passage = answer[0].passages[0]
            assert passage.exact and passage.query.text in SHARED_LINES and len(passage.query.text) > 150
            assert passage.document.text in SHARED_LINES
            assert SHARED_LINES[:40] in answer._repr_html_().replace("&#x27;", "'")
    passage = fpdb.diff(plain, packed)[0].passages[0]
    assert passage.document.text in SHARED_LINES and len(passage.document.text) > 150


def test_attachments_of_mails_are_counted_and_documents_tell_the_time_of_their_file(tmp_path):
    path = tmp_path / "a.eml"
    attached = "--x\nContent-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\n1,2\n"
    head = "From: a@b.c\nTo: d@e.f\nSubject: hi\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
    path.write_text(f"{head}--x\nContent-Type: text/plain\n\n{SHARED_LINES}\n{attached}{attached}--x--\n")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    with fpdb.create(tmp_path / "db") as database:
        assert database.ingest([path]).attachments == 2
        answers = database.query([path])
        assert answers[0].query.attachments == 2
        assert pyarrow.table(answers)["query"][0].as_py()["attachments"] == 2
        database.ingest({"of no file": SHARED_LINES})
        assert [info.modified for info in database.documents()] == [1_600_000_000, None]
        assert pyarrow.table(database.documents())["modified"].to_pylist() == [1_600_000_000, None]
    with fpdb.create(tmp_path / "other") as database:
        summary = database.ingest([path], attachments=True)
        assert (summary.added, summary.attachments) == (3, 0)
        names = ["a.eml", "a.eml!a.csv", "a.eml!a (2).csv"]
        assert [info.name for info in database.documents()] == [str(tmp_path / name) for name in names]
        answers = database.query_below(path, attachments=True)
        assert [(answer.query.name, answer.query.attachments) for answer in answers] == [
            (str(tmp_path / name), 0) for name in names
        ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "shift_jis"])
def test_texts_that_are_not_utf_8_are_none(tmp_path, encoding):
    before = "日本語の文章です、少し長くします。" * 20 if encoding == "shift_jis" else "Vörwörter hier, für alle Fälle: " * 3
    text = (before + SHARED_LINES).encode(encoding)
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"stored": text}, store_text=True)
        for answer in (fpdb.diff(text, SHARED_LINES), database.query(text)):
            side = answer[0].passages[0].query
            assert side.end > side.start and (side.text, side.slice) == (None, None)
        match = database.query(SHARED_LINES)[0]
        assert (match.passages[0].document.text, match.text) == (None, None)
        assert match.passages[0].query.text in SHARED_LINES
        assert database.text(match.id) == text


def test_a_file_that_has_changed_since_has_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Before: " + SHARED_LINES)
    first, second = fpdb.diff(path, SHARED_LINES), fpdb.diff(path, SHARED_LINES)
    assert first[0].passages[0].query.text in SHARED_LINES
    path.write_text("Now something else, and longer, stands before: " + SHARED_LINES)
    assert second[0].passages[0].query.text is None


@pytest.mark.parametrize("head", [
    "From: a@example.org\nTo: b@example.org\nSubject: hi\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\n", "%PDF-1.4\n", "PK\x03\x04 ",
    "\0\1\2\0\3 ", "<html><p>",
])
def test_a_string_is_indexed_whatever_it_looks_like(tmp_path, head):
    text = head + SHARED_LINES
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": SHARED_LINES}, store_text=True)
        column = pyarrow.chunked_array([[text]])
        answers = [database.query(text), database.query([text])[0], database.query(column)[0], fpdb.diff(text, SHARED_LINES)]
        for answer in answers:
            side = answer[0].passages[0].query
            assert text[side.slice] == side.text and side.text.startswith("It was the best")


@pytest.mark.parametrize("head", ["%!PS is how it begins. ", "%PDF-1.4\n", "{\\rtf1 is how it begins. ", "PK\x03\x04 "])
def test_a_string_is_stored_as_text_whatever_it_looks_like(tmp_path, head):
    text = head + SHARED_LINES
    with fpdb.create(tmp_path / "db") as database:
        summaries = [
            database.ingest({"a": text}),
            database.ingest_table(pyarrow.table({"text": [text], "id": ["b"]})),
            database.ingest_table(pyarrow.table({"text": [text.encode()], "id": ["c"]})),
        ]
        assert [(summary.added, summary.failures) for summary in summaries] == [(1, 0)] * 3
        assert [info.format for info in database.documents()] == ["text"] * 3


def test_passages_of_pairs_have_texts_and_reports_are_sequences(tmp_path):
    a, b = f"Ein Anfang für sich: {SHARED_LINES}", f"Something else comes before: {SHARED_LINES}"
    with fpdb.create(tmp_path / "db") as database:
        database.ingest({"a": a, "b": b, "c": b}, store_text=True)
        pair = next(pair for pair in database.pairs(passages=True, min_resemblance=0.0) if (pair.a, pair.b) == ("a", "b"))
        passage = pair.passages[0]
        assert a[passage.query.slice] == passage.query.text and b[passage.document.slice] == passage.document.text
        assert "best of times" in passage.query.text
        dedup = database.dedup("exact")
        assert dedup[0] == dedup[-1] == dedup[:][0] == next(iter(dedup))
        with pytest.raises(IndexError):
            dedup[1]


def test_slices_are_counted_from_places_near_by():
    from fpdb._answers import _CodePoints

    text = "aß語𐐨\n" * 3000
    data = text.encode()
    points, offset = _CodePoints(data), 0
    for count, letter in enumerate(text):
        assert points.before(offset) == count
        inside = offset + 1
        offset += len(letter.encode())
        assert inside == offset or points.before(inside) is None
    assert points.before(len(data)) == len(text) and points.before(len(data) + 1) is None
    broken = _CodePoints(data[:5000] + b"\xff" + data)
    assert broken.before(10) is not None and broken.before(5001) is None


def test_passages_in_a_pdf_have_pages(tmp_path):
    pages = [[f"{place * 7919 % 1009} words of page {page} in line {place}" for place in range(40)] for page in range(3)]
    (tmp_path / "a.pdf").write_bytes(_pdf([pages[0], [], pages[1], pages[2]]))
    query = "\n".join(pages[1][20:] + pages[2][:20])
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(str(tmp_path / "a.pdf"))
        answer = database.query(query)
        passage = max(answer[0].passages, key=lambda passage: passage.symbols)
        assert passage.document.pages == (3, 4) and passage.query.pages is None
        assert passage.document.to_dict()["pages"] == [3, 4] and "pages" not in passage.query.to_dict()
        assert pickle.loads(pickle.dumps(passage)).document.pages == (3, 4)
        assert "pages 3-4, lines" in answer._repr_html_()


def _pdf(pages):
    """A PDF with these lines on its pages."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Courier>>"]
    kids = []
    for lines in pages:
        drawn = "BT /F1 10 Tf 12 TL 40 780 Td " + "".join(f"({line}) Tj T* " for line in lines) + "ET"
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
        kids.append(len(objects) + 1)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {len(objects)} 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
        )
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>"
    made, places = "%PDF-1.5\n", []
    for number, content in enumerate(objects):
        places.append(len(made))
        made += f"{number + 1} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer<</Root 1 0 R/Size {len(objects) + 1}>>\nstartxref\n{len(made)}\n%%EOF\n"
    return (made + end).encode()
