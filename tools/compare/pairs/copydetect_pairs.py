"""copydetect's similarities as JSON lines. usage: PYTHON copydetect_pairs.py LIST-OF-FILES text|code"""
import json
import sys

import copydetect

files = open(sys.argv[1]).read().splitlines()
detector = copydetect.CopyDetector(noise_t=25, guarantee_t=35, display_t=0, silent=True, autoopen=False,
                                   disable_filtering=sys.argv[2] == "text")
for file in files:
    detector.add_file(file)
detector.run()
for a in range(len(files)):
    for b in range(a):
        # One triangle of the matrix holds the similarities. Pairs that were not compared have -1.
        here, there = max(detector.similarity_matrix[a, b].tolist(), detector.similarity_matrix[b, a].tolist())
        if max(here, there) > 0:
            print(json.dumps({"a": detector.test_files[a], "b": detector.test_files[b], "score": min(here, there)}))
