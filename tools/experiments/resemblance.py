#!/usr/bin/env python3
"""How good are the estimates of `fpdb query --mode resemblance`, and how often do their 95% intervals hold?

For each collection and each k the script makes two databases: one of all k-grams, whose answers are exact, and a winnowed one.
For all ordered pairs of documents, it compares the answers of the winnowed database, at several n, with the exact ones. Another k
gives other hashes, and so another sample of the same pair. So few pairs give many cases.

    resemblance.py PROGRAM FOLDER [--k 25,30] [--sizes] [--only bible]
    resemblance.py --edges

FOLDER holds `bible/*/*.txt` (a folder for each translation, a file for each book), `codes/*.txt` and
`federalist/*.txt`. Missing collections are left out. Writes Markdown. `--edges` needs neither PROGRAM nor FOLDER: it computes how many
fingerprints the edges of shared runs lose. The standard library is enough.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

SAMPLES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, None)
KS = tuple(range(25, 61, 5))
Z = 1.959963984540054

# Shares of the query's fingerprints that are looked up, for the table of all collections.
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)

# Pairs below this exact containment are left out, because there is nothing to estimate if nothing is shared.
LEAST = 0.005

Collection = collections.namedtuple("Collection", "name folder whole w")
COLLECTIONS = (
    # First each translation as one document, then each book of each translation.
    Collection("bible", "bible", True, 100),
    Collection("books", "bible", False, 100),
    Collection("codes", "codes", True, 100),
    Collection("federalist", "federalist", True, 20),
)

# The answer of one sample for one pair, and the true values.
Case = collections.namedtuple("Case", "pair k n looked_up of shared reported interval true_c true_r sizes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--k", default=",".join(map(str, KS)), help="values of k [default: %(default)s]")
    parser.add_argument("--only", help="one collection: bible, books, codes or federalist")
    parser.add_argument("--least", type=float, default=LEAST, help="leave out pairs of less exact containment")
    parser.add_argument("--sizes", action="store_true", help="also compare ways to know the two set sizes")
    parser.add_argument("--edges", action="store_true", help="compute the cost of the edges of shared runs")
    options = parser.parse_args()
    if options.edges:
        return edges()
    if options.folder is None:
        parser.error("PROGRAM and FOLDER are needed")
    options.program = str(pathlib.Path(options.program).resolve())
    everything = []
    ks = [int(k) for k in options.k.split(",")]
    for collection in COLLECTIONS:
        if options.only not in (None, collection.name):
            continue
        source = options.folder / collection.folder
        if not source.is_dir():
            print(f"{collection.name} left out: there is no {source}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="fpdb-resemblance-") as work:
            work = pathlib.Path(work)
            documents(source, work / "text", collection.whole)
            cases = []
            for k in ks:
                cases += measure(options.program, work, collection, k, options.least)
                print(f"{collection.name}, k {k}: {len(cases)} cases so far", file=sys.stderr)
        everything += cases
        report(collection, ks, cases, options.least)
        if options.sizes:
            report_sizes(collection, cases)
    report_shares(everything)


def documents(source, target, whole):
    """The documents of a collection. If `whole`, all files in a folder become one document."""
    target.mkdir(exist_ok=True)
    for entry in sorted(source.iterdir()):
        if entry.is_dir() and not whole:
            documents(entry, target / entry.name, whole)
        elif entry.is_dir():
            parts = sorted(entry.glob("*.txt"))
            (target / f"{entry.name}.txt").write_bytes(b"\n".join(part.read_bytes() for part in parts))
        elif entry.suffix == ".txt":
            (target / entry.name).write_bytes(entry.read_bytes())


def measure(program, work, collection, k, least):
    def run(*arguments):
        done = subprocess.run([program, "--quiet", *map(str, arguments)], cwd=work, stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def build(name, *profile):
        run("--db", name, "init", "-k", k, *profile)
        run("--db", name, "ingest", "text", "--format", "json")
        return {document["name"]: document for document in run("--db", name, "list", "--format", "json")}

    def query(db, names, *flags):
        flags = (*flags, "--top", 0, "--no-passages", "--format", "json")
        return zip(names, run("--db", db, "query", *flags, *(f"--document={name}" for name in names)))

    exact_db, winnowed_db = f"exact-{k}", f"winnowed-{k}"
    exact = build(exact_db, "-w", 1, "--selection", "all")
    winnowed = build(winnowed_db, "-w", collection.w)
    names = sorted(exact)
    truth = {}
    for name, answer in query(exact_db, names):
        for match in answer["matches"]:
            if match["containment"] >= least:
                truth[name, match["document"]] = match["containment"], match["resemblance"]
    cases = []
    for n in SAMPLES:
        # This number is larger than the number of fingerprints, so all fingerprints are looked up.
        for name, answer in query(winnowed_db, names, "--mode", "resemblance", "-n", n or 1 << 60):
            matches = {match["document"]: match for match in answer["matches"]}
            looked_up, of = answer["looked_up"], answer["query"]["fingerprints"]
            if n is not None and looked_up == of:
                continue
            for other in names:
                if (name, other) not in truth:
                    continue
                match = matches.get(other, {"shared": 0, "resemblance": 0.0, "interval": None})
                sizes = tuple((exact[one]["distinct"], winnowed[one]["distinct"], winnowed[one]["fingerprints"],
                               exact[one]["fingerprints"]) for one in (name, other))
                true_c, true_r = truth[name, other]
                cases.append(Case((name, other), k, n, looked_up, of, match["shared"], match["resemblance"],
                                  match["interval"], true_c, true_r, sizes))
    for database in (exact_db, winnowed_db):
        shutil.rmtree(work / database)
    return cases


def wilson(found, sampled):
    n, share = sampled, found / sampled
    centre, scale = share + Z * Z / (2 * n), 1 + Z * Z / n
    spread = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def resemblance(containment, a, b):
    both = min(containment * a, a, b)
    return both / (a + b - both)


def covers(interval, value):
    # The bound allows for the rounding of the printed numbers.
    return interval[0] - 1e-9 <= value <= interval[1] + 1e-9


def percent(cases, test):
    return f"{100 * sum(map(test, cases)) / len(cases):.1f}%"


def report(collection, ks, cases, least):
    pairs = len({case.pair for case in cases})
    print(f"\n{collection.name}: w = {collection.w}, k = {', '.join(map(str, ks))}; "
          f"{pairs} ordered pairs with a containment of {least} or more at some k\n")
    print("| n | share of F | cases | c: covered | c: mean error | c: mean abs. error | "
          "r: covered | r: mean error | r: mean abs. error |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n in SAMPLES:
        some = [case for case in cases if case.n == n]
        if not some:
            continue
        c_errors = [case.shared / case.looked_up - case.true_c for case in some]
        r_errors = [case.reported - case.true_r for case in some]
        c_covered = percent(some, lambda case: covers(wilson(case.shared, case.looked_up), case.true_c))
        # The program does not report a document without a match. Such a document gets the interval of a sample without shared
        # fingerprints.
        r_covered = "-" if n is None else percent(some, lambda case: covers(
            case.interval or bounds(case, estimated), case.true_r))
        if n is None:
            c_covered = "-"
        part = statistics.mean(case.looked_up / case.of for case in some)
        print(f"| {n or 'all'} | {part:.3f} | {len(some)} "
              f"| {c_covered} | {statistics.mean(c_errors):+.4f} | {statistics.mean(map(abs, c_errors)):.4f} "
              f"| {r_covered} | {statistics.mean(r_errors):+.4f} | {statistics.mean(map(abs, r_errors)):.4f} |")


def report_shares(cases):
    """Shows, by the share of fingerprints looked up, when a number is no longer an estimate for the k-grams."""
    print("\nall collections, by the share of the query's fingerprints that is looked up\n")
    print("| share of F | cases | c: covered | r: covered | r: covered without room | c: mean error / c | half width / c |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    low = 0.0
    for high in SHARES:
        some = [case for case in cases if low < case.looked_up / case.of <= high and case.n is not None]
        if some:
            ends = [wilson(case.shared, case.looked_up) for case in some]
            c = sum(case.true_c for case in some)
            bias = sum(case.shared / case.looked_up - case.true_c for case in some) / c
            width = sum(end[1] - end[0] for end in ends) / 2 / c
            c_covered = percent(some, lambda case: covers(wilson(case.shared, case.looked_up), case.true_c))
            r_covered = percent(some, lambda case: covers(
                case.interval or bounds(case, estimated), case.true_r))
            bare = percent(some, lambda case: covers(bounds(case, estimated), case.true_r))
            print(f"| {low:g} to {high:g} | {len(some)} | {c_covered} | {r_covered} | {bare} "
                  f"| {bias:+.4f} | {width:.3f} |")
        low = high


def bounds(case, size):
    a, b = map(size, case.sizes)
    return [resemblance(end, a, b) for end in wilson(case.shared, case.looked_up)]


def estimated(size):
    """The set size as the program estimates it: k-grams x distinct / fingerprints."""
    return size[3] * size[1] / size[2]


SIZES = (
    ("distinct k-grams (exact)", lambda size: size[0]),
    ("distinct fingerprints", lambda size: size[1]),
    ("fingerprints", lambda size: size[2]),
    ("k-grams", lambda size: size[3]),
    ("k-grams x distinct / fingerprints", lambda size: size[3] * size[1] / size[2]),
)


def report_sizes(collection, cases):
    """The resemblance with other values for |A| and |B|."""
    print(f"\n{collection.name}, sizes taken as\n")
    print("| sizes | " + " | ".join(f"covered, n {n or 'all'}" for n in SAMPLES if n) + " | error of r from exact c |")
    print("|---|" + "--:|" * sum(1 for n in SAMPLES if n) + "--:|")
    for name, size in SIZES:
        cells = []
        for n in SAMPLES:
            some = [case for case in cases if case.n == n]
            if n is not None:
                cells.append(percent(some, lambda case: covers(bounds(case, size), case.true_r)) if some else "-")
        errors = [abs(resemblance(case.true_c, *map(size, case.sizes)) - case.true_r) for case in cases]
        print(f"| {name} | " + " | ".join(cells) + f" | {statistics.mean(errors):.5f} |")


def edges():
    """How many fingerprints of a shared run of L k-grams do two otherwise unrelated documents both select?

    Let u be the hash at distance i from one edge, and q = 1 - u. The hash u is selected if the nearest smaller hashes on its left
    and on its right are more than w apart. If the hash on its left lies beyond the edge, its place differs between the documents. So only
    one of the two documents may select u. The probability of this is
    q^(w-1) ((w - i) u + q - (1 + q)(1 - q^(w-i))) - q^(2w-i)... Summed over i and integrated over u, it is H(2w) - H(w) - 1/2.
    This tends to ln 2 - 1/2 = 0.193 fingerprints for each edge, for any w.
    """
    print("What both documents select of a shared run of L k-grams, as a share of what one of them selects of it")
    print("(w = 100; formula for L >= w: 1 - (w + 1) (H(2w) - H(w) - 1/2) / L)\n")
    print("| L / w | L + k - 1 at k 50 | simulated | formula |")
    print("|--:|--:|--:|--:|")
    w, random_numbers = 100, random.Random(1)
    per_edge = sum(1 / i for i in range(w + 1, 2 * w + 1)) - 0.5
    for parts in (0.1, 0.25, 0.5, 1, 2, 4, 10, 40):
        length = int(parts * w)
        one = both = 0
        for _ in range(max(50, 200_000 // length // 4)):
            run = [random_numbers.random() for _ in range(length)]
            first, second = (selected_of_run(run, w, random_numbers) for _ in range(2))
            one += len(first) + len(second)
            both += 2 * len(first & second)
        formula = f"{1 - (w + 1) * per_edge / length:.3f}" if length >= w else ""
        print(f"| {parts} | {length + 49} | {both / one:.3f} | {formula} |")

    print("\nHow much of that comes early: with the share s of the query's fingerprints looked up, smallest first, the")
    print("containment comes out too low by the factor 1 - b w / L for runs of L k-grams\n")
    print("| s | " + " | ".join(f"{share:g}" for share in SHARES) + " |")
    print("|---|" + "--:|" * len(SHARES))
    print("| b | " + " | ".join(f"{lost(share, w):.4f}" for share in SHARES) + " |")


def selected_of_run(run, w, random_numbers):
    """The indices that winnowing selects in a run, between hashes that no other document has."""
    hashes = [random_numbers.random() for _ in range(w)] + run + [random_numbers.random() for _ in range(w)]
    selected, queue = set(), collections.deque()
    for index, value in enumerate(hashes):
        while queue and hashes[queue[-1]] >= value:
            queue.pop()
        queue.append(index)
        if queue[0] + w <= index:
            queue.popleft()
        if index >= w - 1:
            selected.add(queue[0])
    return {index - w for index in selected if w <= index < w + len(run)}


def lost(share, w):
    """b of the table above: twice the smallest hashes that one edge loses, divided by the number of them that w k-grams hold."""
    steps = 4000
    # The hashes u that matter, a few 1/w: selected with probability (1-u)^(w-1) (1 + (w-1) u).
    total, held, cost = 2 / (w + 1), 0.0, 0.0
    for step in range(steps):
        u = (step + 0.5) / steps * min(1.0, 15 / w)
        q, du = 1 - u, min(1.0, 15 / w) / steps
        edge = 0.0
        for i in range(w):
            edge += q ** (w - 1) * ((w - i) * u + q - (1 + q) * (1 - q ** (w - i))) - q ** (2 * w - i)
        held += q ** (w - 1) * (1 + (w - 1) * u) * du
        cost += edge * du
        if held >= share * total:
            break
    return 2 * cost / (held * w)


if __name__ == "__main__":
    sys.exit(main())
