#!/usr/bin/env python3
"""How well copies of programs are told from independent solutions: the IR-Plag data, for several k and w.

usage: tools/experiments/irplag.py PATH-OF-FPDB DATA/irplag [K,W ...]

In each case of the data one program is the original, and fifteen are independent solutions of the same task. The others are copies,
disguised in levels: L1 comments and layout, L2 names, L3 the place of declarations, L4 methods, L5 statements, L6 the logic. For each
K,W (several by default) the script makes a database of unit token and lists its pairs. Prints a Markdown table:

  L1 to L6    the AUC of the level: the share of pairs (copy, independent program) in which the copy resembles the original more. Mean
              over the cases
  L1-L2       the same for the levels 1 and 2 together; `in one`: with the pairs of all cases in one set
  AP          the average precision of the ranking of all pairs, in a case (mean) and of all cases together. Two programs are a true
              pair if both derive from the same original

Standard library only.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

LEVELS = ["L1", "L2", "L3", "L4", "L5", "L6"]
SETTINGS = ["3,1", "5,1", "5,4", "6,4", "7,2", "7,4", "8,2", "8,4", "9,4", "10,4", "12,4", "12,8", "16,8", "23,17"]


def pairs(fpdb, folder, k, w):
    """The resemblance of each pair of documents below the folder that share text."""
    with tempfile.TemporaryDirectory() as database:
        at = ["--db", f"{database}/db", "-q"]
        flags = ["--unit", "token", "-k", k, "-w", w]
        subprocess.run([fpdb, "ingest", *at, *flags, str(folder)], check=True)
        done = subprocess.run([fpdb, "pairs", *at, "--min-resemblance", "0", "--format", "json"], check=True, capture_output=True)
    found = map(json.loads, done.stdout.splitlines())
    return {(pair["a"], pair["b"]): pair["resemblance"] for pair in found}


def level(path):
    return "original" if "/original/" in path else "independent" if "/non-plagiarized/" in path else path.split("/")[-3]


def auc(copies, others):
    return sum((a > b) + (a == b) / 2 for a in copies for b in others) / (len(copies) * len(others))


def average_precision(scored):
    """`scored`: the score and the truth of each pair. Ties count as the average over random orders."""
    groups = {}
    for score, truth in scored:
        good, all_of_them = groups.get(score, (0, 0))
        groups[score] = (good + truth, all_of_them + 1)
    seen, hits, total = 0, 0, 0.0
    for score in sorted(groups, reverse=True):
        good, all_of_them = groups[score]
        for place in range(1, all_of_them + 1):
            total += good / all_of_them * (hits + good * place / all_of_them) / (seen + place)
        seen, hits = seen + all_of_them, hits + good
    return total / hits


def ranked(files, score):
    derived = {path: level(path) != "independent" for path in files}
    same_case = lambda a, b: a.split("/case-")[1][:2] == b.split("/case-")[1][:2]
    couples = [(a, b) for i, a in enumerate(files) for b in files[i + 1:]]
    return average_precision([(score(a, b), derived[a] and derived[b] and same_case(a, b)) for a, b in couples])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    fpdb, data = sys.argv[1], pathlib.Path(sys.argv[2])
    cases = sorted(path for path in data.iterdir() if path.name.startswith("case-"))
    print("| k, w | " + " | ".join(LEVELS) + " | L1-L2 | in one | AP in a case | AP in all |")
    print("|---|" + "--:|" * 10)
    for setting in sys.argv[3:] or SETTINGS:
        k, w = setting.split(",")
        likeness = pairs(fpdb, data, k, w)
        score = lambda a, b: likeness.get((a, b), likeness.get((b, a), 0.0))
        aucs, copies, others, precisions, everything = [], [], [], [], []
        for case in cases:
            files = sorted(str(path) for path in case.rglob("*.java"))
            original = next(path for path in files if level(path) == "original")
            to_original = lambda wanted: [score(original, path) for path in files if level(path) in wanted]
            independent = to_original(["independent"])
            aucs.append([auc(to_original([one]), independent) for one in LEVELS])
            aucs[-1].append(auc(to_original(["L1", "L2"]), independent))
            copies, others = copies + to_original(["L1", "L2"]), others + independent
            precisions.append(ranked(files, score))
            everything += files
        means = [sum(column) / len(cases) for column in zip(*aucs)]
        row = [*means, auc(copies, others), sum(precisions) / len(cases), ranked(everything, score)]
        print(f"| {k}, {w} | " + " | ".join(f"{value:.3f}" for value in row) + " |", flush=True)


if __name__ == "__main__":
    main()
