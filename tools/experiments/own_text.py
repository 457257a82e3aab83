#!/usr/bin/env python3
"""Do pairs of programs rank better when their own text counts too? What `fpdb pairs --own-text` gains and loses.

usage: tools/experiments/own_text.py PATH-OF-FPDB DATA/irplag

Average precision of the ranking of all pairs by structure (the resemblance of the fingerprints), by own text
(`text_resemblance`) and by the larger of the two (`score`), in a database of one view (k 7, w 2), on:
  IR-Plag            as irplag.py has it: within a task, the mean of the tasks, and over all tasks
  other names SEED   modules of Python's library and disguised copies of sixty of them, as disguise.py makes them
  same names SEED    the same copies with the names they had: other order, other literals, other statements only
Then the seconds that `fpdb pairs` takes without and with the flag on the last of these. Standard library only.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import disguise
from irplag import average_precision, ranked

SEEDS = [1, 2, 3]


class SameNames:
    """Takes the place of disguise.Names, and changes nothing."""

    def __init__(self, tree):
        pass

    def visit(self, tree):
        return tree


def pairs(fpdb, folder):
    """The facts about each pair of documents below the folder, and the seconds without and with own text."""
    with tempfile.TemporaryDirectory() as database:
        at = ["--db", f"{database}/db", "-q"]
        subprocess.run([fpdb, "ingest", *at, "--unit", "token", "-k", "7", "-w", "2", str(folder)], check=True)
        command, seconds = [fpdb, "pairs", *at, "--min-resemblance", "0", "--format", "json"], []
        for flags in [], ["--own-text"]:
            start = time.monotonic()
            done = subprocess.run([*command, *flags], check=True, capture_output=True)
            seconds.append(time.monotonic() - start)
    return {frozenset([pair["a"], pair["b"]]): pair for pair in map(json.loads, done.stdout.splitlines())}, seconds


def row(name, precision):
    values = [precision(measure) for measure in ("resemblance", "text_resemblance", "score")]
    print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + " |", flush=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    fpdb, data = sys.argv[1], pathlib.Path(sys.argv[2])
    print("| programs | structure | own text | the larger |")
    print("|---|--:|--:|--:|")
    found, _ = pairs(fpdb, data)
    cases = [sorted(map(str, case.rglob("*.java"))) for case in sorted(data.glob("case-*"))]
    by = lambda measure: lambda a, b: found.get(frozenset([a, b]), {}).get(measure, 0.0)
    row("IR-Plag, in a task", lambda measure: sum(ranked(case, by(measure)) for case in cases) / len(cases))
    row("IR-Plag, all", lambda measure: ranked(sum(cases, []), by(measure)))
    other_names = disguise.Names
    for kind, names in [("other", other_names), ("same", SameNames)]:
        disguise.Names = names
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as folder:
                truth, _ = disguise.corpus(pathlib.Path(folder), seed)
                every = [frozenset(pair) for pair in itertools.combinations(map(str, pathlib.Path(folder).iterdir()), 2)]
                is_true = {pair: frozenset(pathlib.Path(path).name for path in pair) in truth for pair in every}
                found, seconds = pairs(fpdb, folder)
                row(f"{kind} names {seed}", lambda measure: average_precision(
                    [(found.get(pair, {}).get(measure, 0.0), is_true[pair]) for pair in every]))
    print(f"\n{len(found):,} pairs: {seconds[0]:.2f} s, with own text {seconds[1]:.2f} s")


if __name__ == "__main__":
    main()
