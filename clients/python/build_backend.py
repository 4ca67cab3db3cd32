"""Builds the package (PEP 517) with the standard library alone, so that it can be installed from a clone without an index."""

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
NAME = f"{PROJECT['name']}-{PROJECT['version']}"


def package() -> dict[str, Path]:
    """Returns the package's files. The verifier lies elsewhere in a clone, and among the others in an sdist."""
    files = {f"riffle/{path.name}": path for path in sorted((FOLDER / "riffle").iterdir()) if path.is_file()}
    verifiers = FOLDER.parents[1] / "verifiers"
    return {"riffle/verifier.py": verifiers / "reference.py", "riffle/decks.json": verifiers / "decks.json", **files}


def metadata() -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {PROJECT['version']}", f"Summary: {PROJECT['description']}"]
    lines += [f"Requires-Python: {PROJECT['requires-python']}", *(f"Classifier: {name}" for name in PROJECT["classifiers"])]
    for extra, requirements in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in requirements)]
    readme = PROJECT["readme"]
    return "\n".join([*lines, f"Description-Content-Type: {readme['content-type']}", "", readme["text"]])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {name: path.read_bytes() for name, path in package().items()}
    files[f"{NAME}.dist-info/METADATA"] = metadata().encode()
    files[f"{NAME}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: build_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{NAME}.dist-info/RECORD"
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()]
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    name = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}.tar.gz"
    with tarfile.open(Path(sdist_directory, name), "w:gz") as archive:
        for path, source in ({name: FOLDER / name for name in ("pyproject.toml", "build_backend.py")} | package()).items():
            archive.add(source, f"{NAME}/{path}")
        about = tarfile.TarInfo(f"{NAME}/PKG-INFO")
        about.size = len(metadata().encode())
        archive.addfile(about, io.BytesIO(metadata().encode()))
    return name
