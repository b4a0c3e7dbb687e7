"""Finds the default model, by the same rule as the command: tem_model_find_default.

$TEM_MODEL; else default.tem in this package, beside the command `tem`, or in its install directory;
else a model built once, in the user's cache, from the vectors that come with the package.
"""
import contextlib
import hashlib
import os
import pathlib
import shutil
import stat
import warnings
from collections.abc import Callable
from typing import NamedTuple

from . import _tem
from ._errors import Error, FileError, UntrustedError, make

VECTORS, CERTIFICATES = "glove-840b-33k-sphere64.temv", "default.tem.cert"
LEARNING_VECTORS = "glove-840b-33k-300d.temv"
# As in tools/build_language.c, else it is another language model.
ENGLISH_NGRAMS, ENGLISH_LICENSE = "english.temng", "LICENSE-english.txt"
ENGLISH_ORIGIN = ("en-us.lm.bin of CMU Sphinx, as in Debian's pocketsphinx-en-us "
                  "0.8+5prealpha+1-15")
EXCLUDED, NEIGHBOURS = "exclude-en.txt", 128  # as in meson.build, else it is another model


class Found(NamedTuple):
    path: str
    is_own: bool  # the model and its certificates came with the program or were built from it
    is_cached: bool = False  # `find` built it in the user's cache, and can build it again


def _folders() -> tuple[bytes, ...]:
    """Directories that may have the default model: this package's, and the command's."""
    command = shutil.which("tem")
    places = [os.path.dirname(__file__)]
    places += [os.path.dirname(os.path.realpath(command))] if command else []
    return tuple(map(os.fsencode, places))


