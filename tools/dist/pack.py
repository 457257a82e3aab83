#!/usr/bin/env python3
"""Packs a folder so that only names and contents matter: sorted, no owner, one time for all, permissions 755 or 644.

usage: pack.py ARCHIVE.tar.gz FOLDER EPOCH

The archive holds FOLDER under its last name. EPOCH is the time of all entries, in seconds since 1970. On Linux, `tar` could make the same
archive, but the `tar` of macOS cannot sort.
"""

import gzip
import pathlib
import sys
import tarfile


def main():
    archive, folder, epoch = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = epoch
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            # Entries of a folder are added in the order of their names.
            tar.add(folder, folder.name, filter=plain)


main()
