"""Builds the wheel: maturin's backend, with the program `fpdb` beside the module.

maturin packs either a module or programs. So the program is compiled first and put where maturin takes data from. Both are compiled
in one target folder, with one profile and the same features of all crates: RocksDB and the library once.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import maturin
from maturin import (  # noqa: F401  (they are the interface of a backend)
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)


def _root():
    """The folder of the program's Cargo.toml: above this one, in a clone and in the sdist."""
    return pathlib.Path(__file__).resolve().parent.parent


def _program():
    """Compiles the program and puts it into the data of the wheel, stripped."""
    root = _root()
    # Both packages are named, so that features are those of both.
    packages = ["-p", "fpdb", "-p", "fpdb-python", "--bin", "fpdb"]
    subprocess.run(["cargo", "build", "--release", "--locked", *packages], cwd=root, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    name = "fpdb.exe" if sys.platform == "win32" else "fpdb"
    scripts = root / "python" / "wheel_data" / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy2(target / "release" / name, scripts / name)
    if shutil.which("strip"):
        subprocess.run(["strip", scripts / name], check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
