#!/usr/bin/env python3
"""Archives with an exact answer, at full size: builds each, ingests it, runs `fpdb dedup` and checks every line.

    cases.py --fpdb target/release/fpdb --work /tmp/cases [--scale 1] [A B ... I]

In the profile `words` a document of L distinct words has L - 2 fingerprints; a changed word inside it destroys three.
Prints one line a run: case, documents, removable, seconds and CPU seconds of the dedup, its peak memory, right or wrong.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import time

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def word(number):
    letters = ""
    while True:
        letters = ALPHABET[number % 26] + letters
        number //= 26
        if number == 0:
            return letters
        number -= 1


class Words:
    """Words by number. Shared words are remembered."""

    def __init__(self):
        self.known = {}

    def __call__(self, number):
        found = self.known.get(number)
        if found is None:
            found = word(number)
            if len(self.known) < 200_000:
                self.known[number] = found
        return found


WORDS = Words()
OWN = 10_000_000


def own(document, count):
    first = OWN + document * 1000
    return range(first, first + count)


def case_a(m):
    for i in range(m):
        yield [*range(50), *own(i, 1), *range(51, 102)]


def case_b(m):
    for i in range(m):
        yield [*range(200), *own(i, 40)]


def case_c(m):
    planted = m // 101
    originals = m - planted
    for i in range(originals):
        yield [*range(62), *own(i, 40)]
    for i in range(planted):
        words = [*range(62), *own(i * (originals // planted), 40)]
        words[80] = 5_000_000 + i
        yield words


def case_d(m):
    for i in range(m):
        yield range(i * 50, i * 50 + 1002)


def case_e(m):
    for i in range(m):
        yield range(50 + i)


def case_f(m):
    for i in range(m):
        yield [*range(700), *own(i, 300)]
    for i in range(m // 100):
        words = [*range(700), *own(i * 100, 300)]
        words[850] = 5_000_000 + i
        yield words


def case_g(m):
    for i in range(m):
        yield [*range(900), *own(i, 100)]


def case_h(m):
    draw = random.Random(7)
    for _ in range(m):
        yield [word for block in draw.sample(range(1000), 10) for word in range(block * 50, block * 50 + 50)]


def case_i(m):
    # One document of some 73 MB, then small ones: every hundredth is a part of the large one.
    total = 10_000_000
    yield range(total)
    for i in range(m):
        if i % 100 == 0:
            start = (i * 37) % (total - 60)
            yield range(start, start + 60)
        else:
            yield range(OWN + total + i * 60, OWN + total + i * 60 + 60)


def separated(removed, m, apart):
    kept = [i for i in range(m) if i not in removed]
    return all(b - a > apart for a, b in zip(kept, kept[1:])) and all(abs(d - k) <= apart for d, k in removed.items())


def one_stays(removed, m):
    return len(removed) == m - 1 and len(set(removed.values())) == 1


def plan(scale):
    s = lambda n: max(10, int(n * scale))
    def pairs(m):
        planted = m // 101
        originals = m - planted
        return {frozenset((originals + i, i * (originals // planted))) for i in range(planted)}
    def menus(m):
        return {frozenset((m + i, i * 100)) for i in range(m // 100)}
    as_pairs = lambda removed: {frozenset(item) for item in removed.items()}
    return [
        *(("A", case_a, m, "0.9", [], lambda r, m=m: one_stays(r, m)) for m in (1000, 1001, s(50_000))),
        *(("B", case_b, m, "0.83", [], lambda r, m=m: one_stays(r, m)) for m in (300, s(50_000))),
        *(("B", case_b, m, "0.84", [], lambda r: not r) for m in (300, s(50_000))),
        ("C", case_c, s(859_092), "0.9", [], lambda r, m=s(859_092): as_pairs(r) == pairs(m)),
        ("D", case_d, s(3000), "0.9", ["--keep", "first"],
         lambda r, m=s(3000): [i for i in range(m) if i not in r] == list(range(0, m, 3))),
        ("D", case_d, s(3000), "0.9", [], lambda r, m=s(3000): separated(r, m, 2)),
        *(("E", case_e, m, "0.9", [], lambda r, m=m: r == {i: m - 1 for i in range(m - 1)})
          for m in (s(5000), *([50_000] if scale >= 10 else []))),
        ("F", case_f, s(20_000), "0.8", [], lambda r, m=s(20_000): as_pairs(r) == menus(m)),
        ("G", case_g, s(20_000), "0.8", ["--max-novel", "40"], lambda r: not r),
        ("G", case_g, s(20_000), "0.8", ["--max-novel", "none"], lambda r, m=s(20_000): one_stays(r, m)),
        ("H", case_h, s(20_000), "0.8", [], lambda r: not r),
        ("I", case_i, s(1_000_000), "1", [],
         lambda r, m=s(1_000_000): r == {i + 1: 0 for i in range(0, m, 100)}),
    ]


def run(command, env=None):
    start = time.time()
    # The peak memory of one child. GNU time would report it too, but is not installed everywhere.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.time() - start
    if status != 0:
        sys.exit(f"{command} ended with {status}")
    return out, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fpdb", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    wrong = 0
    print("case documents removable | ingest s | dedup s | cpu s | MiB | answer")
    built = None
    for case, make, m, threshold, flags, is_right in plan(args.scale):
        if args.cases and case not in args.cases:
            continue
        database = args.work / f"{case}-{m}"
        ingest = 0.0
        if built != database:
            if built:
                subprocess.run(["rm", "-rf", str(built)], check=True)
            built = database
            lines = args.work / "documents.jsonl"
            with lines.open("w") as out:
                for i, words in enumerate(make(m)):
                    out.write('{"id":"%d","text":"%s"}\n' % (i, " ".join(map(WORDS, words))))
            subprocess.run(["rm", "-rf", str(database)], check=True)
            limits = ["--limit", "record-size=1GiB"] if case == "I" else []
            command = [args.fpdb, "--db", str(database), "ingest", "-q", "--profile", "words", *limits, str(lines)]
            _, ingest, _, _ = run(command)
            lines.unlink()
        command = [args.fpdb, "--db", str(database), "dedup", "--by", "containment", "--threshold", threshold,
                   "--format", "json", "--memory", args.memory, "-q", *flags]
        out, seconds, cpu, peak = run(command)
        rows = [json.loads(line) for line in out.splitlines()]
        summary = rows.pop()
        removed = {int(row["metadata"]["id"]): row["keep_id"] for row in rows if "remove" in row}
        right = is_right(removed) and summary["undecided"] == 0 and len(removed) == summary["removable"]
        wrong += not right
        print(f"{case} {summary['documents']} {len(removed)} {threshold} {' '.join(flags)} | {ingest:.1f} | {seconds:.2f}"
              f" | {cpu:.2f} | {peak / 1024:.0f} | {'right' if right else 'WRONG'}", flush=True)
    if built:
        subprocess.run(["rm", "-rf", str(built)], check=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