def _is_own(path: str) -> bool:
    """Whether only this user owns and can write the file or directory, and it is no link."""
    found = os.lstat(path)
    return (not stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid()
            and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _cache() -> pathlib.Path | None:
    """The user's cache directory, by the XDG specification."""
    named, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if os.path.isabs(named):
        return pathlib.Path(named, "tem")
    return pathlib.Path(home, ".cache/tem") if os.path.isabs(home) else None


def _excluded(vectors: pathlib.Path) -> tuple[str, ...]:
    """The words that are never outputs, read as by the command: cli/word_file.c."""
    lines = (vectors.parent / EXCLUDED).read_text(encoding="utf-8").splitlines()
    words = [line.strip() for line in lines]
    return tuple(word for word in words if word and not word.startswith("#"))


def _cached(vectors: pathlib.Path) -> pathlib.Path | None:
    """Where the model is cached: what decides its words, lists and order is in its name."""
    folder = _cache()
    size = vectors.stat().st_size
    ordered = (vectors.parent / LEARNING_VECTORS).stat().st_size
    decides = "\n".join([str(ordered), *_excluded(vectors)])
    made_of = hashlib.sha256(decides.encode()).hexdigest()[:16]
    return folder and folder / f"default-{_tem.version}-{size}-{made_of}.tem"


def _make(vectors: pathlib.Path, path: pathlib.Path, threads: int,
          progress: Callable[[str, int, int], object] | None) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = _tem.build_file(vectors, 0, _tem.parse_metric("euclidean"), NEIGHBOURS, False, None, 0,
                           0, False, False, threads, progress, _excluded(vectors), (0, 0, 0),
                           vectors.parent / LEARNING_VECTORS)
    certificates = vectors.parent / CERTIFICATES
    if certificates.exists():  # before the model, so that a model always has them
        shutil.copyfile(certificates, f"{path}.cert")
        os.chmod(f"{path}.cert", 0o600)
    made.save(path, True, progress)
    path.chmod(0o600)
    # PRIVACY: the user has just built this model, and its certificates came with the package, so
    # the command may trust both. If the list cannot be changed, the command asks to verify them.
    with contextlib.suppress(UntrustedError, FileError):
        _tem.trust_add(made.hash(progress))
        for certificate in _tem.certificate_hashes(certificates) if certificates.exists() else []:
            _tem.trust_add(certificate)


def _vectors() -> pathlib.Path:
    return pathlib.Path(__file__).parent / VECTORS


def learning_vectors(model_path: str | None) -> str:
    """The vectors to learn with if the user names none: the file beside the model that ends in
    .temv instead of .tem; else the vectors of English words that come with tem."""
    beside = f"{os.path.splitext(model_path)[0]}.temv" if model_path else ""
    own = str(pathlib.Path(__file__).parent / LEARNING_VECTORS)
    return beside if os.path.exists(beside) else own


def make_again(found: Found, why: Error, threads: int,
               progress: Callable[[str, int, int], object] | None) -> _tem.Model:
    """Builds and opens a new model in place of one in the cache that cannot be used. Nothing is
    lost: the old model was made from the vectors that come with the package."""
    warnings.warn(f"the model in your cache cannot be used, and is made again: {why}", stacklevel=3)
    _make(_vectors(), pathlib.Path(found.path), threads, progress)
    try:
        return _tem.open_model(found.path, None, found.is_own, threads, progress)
    except Error as still:
        raise make(still.status, f"{still.detail}; the new model is unusable too: check the disk. "
                   "Remove the file, or name a model", found.path) from None


def find(threads: int, progress: Callable[[str, int, int], object] | None) -> Found:
    """Finds the default model, and builds it if necessary (about 10 seconds, 75 MB)."""
    with contextlib.suppress(FileError):
        name, is_own = _tem.find_default(_folders())
        # As Model.path has it: by its spelling the library knows the certificates beside it.
        return Found(os.path.abspath(name) if is_own else name, is_own)
    vectors = _vectors()
    path = _cached(vectors) if vectors.exists() else None
    if path is None:
        raise make("argument", "no default model: name a file, set $TEM_MODEL, or run 'make' in "
                   "tem's repository and set $TEM_MODEL to its build/default.tem")
    if not path.exists():
        _make(vectors, path, threads, progress)
    certificates = f"{path}.cert"
    for place in (str(path.parent), str(path), certificates):
        # PRIVACY: this model is trusted because of its place. A file that others can write may not
        # have been built from the package.
        if os.path.lexists(place) and not _is_own(place):
            raise make("damaged", "this place in your cache can be written by others, or is a "
                       "link: remove it", place)
    return Found(str(path), True, True)


# ---- the language model of English ----

def _make_english(ngrams: pathlib.Path, path: pathlib.Path) -> None:
    """For the words of the default model, whichever model asks for it."""
    default = find(0, None)
    model = _tem.open_model(default.path, None, default.is_own, 0, None)
    license_text = (ngrams.parent / ENGLISH_LICENSE).read_text(encoding="utf-8")
    made = _tem.convert_language(model, os.fsencode(ngrams), "english", ENGLISH_ORIGIN,
                                 license_text, None)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made.save(path, True, None)
    path.chmod(0o600)
    with contextlib.suppress(UntrustedError, FileError):
        _tem.trust_add(made.info()["hash"])


def find_english(model_path: str | None, is_own: bool) -> Found:
    """Finds english.temlm, as the command does, or makes it in the user's cache (about a second,
    30 MB). It is for the words of the default model."""
    with contextlib.suppress(FileError):
        found = _tem.find_english(None if model_path is None else os.fsencode(model_path), is_own,
                                  _folders())
        return Found(*found)
    ngrams, folder = pathlib.Path(__file__).parent / ENGLISH_NGRAMS, _cache()
    if not ngrams.exists() or folder is None:
        raise make("argument", "no language model of English: it comes with the default model; "
                   "run 'make' in tem's repository, or name a file")
    path = folder / f"english-{_tem.version}-{ngrams.stat().st_size}.temlm"
    if not path.exists():
        _make_english(ngrams, path)
    for place in (str(path.parent), str(path)):
        # PRIVACY: as with the default model, it is trusted because of its place.
        if not _is_own(place):
            raise make("damaged", "this place in your cache can be written by others, or is a "
                       "link: remove it", place)
    return Found(str(path), True, True)
