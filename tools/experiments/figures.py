#!/usr/bin/env python3
"""Draws the figures in docs/figures from what the program answers about Debian's HTML documentation.

    figures.py PROGRAM [--work FOLDER] [--out docs/figures] [--only NAME...]

Needs matplotlib (`pip install matplotlib`), for `gaps` the package fpdb (`make wheel`, `pip install target/wheels/*.whl`), and `apt-get` and `dpkg-deb` the first time: the packages in PACKAGES are fetched into FOLDER
and unpacked there. Each figure is written as PNG and SVG, with the command behind its numbers below it, and the numbers are printed as Markdown.
"""

import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot

PACKAGES = ("python3.11-doc", "libstdc++-12-doc")
WINDOWS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
# k of the winnowing paper's experiment on the Web, section 5.1.
K = 50
# The parts of the store that belong to fingerprints.
PARTS = ("postings", "filters", "positions")
# If all k-grams are kept, one page of this number of pages is used.
EVERY = 16
SAMPLES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SIZES = (25, 50, 100, 200, 400, 800)

COLOURS = {"robust": "#1b6ca8", "plain": "#d1495b", "0 mod p": "#66a182", "expected": "#888888"}


class Program:
    """Runs the program on databases in a folder of its own."""

    def __init__(self, path, work):
        self.path, self.work = path, work

    def run(self, database, *arguments):
        """The lines of JSON of a command, and its processor time in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self.path, "--db", self.work / database, "--format", "json", "-q", "--threads", "1", *map(str, arguments)],
            capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 2) or not done.stdout and "ingest" in arguments:
            sys.exit(f"{arguments}: {done.stderr}")
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return [json.loads(line) for line in done.stdout.splitlines()], seconds

    def ingest(self, paths, *flags):
        """Makes a database of these files. Returns its statistics and the seconds of the ingest."""
        database = tempfile.mktemp(prefix="db-", dir=self.work)
        database = pathlib.Path(database).name
        listed = self.work / "files.txt"
        listed.write_text("".join(f"{path}\n" for path in paths))
        _, seconds = self.run(database, "ingest", "--files-from", listed, *flags)
        stats = self.run(database, "stats")[0][0]
        return database, stats, seconds

    def drop(self, database):
        shutil.rmtree(self.work / database)


def documents(work):
    """The HTML files of the packages, which are fetched if they are missing."""
    folder = work / "documentation"
    if not folder.is_dir():
        packages = work / "packages"
        packages.mkdir(exist_ok=True)
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=packages, check=True)
        unpacked = work / "unpacked"
        for package in sorted(packages.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
        unpacked.rename(folder)
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    pages = sorted(path for path in found if re.search(r"\.html?(\.gz)?$", path.name))
    if not pages:
        sys.exit(f"there are no pages in {folder}")
    return pages


def save(options, name, figure, command):
    figure.text(0.01, 0.005, command, fontsize=6.5, family="monospace", color="#555555")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / f"{name}.png", dpi=130)
    # The file has no date and fixed names, so that equal numbers give an equal file.
    matplotlib.rcParams["svg.hashsalt"] = name
    figure.savefig(options.out / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def table(header, rows):
    print(f"\n| {' | '.join(header)} |\n|{'--:|' * len(header)}")
    for row in rows:
        print("| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else f"{cell}" for cell in row) + " |")


def kgrams(program, database):
    listed, _ = program.run(database, "list")
    return sum(max(0, document["symbols"] - K + 1) for document in listed)


def density(options, program, pages):
    """Fingerprints / k-grams against w, and bytes for each fingerprint."""
    pages = pages[::EVERY]
    selections = {"robust": lambda w: "robust", "plain": lambda w: "plain", "0 mod p": lambda w: f"mod:{(w + 2) // 2}"}
    rows, sizes = [], {}
    for w in WINDOWS:
        row = [w, 2 / (w + 1)]
        for name, selection in selections.items():
            database, stats, _ = program.ingest(
                pages, "--unit", "char", "-k", K, "-w", w, "--selection", selection(w))
            row.append(stats["fingerprints"] / kgrams(program, database))
            if name == "robust":
                program.run(database, "compact")
                stored = {part["part"]: part["bytes"] for part in program.run(database, "stats")[0][0]["stored"]}
                sizes[w] = [stored[part] / stats["fingerprints"] for part in PARTS]
            program.drop(database)
        rows.append(row)
    table(("w", "2 / (w + 1)", *selections), rows)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.2, 4.2))
    windows = [row[0] for row in rows]
    left.loglog(windows, [row[1] for row in rows], color=COLOURS["expected"], linestyle="--", label="2 / (w + 1)")
    right.axhline(1, color=COLOURS["expected"], linestyle="--")
    for column, name in enumerate(selections, 2):
        densities = [row[column] for row in rows]
        expected = [1 / ((w + 2) // 2) if name == "0 mod p" else 2 / (w + 1) for w in windows]
        style = {"marker": "o", "markersize": 4, "color": COLOURS[name], "label": name}
        left.loglog(windows, densities, **style)
        right.semilogx(windows, [found / wanted for found, wanted in zip(densities, expected)], **style)
    left.set_ylabel("density (fingerprints / k-grams)")
    right.set_ylabel("density / expected density")
    right.legend()
    for axes in (left, right):
        axes.set_xlabel("window w (k-grams); p = (w + 1) / 2, rounded up")
        axes.grid(True, which="major", alpha=0.3)
    figure.suptitle(f"Density against the window, k = {K} characters")
    save(options, "density", figure, "fpdb ingest --unit char -k 50 -w W --selection robust|plain|mod:P DOCUMENTATION; fpdb stats")
    table(("w", *PARTS), [[w, *parts] for w, parts in sizes.items()])
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0))
    axes.stackplot(list(sizes), list(zip(*sizes.values())), labels=PARTS, colors=COLOURS.values(), alpha=0.8)
    axes.set_xscale("log")
    axes.legend()
    axes.set_xlabel("window w (k-grams)")
    axes.set_ylabel("bytes on disk a fingerprint")
    axes.set_ylim(bottom=0)
    axes.set_title("What a fingerprint takes, after compact")
    axes.grid(True, alpha=0.3)
    save(options, "bytes", figure, "fpdb ingest --unit char -k 50 -w W DOCUMENTATION; fpdb compact; fpdb stats")


def gaps(options, _, pages):
    """The distances of neighbouring fingerprints, against w."""
    import fpdb

    texts = [path.read_bytes() for path in pages[::EVERY] if path.suffix != ".gz"]
    selections = {"robust": lambda w: "robust", "plain": lambda w: "plain", "0 mod p": lambda w: f"mod:{(w + 2) // 2}"}
    rows = []
    for w in WINDOWS[1:]:
        row = [w, (w + 1) / 2]
        for selection in selections.values():
            found = fpdb.fingerprint(texts, fpdb.Profile(unit="char", k=K, w=w, selection=selection(w)), format="html")
            between = sorted(b - a for page in found for a, b in zip(page.positions, page.positions[1:]))
            row += [sum(between) / len(between), between[len(between) * 99 // 100], between[-1]]
        rows.append(row)
    table(("w", "(w + 1) / 2", *(f"{name}: {what}" for name in selections for what in ("mean", "99%", "largest"))), rows)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.2, 4.2))
    windows = [row[0] for row in rows]
    left.loglog(windows, [row[1] for row in rows], color=COLOURS["expected"], linestyle="--", label="(w + 1) / 2")
    right.axhline(1, color=COLOURS["expected"], linestyle="--", label="w")
    for number, name in enumerate(selections):
        mean, most, largest = ([row[2 + 3 * number + what] for row in rows] for what in range(3))
        style = {"marker": "o", "markersize": 4, "color": COLOURS[name]}
        left.loglog(windows, mean, **style, label=name)
        right.loglog(windows, [gap / w for gap, w in zip(largest, windows)], **style, label=f"{name}, the largest")
        right.loglog(windows, [gap / w for gap, w in zip(most, windows)], **style, linestyle=":", label=f"{name}, 99% are below")
    left.set_ylabel("mean gap (k-grams)")
    right.set_ylabel("gap / w")
    right.set_ylim(0.8, 40)
    right.legend(fontsize=7, loc="upper right")
    left.legend()
    for axes in (left, right):
        axes.set_xlabel("window w (k-grams); p = (w + 1) / 2, rounded up")
        axes.grid(True, which="major", alpha=0.3)
    figure.suptitle(f"Gaps between neighbouring fingerprints against the window, k = {K} characters")
    save(options, "gaps", figure, 'fpdb.fingerprint(DOCUMENTATION, fpdb.Profile(unit="char", k=50, w=W, selection="robust|plain|mod:P"), format="html")')


def estimate(options, program, pages):
    """The estimate of resemblance and its interval against n, for a page and a text that has half of its content from this page."""
    html = sorted((path for path in pages if path.suffix == ".html"), key=lambda path: -path.stat().st_size)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in html[:2]]
    mixed = program.work / "mixed.html"
    mixed.write_text("".join(text[: 1_000_000] for text in texts))
    database, _, _ = program.ingest(html[:1], "--unit", "char", "-k", K, "-w", 20)
    rows = []
    for n in SAMPLES:
        answer = program.run(database, "query", mixed, "--mode", "resemblance", "-n", n, "--no-passages")[0][0]
        match = answer["matches"][0]
        interval = match["interval"] or [match["resemblance"]] * 2
        rows.append([n, answer["looked_up"], match["resemblance"], *interval])
    # All fingerprints are looked up, so this value is exact.
    exact = program.run(database, "query", mixed, "--no-passages")[0][0]["matches"][0]["resemblance"]
    program.drop(database)
    table(("n", "looked up", "resemblance", "from", "to"), rows + [["all", "", exact, "", ""]])
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0))
    axes.fill_between([row[0] for row in rows], [row[3] for row in rows], [row[4] for row in rows], color=COLOURS["robust"], alpha=0.2,
                      label="95% interval")
    axes.semilogx([row[0] for row in rows], [row[2] for row in rows], marker="o", markersize=4, color=COLOURS["robust"], label="estimate")
    axes.axhline(exact, color=COLOURS["expected"], linestyle="--", label="of the winnowed sets, exact")
    axes.set_xlabel("n, the smallest fingerprints looked up")
    axes.set_ylabel("resemblance")
    axes.set_title("A page, and a text that shares a part with it; k = 50, w = 20")
    axes.legend()
    axes.grid(True, alpha=0.3)
    save(options, "estimate", figure, "fpdb ingest --unit char -k 50 -w 20 PAGE; fpdb query MIXED --mode resemblance -n N")


def cost(options, program, pages):
    """Processor time of ingest and of a query against the size of the database."""
    pages = [path for path in pages if path.suffix == ".html"]
    question = pages[len(pages) // 2]
    rows = []
    for count in SIZES:
        some = pages[:: max(1, len(pages) // count)][:count]
        database, stats, seconds = program.ingest(some, "--profile", "prose")
        # Each query includes the start of the program. The minimum of some queries is the least disturbed one.
        query = min(program.run(database, "query", question, "--no-passages")[1] for _ in range(5))
        rows.append([len(some), stats["bytes"] / 1e6, seconds, 1000 * query])
        program.drop(database)
    table(("documents", "MB", "ingest, s", "query, ms"), rows)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.6, 3.8))
    left.plot([row[1] for row in rows], [row[2] for row in rows], marker="o", markersize=4, color=COLOURS["robust"])
    left.set_ylabel("ingest: processor time, s")
    right.plot([row[1] for row in rows], [row[3] for row in rows], marker="o", markersize=4, color=COLOURS["plain"])
    right.set_ylabel("one query: processor time, ms")
    for axes in (left, right):
        axes.set_xlabel("HTML ingested, MB")
        axes.set_ylim(bottom=0)
        axes.grid(True, alpha=0.3)
    figure.suptitle("Cost against size, profile prose, one thread")
    save(options, "cost", figure, "fpdb ingest --profile prose --threads 1 PAGES; fpdb query PAGE --no-passages --threads 1")


FIGURES = {"density": density, "gaps": gaps, "estimate": estimate, "cost": cost}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--work", type=pathlib.Path, help="where packages and databases go [default: a folder that is removed]")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/figures"))
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=list(FIGURES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fpdb-figures-") as temporary:
        work = (options.work or pathlib.Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        pages = documents(work)
        print(f"{len(pages)} pages, {sum(path.stat().st_size for path in pages)} bytes")
        program = Program(str(pathlib.Path(options.program).resolve()), work)
        for name in options.only:
            FIGURES[name](options, program, pages)


if __name__ == "__main__":
    main()
