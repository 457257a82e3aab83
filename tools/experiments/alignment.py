#!/usr/bin/env python3
"""How well do passages mark re-used text, from verbatim copies to summaries? Judged by PlagDet.

usage: tools/experiments/alignment.py PROGRAM DATA [--more HTML] [--wordnet FOLDER] [--pairs N] [--seed S] [--unrelated N]
                                      [--kinds tuned|left-out|all] [--set "NAME: FLAGS"]...

PROGRAM is the compiled fpdb, DATA the folder with `bible`, `codes` and `federalist`. The script makes pairs of a suspicious document
and a source from these texts, from the pages of --more (Debian's package `anarchism`, in /usr/share/doc/anarchism/html), and with the
synonyms of --wordnet (`wordnet-base`, in /usr/share/wordnet). rewriting.py describes the kinds of pairs.

Passages come from `fpdb diff --format json`. PlagDet is that of Potthast et al. (2010): the harmonic mean of precision and
recall, both macro-averaged over characters of both documents, divided by log2(1 + granularity). --unrelated N also makes N pairs
that have nothing in common, half of them within one collection, and prints each passage found in them.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import tempfile

import rewriting

SETTINGS = {
    "`--profile text`": "--profile text",
    "`--profile words`": "--profile words",
    "`--rewritten`": "--rewritten",
}


def overlap(a, b):
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def size(case):
    return sum(end - start for start, end in case)


def covered(one, others):
    """The number of characters of `one`, in both documents, that are covered by those cases of `others` that overlap `one` in both; and
    the number of these cases.
    """
    touching = [other for other in others if all(overlap(one[side], other[side]) for side in (0, 1))]
    total = 0
    for side in (0, 1):
        end = one[side][0]
        for start, stop in sorted(other[side] for other in touching):
            start, stop = max(start, end), min(stop, one[side][1])
            if stop > start:
                total, end = total + stop - start, stop
    return total, len(touching)


def plagdet(results):
    """PlagDet, precision, recall, granularity over pairs of (cases, detections)."""
    precision, recall, hits = [], [], []
    for cases, detections in results:
        precision += [covered(detection, cases)[0] / size(detection) for detection in detections]
        for case in cases:
            part, touching = covered(case, detections)
            recall.append(part / size(case))
            if touching:
                hits.append(touching)
    mean = lambda values: sum(values) / len(values) if values else 0.0
    p, r, g = mean(precision), mean(recall), mean(hits) or 1.0
    return (2 * p * r / (p + r) if p + r else 0.0) / math.log2(1 + g), p, r, g


def detect(program, folder, number, flags):
    """The passages of a pair, in characters (the texts are ASCII)."""
    command = [program, "diff", f"{folder}/{number}.suspicious", f"{folder}/{number}.source", *flags.split(),
               "--format", "json", "-q"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    span = lambda side: (side["start"], side["end"])
    return [(span(passage["query"]), span(passage["document"]))
            for found in answer["matches"] for passage in found["passages"]]


def write(folder, number, kind, corpus, seed):
    """Makes a pair of a kind and writes it. Returns its cases."""
    suspicious, source, cases = rewriting.make(kind, corpus, random.Random(f"{seed} {kind} {number}"))
    for name, text in [("suspicious", suspicious), ("source", source)]:
        pathlib.Path(folder, f"{kind}{number}.{name}").write_text(text.encode("ascii", "replace").decode())
    return cases


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--more", type=pathlib.Path)
    parser.add_argument("--wordnet", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", default="2")
    parser.add_argument("--unrelated", type=int, default=0)
    parser.add_argument("--kinds", choices=["tuned", "left-out", "all"], default="all")
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    settings = dict(item.split(": ", 1) for item in arguments.set) or SETTINGS
    program = str(pathlib.Path(arguments.program).resolve())
    corpus = rewriting.Corpus(arguments.data, arguments.more, arguments.wordnet)
    kinds = {"tuned": rewriting.TUNED, "left-out": rewriting.LEFT_OUT, "all": rewriting.KINDS}[arguments.kinds]
    kinds = [kind for kind in kinds if kind not in rewriting.UNRELATED]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        truth = {f"{kind}{number}": (kind, write(folder, number, kind, corpus, arguments.seed))
                 for kind in kinds for number in range(arguments.pairs)}
        for number in range(arguments.unrelated):
            kind = ["none", "related"][number % 2]
            truth[f"{kind}{number}"] = (kind, write(folder, number, kind, corpus, arguments.seed))
        print(f"{arguments.pairs} pairs a kind, {sum(len(cases) for _, cases in truth.values())} passages, {arguments.unrelated} "
              f"unrelated pairs, seed {arguments.seed}: PlagDet (precision, recall, granularity)\n")
        print("| kind | " + " | ".join(settings) + " |\n" + "|---" * (len(settings) + 1) + "|")
        found = {name: dict(zip(truth, pool.map(lambda number: detect(program, folder, number, flags), truth)))
                 for name, flags in settings.items()}

        def row(name, kinds):
            cells = [plagdet([(cases, found[setting][number]) for number, (kind, cases) in truth.items() if kind in kinds])
                     for setting in settings]
            print(f"| {name} | " + " | ".join("{:.3f} ({:.2f}, {:.2f}, {:.2f})".format(*cell) for cell in cells) + " |")

        for kind in kinds:
            row(kind, {kind})
        row("all", set(kinds))
        for kind in sorted(rewriting.UNRELATED) if arguments.unrelated else []:
            passages = [sum(len(found[setting][number]) for number, (other, _) in truth.items() if other == kind)
                        for setting in settings]
            pairs = sum(other == kind for other, _ in truth.values())
            print(f"| passages in {pairs} pairs, {kind} | " + " | ".join(map(str, passages)) + " |")
        last = list(settings)[-1]
        for number, (kind, _) in truth.items():
            for (start, end), _ in found[last][number] if kind in rewriting.UNRELATED else []:
                text = pathlib.Path(folder, f"{number}.suspicious").read_text()[start:end]
                print(f"\n{number}, {last}: {' '.join(text.split())[:300]}")


if __name__ == "__main__":
    main()
