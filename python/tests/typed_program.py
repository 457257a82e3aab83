"""A program that type checkers look at: everything that users call, with the types they rely on."""

import sys
from collections.abc import Iterator

import fpdb


def documents() -> Iterator[tuple[str, str]]:
    for number in range(3):
        yield f"d{number}", f"{number}: When in the Course of human events, it becomes necessary for one people"


def told(progress: fpdb.Progress) -> None:
    print(progress.step, progress.done, progress.total)


def names(answer: fpdb.QueryAnswer) -> list[str]:
    return [match.document for match in answer]


def main(path: str) -> None:
    profile = fpdb.Profile("prose", w=10)
    guarantee: int | None = profile.guarantee
    print(guarantee)
    with fpdb.create(path, profile, threads=2) as database:
        summary: fpdb.IngestSummary = database.ingest(documents(), store_text=True, progress=told)
        print(summary.added, summary.failed)
        answer = database.query("When in the Course of human events, it becomes necessary")
        print(names(answer))
        passage: fpdb.Passage = answer[0].passages[0]
        where: slice | None = passage.query.slice
        print(where, passage.document.text)
        many: fpdb.QueryAnswers = database.query(["one text", b"another text"])
        for one in many:
            print(one.query.name, one.corpus_containment)
        pairs: fpdb.Pairs = database.pairs(min_resemblance=0.5)
        print([(pair.a, pair.b, pair.resemblance) for pair in pairs[:2]])
        dedup: fpdb.Dedup = database.dedup("resemblance", threshold=0.9)
        print(dedup.summary.removable, [row.remove for row in dedup])
        plan: fpdb.DedupPlan = database.plan_dedup("containment", threshold=0.9, mode="append")
        print(plan.passes, [row.by for row in dedup.superseded])
        dedup.save(path + ".jsonl")
        applied: fpdb.Application = database.apply(path + ".jsonl", remove=True)
        print(applied.summary.left, [one.act for one in applied])
        repeats: fpdb.Repeats = database.repeats(100)
        print(repeats.summary.repeats, [row.of.document for row in repeats])
        below: fpdb.QueryAnswers = database.query_below(sys.argv[0], top=1)
        print(len(below), below.failed)
        streamed: fpdb.AnswerStream = database.iter_query_below(sys.argv[0], top=1, skip_quotes=True)
        print([one.query.name for one in streamed], streamed.failed)
        written: fpdb.WrittenReport = database.write_report(pairs, path + "-report")
        print(written.files)
        backup: fpdb.Backup = database.backup(path + "-backups", keep=2)
        listed: list[fpdb.ListedBackup] = fpdb.backups(path + "-backups")
        print(backup.number, listed[0].made_at, database.verify().problems)
        for info in database.documents():
            print(info.name, info.metadata.get("id"))
        database.remove("d0", ids=[2])
        removal: fpdb.Removal = database.remove(prefix="d", where={"lang": "en"}, dry_run=True)
        print(removal.selected, removal.unmatched)
        renaming: fpdb.Renaming = database.rename("d1", "d2")
        print(renaming.renamed, renaming.moved)
    with fpdb.open(path) as reader, reader.iter_pairs(min_resemblance=0.5) as stream:
        first: fpdb.Pair | None = next(stream, None)
        print(first)
    try:
        fpdb.open(path + "-not-there")
    except fpdb.DatabaseNotFoundError as error:
        hint: str | None = error.hint
        print(hint)
    comparison: fpdb.QueryAnswer = fpdb.diff("a", "b", profile)
    print(len(comparison))
    selected: fpdb.Fingerprint | None = fpdb.fingerprint(["some text"])[0]
    print(selected)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1])
