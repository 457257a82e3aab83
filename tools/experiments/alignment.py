#!/usr/bin/env python3
"""How well do passages mark copied text, from verbatim copies to re-written ones? Judged by PlagDet.

usage: tools/experiments/alignment.py PROGRAM DATA [--pairs N] [--seed S] [--set "NAME: FLAGS"]...

PROGRAM is the compiled fpdb, DATA the folder with `bible`, `codes` and `federalist`. Pairs of a suspicious document and a
source are made from these texts, all public domain, the same for the same seed:

  none       nothing in common
  verbatim   passages of the source as they are, re-wrapped
  light      one word in ten replaced, dropped, added or moved
  heavy      half of the words replaced, dropped, added or moved by some places, as the random obfuscation of PAN 2013
  shuffled   the sentences of the passage in another order, one word in twenty edited
  translated the same verses in another translation of the Bible (median word-trigram resemblance 0.17 to 0.87)

Passages come from `fpdb diff --format json`. PlagDet is that of Potthast et al. (2010): the harmonic mean of precision and
recall, both macro-averaged over characters of both documents, divided by log2(1 + granularity).
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile

SETTINGS = {
    "text": "--profile text",
    "prose": "--profile prose",
    "words": "--profile words",
    "alignment": "--profile words --gap 80 --any-order --min-passage 10",
}
KINDS = ["none", "verbatim", "light", "heavy", "shuffled", "translated"]
SENTENCE = re.compile(r"(?<=[.!?;:])\s+")


def texts(folder):
    """The lines of each file, joined, by name."""
    return {path.name: " ".join(path.read_text(errors="replace").split()) for path in sorted(folder.glob("*.txt"))}


class Corpus:
    def __init__(self, data):
        self.prose = list(texts(data / "federalist").values())
        self.codes = list(texts(data / "codes").values())
        names = ["ASV", "RWebster", "Webster", "YLT"]
        self.bible = [texts_by_line(data / "bible" / name) for name in names]
        common = set.intersection(*[set(version) for version in self.bible])
        self.books = sorted(name for name in common if min(len(version[name]) for version in self.bible) > 150)
        self.words = sorted(set(re.findall(r"[a-z]{3,9}", " ".join(self.prose).lower())))


def texts_by_line(folder):
    return {path.name: [line for line in path.read_text(errors="replace").splitlines() if line.strip()]
            for path in sorted(folder.glob("*.txt"))}


def cut(text, length, rng):
    """A stretch of about so many characters, between spaces."""
    start = rng.randrange(max(1, len(text) - length))
    start = text.find(" ", start) + 1
    end = text.find(" ", min(len(text) - 1, start + length))
    return start, (end if end > start else len(text))


def wrap(text, rng):
    width, lines, line = rng.randrange(50, 100), [], ""
    for word in text.split(" "):
        if len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join(lines + [line])


def edit(text, share, reach, words, rng):
    """Replaces, drops, adds or moves such a share of the words."""
    out = []
    for word in text.split(" "):
        if rng.random() >= share:
            out.append(word)
            continue
        kind = rng.randrange(4)
        if kind == 0:
            out.append(rng.choice(words))
        elif kind == 2:
            out += [word, rng.choice(words)]
        elif kind == 3:
            out.insert(max(0, len(out) - rng.randrange(1, reach + 1)), word)
    return " ".join(out)


def obfuscate(text, kind, corpus, rng):
    if kind == "light":
        return edit(text, 0.1, 3, corpus.words, rng)
    if kind == "heavy":
        return edit(text, 0.5, 8, corpus.words, rng)
    if kind == "shuffled":
        sentences = SENTENCE.split(text)
        rng.shuffle(sentences)
        return edit(" ".join(sentences), 0.05, 3, corpus.words, rng)
    return text


def make(kind, corpus, rng):
    """A suspicious document, a source, and the cases: ((start, end) there, (start, end) here)."""
    host = rng.choice(corpus.prose)
    start, end = cut(host, rng.randrange(4000, 16000), rng)
    host = host[start:end]
    # Each passage, obfuscated, with its place in the source.
    passages = []
    if kind == "translated":
        book = rng.choice(corpus.books)
        here, there = rng.sample(range(4), 2)
        lines = [corpus.bible[version][book] for version in (here, there)]
        count = min(len(lines[0]), len(lines[1]))
        offsets, source = [], ""
        for line in lines[1]:
            offsets.append(len(source))
            source += line + "\n"
        verse, verses = rng.randrange(20), rng.randrange(4, 25)
        while verse + verses < count and len(passages) < 3:
            text = "\n".join(lines[0][verse:verse + verses])
            passages.append((text, (offsets[verse], offsets[verse + verses] - 1)))
            verse, verses = verse + verses + rng.randrange(20, 60), rng.randrange(4, 25)
    else:
        source = rng.choice(corpus.codes)
        start, end = cut(source, rng.randrange(6000, 30000), rng)
        source, at = source[start:end], 0
        while kind != "none" and len(passages) < rng.randrange(1, 4):
            length = rng.choice([400, 800, 1500, 3000])
            if at + length + 800 > len(source):
                break
            start = source.find(" ", at + rng.randrange(600)) + 1
            end = source.find(" ", start + length)
            if end < 0:
                break
            passages.append((obfuscate(source[start:end], kind, corpus, rng), (start, end)))
            at = end + 300
    rng.shuffle(passages)
    suspicious, cases, last = "", [], 0
    places = sorted(rng.randrange(len(host)) for _ in passages)
    for place, (text, there) in zip(places, passages):
        place = host.find(" ", place) + 1 or place
        suspicious += wrap(host[last:max(last, place)], rng) + "\n"
        text = wrap(text, rng)
        cases.append(((len(suspicious), len(suspicious) + len(text)), there))
        suspicious += text + "\n"
        last = max(last, place)
    return suspicious + wrap(host[last:], rng), source, cases


def overlap(a, b):
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def size(case):
    return sum(end - start for start, end in case)


def covered(one, others):
    """Characters of `one`, on both sides, that those of the others cover which touch it on both sides."""
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    settings = dict(item.split(": ", 1) for item in arguments.set) or SETTINGS
    program = str(pathlib.Path(arguments.program).resolve())
    corpus = Corpus(arguments.data)
    ascii_only = lambda text: text.encode("ascii", "replace").decode()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        truth = {}
        for kind in KINDS:
            for index in range(arguments.pairs):
                rng = random.Random(f"{arguments.seed} {kind} {index}")
                suspicious, source, cases = make(kind, corpus, rng)
                number = f"{kind}{index}"
                pathlib.Path(folder, f"{number}.suspicious").write_text(ascii_only(suspicious))
                pathlib.Path(folder, f"{number}.source").write_text(ascii_only(source))
                truth[number] = (kind, cases)
        print(f"{arguments.pairs} pairs a kind, {sum(len(cases) for _, cases in truth.values())} passages, "
              f"seed {arguments.seed}: PlagDet (precision, recall, granularity)\n")
        print("| setting | " + " | ".join(KINDS[1:]) + " | all | detections in unrelated pairs |")
        print("|---" * (len(KINDS) + 2) + "|")
        for name, flags in settings.items():
            found = dict(zip(truth, pool.map(lambda number: detect(program, folder, number, flags), truth)))
            result = lambda kinds: plagdet([(cases, found[n]) for n, (kind, cases) in truth.items() if kind in kinds])
            cells = ["{:.3f} ({:.2f}, {:.2f}, {:.2f})".format(*result([kind])) for kind in KINDS[1:]]
            unrelated = sum(len(found[n]) for n, (kind, _) in truth.items() if kind == "none")
            print(f"| {name} | " + " | ".join(cells) + " | {:.3f}".format(result(KINDS)[0]) + f" | {unrelated} |",
                  flush=True)


if __name__ == "__main__":
    main()
