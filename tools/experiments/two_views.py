#!/usr/bin/env python3
"""How well does `fpdb pairs` rank programs in two views? Average precision on open sets, by the program itself.

usage: tools/experiments/two_views.py PATH-OF-FPDB DATA/irplag [--seeds 1,2] [NAME:LINES=GLOB ...] [-- FLAGS OF pairs]

Ingests each set with profile `code`, lists all pairs, and ranks them by structure (`resemblance`), by the text as written
(`text_resemblance`) and by `score`. Pairs that are not listed share nothing, and come last. The sets:
  IR-Plag, in a task     as irplag.py has it: all tasks in one database, ranked within each, the mean of the tasks
  IR-Plag, a database    the same with a database for each task
  IR-Plag, all           all pairs of all tasks
  other names            modules of Python's library and disguised copies of sixty of them, as disguise.py makes them
  same names             the same copies with the names they had: other order, literals and statements only
  NAME:LINES=GLOB        programs of about LINES lines cut out of these files, and copies that keep their names, as
                         kept_names.py makes them
The sets after IR-Plag are made for each seed; a row has the mean of the seeds. Flags after `--` go to `fpdb pairs`. For example,
`--weight idf` changes the score, but not the columns of the resemblances. Standard library only.
"""
import argparse
import itertools
import pathlib
import statistics
import sys
import tempfile

import disguise
import kept_names
from irplag import average_precision, ranked

MEASURES = ["resemblance", "text_resemblance", "score"]


def by(pairs, measure):
    return lambda a, b: pairs.get(frozenset([a, b]), {}).get(measure, 0.0)


def ir_plag(fpdb, data, flags):
    """The three rows of IR-Plag."""
    folders = sorted(data.glob("case-*"))
    tasks = [sorted(map(str, folder.rglob("*.java"))) for folder in folders]
    together, alone = kept_names.listed(fpdb, data, flags), [kept_names.listed(fpdb, folder, flags) for folder in folders]
    mean = lambda found: [statistics.mean(row) for row in zip(*found)]
    yield "IR-Plag, in a task", mean([[ranked(task, by(together, one)) for one in MEASURES] for task in tasks])
    yield "IR-Plag, a database", mean(
        [[ranked(task, by(pairs, one)) for one in MEASURES] for task, pairs in zip(tasks, alone)]
    )
    yield "IR-Plag, all", [ranked(sum(tasks, []), by(together, one)) for one in MEASURES]


def made(fpdb, make, seeds, flags):
    """The row of sets that `make` writes to a folder, one for each seed, with the number of programs."""
    rows = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            truth = make(pathlib.Path(folder), seed)
            pairs = kept_names.listed(fpdb, folder, flags)
            paths = sorted(pathlib.Path(folder).iterdir())
        every = [(str(a), str(b), frozenset([a.name, b.name]) in truth) for a, b in itertools.combinations(paths, 2)]
        scored = lambda of: average_precision([(of(a, b), is_true) for a, b, is_true in every])
        rows.append([scored(by(pairs, one)) for one in MEASURES])
    return [statistics.mean(row) for row in zip(*rows)], len(paths)


def modules(names):
    """Makes the sets of disguise.py, with the given names."""
    def make(folder, seed):
        disguise.Names = names
        return disguise.corpus(folder, seed)[0]
    return make


def main():
    typed, flags = sys.argv[1:], []
    if "--" in typed:
        place = typed.index("--")
        typed, flags = typed[:place], typed[place + 1:]
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("fpdb")
    parser.add_argument("irplag", type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--seeds", default="1,2", type=lambda text: [int(seed) for seed in text.split(",")])
    args = parser.parse_intermixed_args(typed)

    def show(name, row):
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |", flush=True)

    print("| programs | structure | text | score |\n|---|--:|--:|--:|")
    for name, row in ir_plag(args.fpdb, args.irplag, flags):
        show(name, row)
    for name, names in [("other names", disguise.Names), ("same names", disguise.SameNames)]:
        row, number = made(args.fpdb, modules(names), args.seeds, flags)
        show(f"{name}, {number}", row)
    for source in args.sources:
        (name, lines), pattern = source.split("=", 1)[0].split(":"), source.split("=", 1)[1]
        make = lambda folder, seed: kept_names.corpus(folder, pattern, int(lines), seed)
        row, number = made(args.fpdb, make, args.seeds, flags)
        show(f"{name}, {lines} lines, {number}", row)


if __name__ == "__main__":
    main()
