"""Checks, backups and merges."""

import pytest
from conftest import paragraphs, program

import fpdb


def test_a_backup_is_listed_and_restored(tmp_path):
    some = paragraphs()[:40]
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(some[:20], store_text=True)
        first = database.backup(tmp_path / "backups")
        database.ingest(some, store_text=True)
        second = database.backup(tmp_path / "backups", quick=True)
        assert (first.number, second.number, second.kept, second.damaged) == (1, 2, 2, [])
        listed = fpdb.backups(tmp_path / "backups")
        assert [(one.number, one.documents) for one in listed] == [(1, 20), (2, 40)]
        assert [one.to_dict() for one in listed] == program("backup", "--list", tmp_path / "backups")
        third = database.backup(tmp_path / "backups", keep=2)
        assert [one.number for one in fpdb.backups(tmp_path / "backups")] == [2, 3] and third.kept == 2
        with pytest.raises(fpdb.DatabaseExistsError):
            fpdb.restore(tmp_path / "db", tmp_path / "backups")
    with fpdb.restore(tmp_path / "newest", tmp_path / "backups") as restored:
        assert restored.writable and len(restored) == 40
        assert restored.query(some[30][1])[0].document == some[30][0]
    with fpdb.open(tmp_path / "db") as reader, pytest.raises(fpdb.ParameterError, match="reading"):
        reader.backup(tmp_path / "backups")
    with pytest.raises(fpdb.ParameterError):
        fpdb.restore(tmp_path / "other", tmp_path / "backups", 1)
    for call in (lambda: fpdb.backups(tmp_path / "db"), lambda: fpdb.restore(tmp_path / "other", tmp_path / "db")):
        with pytest.raises(fpdb.NotADatabaseError):
            call()


def test_verify_names_damage(tmp_path):
    some = paragraphs()[:200]
    with fpdb.create(tmp_path / "db") as database:
        database.ingest(some, store_text=True)
        database.compact()
        sound = database.verify()
        assert (sound.documents, sound.texts, sound.problems) == (200, 200, [])
        assert [sound.to_dict()] == program("verify", "--db", database.path)
        stop = fpdb.StopToken()
        stop.stop()
        with pytest.raises(fpdb.StoppedError):
            database.verify(stop=stop)
    largest = max((tmp_path / "db").rglob("*.sst"), key=lambda file: file.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 3] ^= 0xFF
    largest.write_bytes(data)
    with fpdb.open(tmp_path / "db") as database:
        damaged = database.verify()
        assert damaged.problems and damaged.problems[0].what
        assert [damaged.to_dict()] == program("verify", "--db", database.path, status=2)


def test_a_merge_adds_the_documents_of_another_database(tmp_path):
    some = paragraphs()[:60]
    with fpdb.create(tmp_path / "one") as one, fpdb.create(tmp_path / "two") as two:
        one.ingest(some[:40])
        two.ingest(some[30:])
        planned = one.merge(two, dry_run=True)
        summary = one.merge(two)
        assert (planned.dry_run, planned.added) == (True, summary.added)
        assert (summary.added, summary.unchanged, len(one), len(two)) == (20, 10, 60, 30)
        assert one.query(some[50][1])[0].document == some[50][0]
        assert one.merge(two).added == 0
        with fpdb.create(tmp_path / "words", "words") as words, pytest.raises(fpdb.ParameterError):
            one.merge(words)
    with fpdb.create(tmp_path / "stored") as stored, fpdb.open(tmp_path / "one") as one, fpdb.open(tmp_path / "words", write=True) as words:
        stored.ingest(some, store_text=True)
        assert (words.merge(stored, reread=True).added, words.merge(stored, reread=True).unchanged) == (60, 60)
        assert words.query(some[50][1])[0].document == some[50][0]
        # The database knows neither a text nor a file of these documents.
        words.remove(some[0][0])
        assert (words.merge(one, reread=True).unchanged, words.merge(one, reread=True).failures) == (59, 1)
    with fpdb.open(tmp_path / "one") as reader, fpdb.open(tmp_path / "two") as two:
        with pytest.raises(fpdb.ParameterError, match="reading"):
            reader.merge(two)
