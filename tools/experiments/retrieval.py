#!/usr/bin/env python3
"""Does `query --rewritten` find the documents that a comparison with each document finds, and at which cost?

usage: tools/experiments/retrieval.py PROGRAM DATA FOLDER [--more HTML] [--wordnet FOLDER] [--documents N] [--queries N] [--seed S]
                                      [--every N] [--reference PROGRAM]

PROGRAM is the compiled fpdb, DATA the folder with `bible`, `codes` and `federalist`. --more and --wordnet are those of
alignment.py. FOLDER keeps the documents and databases, so that a second run needs less time.

Queries are the suspicious documents of rewriting.py, --queries of each kind. The archive has their sources, and stretches of the same
texts up to 3,169 documents. Then it is filled up to --documents with documents made of stretches of two to seven words of these texts,
so that k-grams of the queries occur everywhere. Prints the share of true sources that are found, and the share among the first 50
matches; the CPU time of a query in user mode; and the number of compared documents. --reference names a program that compares every
document that shares a fingerprint: then also prints how many of its documents with a passage PROGRAM finds. --every uses each Nth query.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess

import rewriting

REAL = 3169


def ascii_of(text):
    return text.encode("ascii", "replace").decode()


def stretches(corpus, rng):
    texts = [text for texts in corpus.collections.values() for text in texts]
    texts += [" ".join(lines) for version in ["ASV", "YLT"] for lines in corpus.bible[version].values()]
    pieces = []
    for text in texts:
        at = 0
        while at + 1500 < len(text):
            size = rng.randrange(1500, 9000)
            pieces.append(text[at:at + size])
            at += size
    rng.shuffle(pieces)
    return texts, pieces


def make(arguments, folder):
    """Writes queries and documents that do not exist yet."""
    corpus = rewriting.Corpus(arguments.data, arguments.more, arguments.wordnet)
    (folder / "queries").mkdir(parents=True, exist_ok=True)
    (folder / "docs").mkdir(exist_ok=True)
    written = 0
    for kind in rewriting.KINDS:
        for number in range(arguments.queries):
            suspicious, source, _ = rewriting.make(kind, corpus, random.Random(f"{arguments.seed} {kind} {number}"))
            (folder / "queries" / f"{kind}{number}.txt").write_text(ascii_of(suspicious))
            (folder / "docs" / f"source-{kind}{number}.txt").write_text(ascii_of(source))
            written += 1
    rng = random.Random(f"fill {arguments.seed}")
    texts, pieces = stretches(corpus, rng)
    for number, piece in enumerate(pieces[:REAL - written]):
        (folder / "docs" / f"p{number:05}.txt").write_text(ascii_of(piece))
        written += 1
    words = [word for text in texts for word in ascii_of(text).split()]
    for number in range(arguments.documents - written):
        below = folder / "more" / f"{number // 1000:03}"
        below.mkdir(parents=True, exist_ok=True)
        made, size, target = [], 0, rng.randrange(300, 1500)
        while size < target:
            length, at = rng.randrange(2, 8), rng.randrange(len(words) - 8)
            made.append(" ".join(words[at:at + length]) + (".\n" if rng.randrange(4) == 0 else ""))
            size += length
        (below / f"{number:06}.txt").write_text(" ".join(made))


def ask(program, folder, query):
    """The answer to a query, and its CPU time in user mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [program, "query", "--db", folder / "db", "--rewritten", "--top", "0", "--format", "json", "-q", query]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout)
    return answer, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("folder", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--more", type=pathlib.Path)
    parser.add_argument("--wordnet", type=pathlib.Path)
    parser.add_argument("--documents", type=int, default=REAL)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--seed", default="table")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--reference", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    folder = arguments.folder
    if not (folder / "db").exists():
        make(arguments, folder)
        stored = [name for name in ["docs", "more"] if (folder / name).exists()]
        command = [arguments.program, "ingest", "--profile", "words", "--db", folder / "db", "-q", *stored]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    kept_path = folder / "reference.json"
    kept = json.loads(kept_path.read_text()) if kept_path.exists() else {}
    times, compared, true, first, sources, both, expected = [], [], 0, 0, 0, 0, 0
    for query in sorted((folder / "queries").iterdir())[::arguments.every]:
        answer, time = ask(arguments.program, folder, query)
        times.append(time)
        compared.append(answer.get("compared", 0))
        found = [match["document"] for match in answer["matches"] if match["passages"]]
        if query.stem.rstrip("0123456789") not in rewriting.UNRELATED:
            sources += 1
            true += f"docs/source-{query.stem}.txt" in found
            first += f"docs/source-{query.stem}.txt" in [match["document"] for match in answer["matches"][:50]]
        if arguments.reference:
            if query.stem not in kept:
                reference, _ = ask(arguments.reference, folder, query)
                kept[query.stem] = [match["document"] for match in reference["matches"] if match["passages"]]
                kept_path.write_text(json.dumps(kept))
            expected += len(kept[query.stem])
            both += len(set(kept[query.stem]) & set(found))
    print(f"{len(times)} queries: {1000 * sum(times) / len(times):.1f} ms CPU each in user mode, at most {1000 * max(times):.1f}; "
          f"{sum(compared) / len(compared):.0f} documents compared")
    print(f"true sources: {true} of {sources} found, {first} among the first 50 matches")
    if expected:
        print(f"documents with a passage: {both} of the {expected} of the reference, {both / expected:.4f}")


if __name__ == "__main__":
    main()
