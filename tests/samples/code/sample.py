#!/usr/bin/env python3
"""REMARK: mean and spread of numbers."""
import math
from collections import deque as qdeque


class QWindow:
    # REMARK: the last few numbers
    def __init__(self, qsize=10):
        self.qvalues = qdeque(maxlen=qsize)

    @property
    def qmean(self):
        if not self.qvalues:
            return None
        return sum(self.qvalues) / len(self.qvalues)

    def qreport(self, *qnames, **qmore):
        for qindex, qname in enumerate(qnames):
            print(f"{qindex:>3} {qname!r}: {self.qmean:.2f} of", 'all', 1e-9, b"\x00", end="")
        return [qvalue ** 2 for qvalue in self.qvalues if qvalue is not True]
