"""Builds the wheel: maturin's backend, with the program `fpdb` beside the module.

maturin packs either a module or programs. So the program is compiled first and put into the folder from which maturin takes data. Both are
compiled in one target folder, with one profile and the same features of all crates, so RocksDB and the library are compiled once.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import maturin
from maturin import (  # noqa: F401  (they are the interface of a backend)
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)


# The folder of pyproject.toml: python/ in a clone, and the top of an sdist, where maturin puts this file too.
_HERE = pathlib.Path(__file__).resolve().parent


def _root():
    """The folder of the workspace."""
    return next(folder for folder in (_HERE, _HERE.parent) if (folder / "Cargo.lock").exists())


def _target():
    """The folder that cargo compiles into. From here on, every cargo process gets this folder as an absolute path."""
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    folder = json.loads(subprocess.check_output(command, cwd=_root()))["target_directory"]
    os.environ["CARGO_TARGET_DIR"] = folder
    return pathlib.Path(folder)


def _moved_to(folder, make):
    """Lets `make` write its file into a temporary folder, then moves the file. maturin copies from <target>/wheels, and cannot copy a file
    onto itself.
    """
    with tempfile.TemporaryDirectory() as temporary:
        name = make(temporary)
        shutil.move(pathlib.Path(temporary, name), pathlib.Path(folder, name))
    return name


def _data():
    """The folder whose content becomes data of the wheel. It is empty here. maturin requires it, even for an sdist."""
    folder = _HERE / "wheel_data"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _program(linker):
    """Compiles the program, with `linker` if one is given, and puts it into the data of the wheel, stripped."""
    if not (_root() / "cli").is_dir():
        # maturin packs only the members that the bindings use, and the program is not among them.
        print("fpdb: this source distribution builds the package without the program `fpdb`", file=sys.stderr)
        return
    target = _target()
    if linker:
        # Cargo passes arguments on to rustc only if it compiles a single package.
        command = ["rustc", "--release", "--locked", "-p", "fpdb-cli", "--bin", "fpdb", "--", *_linked_by(linker)]
    else:
        # Both packages are named, so that the features are those of both.
        command = ["build", "--release", "--locked", "-p", "fpdb", "-p", "fpdb-cli", "-p", "fpdb-python"]
    subprocess.run(["cargo", *command], cwd=_root(), check=True)
    name = "fpdb.exe" if sys.platform == "win32" else "fpdb"
    scripts = _data() / "scripts"
    scripts.mkdir()
    shutil.copy2(target / "release" / name, scripts / name)
    if shutil.which("strip"):
        subprocess.run(["strip", scripts / name], check=True)


def _linked_by(linker):
    return ["-C", f"linker={linker}", "-C", "linker-flavor=gcc"]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _data()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


# The functions of maturin do the same for editable installs.
prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    _data()
    return maturin.build_sdist(sdist_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """`config_settings` may have `linker` and `compatibility`: a linker for systems other than this one, and the name of these systems,
    such as manylinux_2_28; and `sbom`: a file that lists the contents.
    """
    settings = dict(config_settings or {})
    linker, systems, sbom = (settings.pop(name, None) for name in ("linker", "compatibility", "sbom"))
    _program(linker)
    arguments = ["--sbom-include", sbom] if sbom else []
    if linker:
        arguments += ["--compatibility", systems or "off", "--", *_linked_by(linker)]
    if arguments:
        settings["maturin.build-args"] = arguments
        config_settings = settings
    return _moved_to(wheel_directory, lambda folder: maturin.build_wheel(folder, config_settings, metadata_directory))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _program(None)
    return _moved_to(wheel_directory, lambda folder: maturin.build_editable(folder, config_settings, metadata_directory))
