#!/usr/bin/env python3
"""Should a repeated statement count once? Average precision by sets of fingerprints, and by sets that count repeats.

usage: WHEEL tools/experiments/repeated.py DATA/irplag [--seeds 1,2] [NAME:LINES=GLOB ...]

A set counts a fingerprint once, however often a program repeats it, so equal statements count as one. The other resemblance
counts repeats: it is the sum of the smaller counts, divided by the sum of the larger ones. Both are computed from the fingerprints
that the package fpdb makes with profile `code`, in each view, on the sets of two_views.py. `WHEEL` is a Python interpreter
that has the package.
"""
import argparse
import collections
import itertools
import pathlib
import statistics
import tempfile

import disguise
import fpdb
import kept_names
from irplag import average_precision, ranked
from two_views import modules

LANGUAGES = {".py": "python", ".c": "c", ".go": "go", ".java": "java"}
VIEWS = ["structure", "text"]


def counts(paths):
    """By path, the counts of the fingerprints in each view. The lowest bit of a hash marks the view of the text."""
    texts = [pathlib.Path(path).read_bytes() for path in paths]
    language = LANGUAGES[pathlib.Path(paths[0]).suffix]
    found = {}
    for path, prints in zip(paths, fpdb.fingerprint(texts, profile="code", format=language)):
        views = [[], []]
        for hash in prints.hashes:
            views[hash & 1].append(hash)
        found[str(path)] = [collections.Counter(view) for view in views]
    return found


def resemblance(a, b, once):
    if once:
        both = len(a.keys() & b.keys())
        either = len(a) + len(b) - both
    else:
        both = sum(min(count, b[hash]) for hash, count in a.items() if hash in b)
        either = a.total() + b.total() - both
    return both / either if either else 0.0


def row(paths, precision):
    of = counts(paths)
    return [precision(lambda a, b: resemblance(of[a][view], of[b][view], once)) for view in range(2) for once in (True, False)]


def ir_plag(data):
    tasks = [sorted(map(str, folder.rglob("*.java"))) for folder in sorted(data.glob("case-*"))]
    every = sum(tasks, [])
    yield "IR-Plag, in a task", row(every, lambda by: statistics.mean(ranked(task, by) for task in tasks))
    yield "IR-Plag, all", row(every, lambda by: ranked(every, by))


def made(make, seeds):
    rows = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            truth = make(pathlib.Path(folder), seed)
            paths = sorted(pathlib.Path(folder).iterdir())
            couples = [(str(a), str(b), frozenset([a.name, b.name]) in truth) for a, b in itertools.combinations(paths, 2)]
            rows.append(row(paths, lambda by: average_precision([(by(a, b), is_true) for a, b, is_true in couples])))
    return [statistics.mean(column) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("irplag", type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--seeds", default="1,2", type=lambda text: [int(seed) for seed in text.split(",")])
    args = parser.parse_intermixed_args()

    def show(name, values):
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + " |", flush=True)

    heads = [f"{view}, {how}" for view in VIEWS for how in ("once", "each time")]
    print("| programs | " + " | ".join(heads) + " |\n|---|" + "--:|" * len(heads))
    for name, values in ir_plag(args.irplag):
        show(name, values)
    for name, names in [("other names", disguise.Names), ("same names", disguise.SameNames)]:
        show(name, made(modules(names), args.seeds))
    for source in args.sources:
        (name, lines), pattern = source.split("=", 1)[0].split(":"), source.split("=", 1)[1]
        make = lambda folder, seed: kept_names.corpus(folder, pattern, int(lines), seed)
        show(f"{name}, {lines} lines", made(make, args.seeds))


if __name__ == "__main__":
    main()
