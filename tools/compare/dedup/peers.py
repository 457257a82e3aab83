#!/usr/bin/env python3
"""De-duplicates the same planted documents with fpdb and with other tools, each on one core.

    peers.py DOCUMENTS --fpdb PROGRAM --work FOLDER --python PYTHON [--text-dedup PYTHON] [--words 300] [--seed 1] [--only TOOL ...]

PYTHON has the packages `rensa`, `datatrove`, `orjson`, `regex` and `xxhash`. The interpreter of --text-dedup has `text-dedup` and
`datasets`, because the two sets of packages need different versions of numpy. A tool whose package is missing is left out and named.

Each tool reads the same JSON lines from disk and gives the ids of the documents that it would remove. Its process, with all its children,
runs on one core. Prints CPU seconds (of the tool and of its children), documents a second and core, peak memory of the largest process,
how many times faster fpdb is, and precision and recall by the truth of planted.py. A MinHash compares whole documents, so it cannot find
the parts of the class `contained`. So recall without these parts is printed too.

Settings: word 5-grams and the defaults of datatrove (14 buckets of 8) and of text-dedup (250 permutations, threshold 0.7); rensa has 128
permutations in 16 bands and verifies at 0.7. datatrove gets its words split at white space: its own tokenizers are slower. fpdb runs with profile `prose` and
`--by containment --threshold 0.8`, and with `--by resemblance --threshold 0.7`.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import planted

TOOLS = ["fpdb-containment", "fpdb-resemblance", "rensa", "datatrove", "text-dedup"]


def read(path):
    with open(path) as file:
        for line in file:
            yield json.loads(line)


def write(path, ids):
    path.write_text("".join(name + "\n" for name in ids))


def rensa(documents, work, answer):
    import rensa

    seen = rensa.RMinHashDeduplicator(threshold=0.7, num_perm=128, use_lsh=True, num_bands=16)
    removed = []
    for document in read(documents):
        words = document["text"].split()
        sketch = rensa.RMinHash(num_perm=128, seed=42)
        sketch.update([" ".join(words[at:at + 5]) for at in range(max(1, len(words) - 4))])
        if not seen.add(document["id"], sketch):
            removed.append(document["id"])
    write(answer, removed)


def datatrove(documents, work, answer):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Words(WordTokenizer):
        def word_tokenize(self, text):
            return text.split()

        sent_tokenize = span_tokenize = None

    config, folder = MinhashConfig(), str(work / "datatrove")
    reader = lambda: JsonlReader(str(documents.parent), glob_pattern=documents.name)
    signatures = MinhashDedupSignature(f"{folder}/signatures", config=config, language=Words())
    buckets = MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)
    cluster = MinhashDedupCluster(f"{folder}/buckets", f"{folder}/remove", config=config)
    removed = JsonlWriter(f"{folder}/removed", output_filename="${rank}.jsonl", compression=None)
    steps = [([reader(), signatures], 1), ([buckets], config.num_buckets), ([cluster], 1),
             ([reader(), MinhashDedupFilter(f"{folder}/remove", exclusion_writer=removed)], 1)]
    for number, (pipeline, tasks) in enumerate(steps):
        LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=1, logging_dir=f"{folder}/logs/{number}").run()
    found = pathlib.Path(folder, "removed").glob("*.jsonl")
    write(answer, [row["id"] for path in found for row in read(path)])


def text_dedup(documents, work, answer):
    output = work / "text-dedup"
    options = ["--path", "json", "--data_files", documents, "--split", "train", "--cache_dir", work / "cache", "--output", output,
               "--column", "text", "--num_proc", "1"]
    subprocess.run([sys.executable, "-m", "text_dedup.minhash", *map(str, options)], check=True, stdout=subprocess.DEVNULL)
    import datasets

    kept = set(datasets.load_from_disk(str(output))["id"])
    write(answer, [document["id"] for document in read(documents) if document["id"] not in kept])


def fpdb(by, threshold):
    def run(documents, work, answer):
        program, database, report = os.environ["FPDB"], work / "db", work / "report.jsonl"
        common = [program, "-q", "--db", database]
        subprocess.run([*common, "ingest", "--profile", "prose", documents], check=True)
        rule = ["dedup", "--by", by, "--threshold", threshold, "--format", "json", "-o", report]
        subprocess.run([*common, *rule], check=True)
        write(answer, planted.read_answer(report)[0])

    return run


RUN = {"rensa": rensa, "datatrove": datatrove, "text-dedup": text_dedup, "fpdb-containment": fpdb("containment", "0.8"),
       "fpdb-resemblance": fpdb("resemblance", "0.7")}


def measured(tool, python, documents, folder):
    """Seconds of processor time, peak memory in MiB, and the ids of the documents that the tool removes."""
    work = folder / tool
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    answer = work / "answer"
    command = [python, __file__, "worker", tool, documents, work, answer]
    one_core = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                   "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    start = time.time()
    with open(work / "log", "w") as log:
        child = subprocess.Popen([str(part) for part in command], preexec_fn=one_core, env=environment, stdout=log, stderr=log)
        # The tool waits for its child processes, so its time includes theirs.
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        print(f"{tool}: failed after {time.time() - start:.0f} s, see {work / 'log'}")
        return None
    removed = {name: None for name in answer.read_text().split()}
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, removed


def quality(archive, removed):
    counts, _ = planted.judge(archive, removed)
    rate = lambda column: sum(column[0]) / max(1, sum(column[0]) + sum(column[1]))
    pick = lambda index, without: [count[index] for name, count in counts.items() if name != without]
    return rate((pick(0, None), pick(1, None))), rate((pick(0, None), pick(2, None))), rate((pick(0, "contained"), pick(2, "contained")))


def main():
    if sys.argv[1:2] == ["worker"]:
        tool, documents, work, answer = sys.argv[2:]
        RUN[tool](pathlib.Path(documents), pathlib.Path(work), pathlib.Path(answer))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=int)
    parser.add_argument("--fpdb", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--text-dedup")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=TOOLS, default=TOOLS)
    args = parser.parse_args()
    os.environ["FPDB"] = os.path.abspath(args.fpdb)
    args.work = args.work.absolute()
    args.work.mkdir(parents=True, exist_ok=True)
    archive = planted.Archive(args.documents, args.seed, args.words)
    documents = args.work / "planted.jsonl"
    planted.make(archive, documents)
    first = None
    print(f"{args.documents} documents, {documents.stat().st_size >> 20} MiB\n")
    print("| tool | CPU s | documents a second and core | fpdb is faster by | peak MiB | precision | recall | recall without parts |")
    print("|---|---|---|---|---|---|---|---|")
    for tool in [tool for tool in TOOLS if tool in args.only]:
        python = args.text_dedup if tool == "text-dedup" else sys.executable if tool.startswith("fpdb") else args.python
        found = measured(tool, python, documents, args.work) if python else print(f"{tool}: no Python for it was given")
        if found is None:
            continue
        seconds, peak, removed = found
        first = first or seconds
        precision, recall, whole = quality(archive, removed)
        print(f"| {tool} | {seconds:.1f} | {args.documents / seconds:,.0f} | {seconds / first:.1f} | {peak:,.0f} | {precision:.4f} | {recall:.4f} |"
              f" {whole:.4f} |", flush=True)
        shutil.rmtree(args.work / tool)


if __name__ == "__main__":
    main()
