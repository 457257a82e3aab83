#!/usr/bin/env python3
"""An archive of any size whose right answer is known, and a judge of any tool's answer.

    planted.py make DOCUMENTS OUT.jsonl.zst [--seed 1] [--words 300]     writes the documents (plain where OUT ends in .jsonl)
    planted.py judge DOCUMENTS ANSWER.jsonl [--seed 1] [--words 300]     judges `fpdb dedup --format json`, or a list of ids
    planted.py run DOCUMENTS --fpdb PROGRAM --work FOLDER [--profile prose] [--seed 1] [--words 300]

The same size, seed and length give the same documents. The id of a document has its class, its family and its number in the family:

    unique    stays
    copy      3 of the same bytes: one stays
    edited    4 versions, each with few words replaced: one stays
    contained a document and two parts of it: the parts go
    half      2 documents, half of whose texts is the same: both stay
    mass      one text under many headers: one stays
    template  60% of the text of each document is the same in all of them: all stay
    chain     10 documents in steps of 40/300: each removed document is one step from a kept one, and no two kept documents are
    mosaic    10 of many blocks each: all stay

Every expectation holds by a wide margin at a threshold of 0.8 by containment, for words as for characters. With --exact the
judge also computes the score of each removal from the word trigrams of the two texts, and compares it with the answer (profile
`words`). The exit status is 1 if an answer is wrong.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

# Class, share of the documents, number of documents in a family. None: all documents of the class are one family.
CLASSES = [("copy", 0.06, 3), ("edited", 0.10, 4), ("contained", 0.06, 3), ("half", 0.04, 2), ("mass", 0.05, None),
           ("template", 0.05, None), ("chain", 0.03, 10), ("mosaic", 0.03, None), ("unique", 1.0, 1)]
SYLLABLES = [a + b for a in "b c d f g h k l m n p r s t v w st tr pl gr".split() for b in "a e i o u ai ea or an en is".split()]


def vocabulary():
    draw = random.Random(11)
    words = set()
    while len(words) < 50_000:
        words.add("".join(draw.choices(SYLLABLES, k=draw.choice((1, 2, 2, 3, 3, 4)))))
    return sorted(words)


class Archive:
    """The documents, by number."""

    def __init__(self, documents, seed, words):
        self.documents, self.seed, self.length = documents, seed, words
        self.words = vocabulary()
        self.layout = []
        start = 0
        for name, share, size in CLASSES:
            room = documents - start if name == "unique" else int(documents * share)
            if size is not None:
                room -= room % size
            self.layout.append((name, start, start + room, size or max(room, 1)))
            start += room
        # The step puts documents of a family far apart.
        self.step = next(s for s in range(int(documents * 0.618) | 1, 2 * documents + 2, 2) if math.gcd(s, documents) == 1)

    def place(self, number):
        """The class, the family and the number in the family of the document at `number`."""
        index = (number * self.step + self.seed) % self.documents
        for name, start, end, size in self.layout:
            if index < end:
                return name, (index - start) // size, (index - start) % size
        raise IndexError(number)

    def families(self):
        for name, start, end, size in self.layout:
            for family in range((end - start) // size):
                yield name, family, size

    def drawn(self, *key):
        number = 0
        for part in (self.seed, *key):
            number = (number * 1_000_003 + part + 1) & 0xFFFF_FFFF_FFFF
        return random.Random(number)

    def text(self, name, family, member):
        kind = [entry[0] for entry in CLASSES].index(name)
        base = self.drawn(kind, family)
        length = int(self.length * base.uniform(0.7, 1.3))
        pick = lambda draw, count: draw.choices(self.words, k=count)
        if name in ("unique", "copy"):
            return pick(base, length)
        own = self.drawn(kind, family, member + 1)
        if name == "edited":
            words = pick(base, length)
            for _ in range(max(1, length // 150) if member else 0):
                words[own.randrange(3, length - 3)] = own.choice(self.words)
            return words
        if name == "contained":
            words = pick(base, length)
            part = max(length // 3, min(length - 1, 30))
            first = own.randrange(length - part)
            return words[first:first + part] if member else words
        if name == "half":
            shared = pick(base, length)
            return pick(own, length // 2) + shared[length // 2:] if member else shared
        if name == "mass":
            length = self.length
            return pick(own, max(1, length // 60)) + pick(self.drawn(kind, family), length)
        if name == "template":
            length = self.length
            frame = pick(self.drawn(kind, family), length * 6 // 10)
            return frame[:length * 3 // 10] + pick(own, length * 4 // 10) + frame[length * 3 // 10:]
        if name == "chain":
            length, step = self.length, max(1, self.length * 40 // 300)
            return pick(self.drawn(kind, family), length + 9 * step)[member * step:member * step + length]
        block = max(4, self.length // 10)
        count = max(200, self.documents // 1000)
        return [word for number in own.sample(range(count), 10) for word in pick(self.drawn(kind, 0, number), block)]

    def lines(self):
        for number in range(self.documents):
            name, family, member = self.place(number)
            words = self.text(name, family, member)
            yield '{"id":"%s-%d-%d","text":"%s"}\n' % (name, family, member, " ".join(words))


def make(archive, out):
    if not str(out).endswith(".zst"):
        with open(out, "w") as file:
            file.writelines(archive.lines())
        return
    packer = subprocess.Popen(["zstd", "-q", "-3", "-f", "-o", str(out)], stdin=subprocess.PIPE, text=True)
    packer.stdin.writelines(archive.lines())
    packer.stdin.close()
    if packer.wait():
        sys.exit("zstd failed")


def read_answer(path):
    """The ids of removed documents, each with the id of its survivor and the score if the answer has them."""
    removed, summary, number = {}, None, re.compile(r":(\d+)$")
    with open(path) as file:
        for line in file:
            if not line.startswith("{"):
                removed[line.strip()] = None
                continue
            row = json.loads(line)
            if "remove" in row:
                removed[row["metadata"]["id"]] = (int(number.search(row["keep"])[1]) - 1, row["score"])
            elif row.get("schema", "").startswith("fpdb.dedup.summary"):
                summary = row
    return removed, summary


def parts(document):
    name, family, member = document.split("-")
    return name, int(family), int(member)


def judge(archive, removed, exact=False):
    """Numbers of removals by class: right, wrong, and missed."""
    gone = collections.defaultdict(set)
    for document in removed:
        name, family, member = parts(document)
        gone[name, family].add(member)
    counts = {name: [0, 0, 0] for name, *_ in CLASSES}
    for name, family, size in archive.families():
        out = gone.get((name, family), set())
        if name in ("copy", "edited", "mass"):
            expected, wrong = size - 1, len(out) == size
        elif name == "contained":
            expected, wrong = size - 1, 0 in out
        elif name == "chain":
            alone = [m for m in out if not {m - 1, m + 1} & (set(range(size)) - out)]
            missed = sum(1 for m in range(size - 1) if not {m, m + 1} & out)
            expected, wrong = len(out) - len(alone) + missed, len(alone)
        else:
            expected, wrong = 0, len(out)
        right = len(out) - int(wrong)
        count = counts[name]
        count[0] += right
        count[1] += int(wrong)
        count[2] += max(0, expected - right)
    faults = []
    for document, witness in removed.items():
        if witness is None:
            continue
        keeper, score = witness
        name, family, member = archive.place(keeper)
        if f"{name}-{family}-{member}" in removed:
            faults.append(f"{document}: its survivor {name}-{family}-{member} goes too")
        elif (name, family) != parts(document)[:2]:
            faults.append(f"{document}: its survivor {name}-{family}-{member} is of another family")
        elif exact:
            trigrams = lambda words: set(zip(words, words[1:], words[2:]))
            mine = trigrams(archive.text(*parts(document)))
            share = len(mine & trigrams(archive.text(name, family, member))) / len(mine)
            if abs(share - score) > 1e-9:
                faults.append(f"{document}: {share} of it is in {name}-{family}-{member}, and the answer says {score}")
    return counts, faults


def report(counts, faults):
    print("class       right  wrong missed")
    for name, (right, wrong, missed) in counts.items():
        print(f"{name:10} {right:6} {wrong:6} {missed:6}")
    right, wrong, missed = (sum(column) for column in zip(*counts.values()))
    print(f"precision {right / max(1, right + wrong):.4f}  recall {right / max(1, right + missed):.4f}")
    for fault in faults[:10]:
        print("WRONG", fault)
    return not (wrong or missed or faults)


def measured(command):
    """Runs a command. Returns seconds, CPU seconds and peak MiB."""
    start = time.time()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command} ended with {status}")
    return time.time() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(archive, args):
    args.work.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(["sh", "-c", "command -v zstd"], stdout=subprocess.DEVNULL).returncode == 0
    documents, database, answer = (args.work / name for name in
                                   ("planted.jsonl.zst" if packed else "planted.jsonl", "planted.fpdb", "answer.jsonl"))
    make(archive, documents)
    subprocess.run(["rm", "-rf", str(database)], check=True)
    program = [args.fpdb, "--db", database]
    memory = ["--memory", args.memory]
    _, ingest, peak = measured([*program, "ingest", "-q", "--profile", args.profile, *memory, documents])
    _, dedup, dedup_peak = measured([*program, "dedup", "-q", "--by", "containment", "--threshold", "0.8", "--format", "json",
                                     *memory, "-o", answer])
    removed, summary = read_answer(answer)
    size = sum(file.stat().st_size for file in database.rglob("*") if file.is_file()) >> 20
    print(f"{archive.documents} documents: ingest {ingest:.2f} CPU s, {peak:.0f} MiB; dedup {dedup:.2f} CPU s, {dedup_peak:.0f} MiB;"
          f" {archive.documents / (ingest + dedup):.0f} documents a CPU second; database {size} MiB")
    counts, faults = judge(archive, removed, args.profile == "words")
    if summary["removable"] != len(removed) or summary["undecided"]:
        faults.append(f"the summary says {summary['removable']} removable, {summary['undecided']} undecided")
    right = report(counts, faults)
    for path in (documents, answer):
        path.unlink()
    subprocess.run(["rm", "-rf", str(database)], check=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "judge", "run"])
    parser.add_argument("documents", type=int)
    parser.add_argument("path", nargs="?", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--fpdb")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--profile", default="prose")
    parser.add_argument("--memory", default="1GiB")
    args = parser.parse_args()
    archive = Archive(args.documents, args.seed, args.words)
    if args.what == "make":
        make(archive, args.path)
        return
    if args.what == "run":
        right = run(archive, args)
    else:
        removed, _ = read_answer(args.path)
        right = report(*judge(archive, removed, args.exact))
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
