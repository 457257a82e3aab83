#!/usr/bin/env python3
"""Makes a crawl of the sections of nineteenth-century codes of civil procedure: JSON lines in gzip, a file for each code.

usage: tools/experiments/codes_crawl.py CODES CRAWL

CODES holds one text for each code. Each section of a code begins with a line that begins with `§` or `Sec`. docs/dedup.md has the figures.
"""
import glob
import gzip
import json
import os
import re
import sys

codes, crawl = sys.argv[1:]
os.makedirs(crawl, exist_ok=True)
count = size = 0
for path in sorted(glob.glob(os.path.join(codes, "*.txt"))):
    with open(path, encoding="utf-8") as file:
        sections = [part.strip() for part in re.split(r"(?m)^(?=§|Sec|SEC)", file.read()) if part.strip()]
    name = os.path.basename(path)[:-4]
    with gzip.open(os.path.join(crawl, f"{name}.jsonl.gz"), "wt") as file:
        for number, section in enumerate(sections):
            count, size = count + 1, size + len(section.encode())
            file.write(json.dumps({"url": f"https://codes.example/{name}/{number}", "text": section}, ensure_ascii=False) + "\n")
print(f"{count:,} sections, {size:,} bytes")
