"""Which certificates are believed: those that the command believes (cli/trust.h).

A hash finds damage and does not tell who made a certificate. So the hashes of those that were made
or verified here are kept in a file of the user's own that nobody else can write.
"""
import os
import pathlib
import stat

from ._errors import make


def is_own(path: str | os.PathLike[str] | int) -> bool:
    """Whether it is a file of this user that nobody else can write."""
    found = os.stat(path)
    return (stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
            and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def folder_of(variable: str, tail: str) -> pathlib.Path | None:
    """A folder of the XDG specification: $VARIABLE, or TAIL under the home folder."""
    named, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if os.path.isabs(named):
        return pathlib.Path(named, "tem")
    return pathlib.Path(home, tail, "tem") if os.path.isabs(home) else None


def _list() -> pathlib.Path:
    folder = folder_of("XDG_STATE_HOME", ".local/state")
    if folder is None:
        raise make("certificate", "neither $XDG_STATE_HOME nor $HOME names a folder: there is no "
                   "place to note which certificates you have made or verified")
    return folder / "certificates"


def _open_own(path: pathlib.Path, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    if is_own(descriptor):  # PRIVACY: what others can write says nothing about what one has seen
        return descriptor
    os.close(descriptor)
    raise make("certificate", "ignored: it must be a file of your own that nobody else can write "
               "(chmod go-w)", str(path))


def has(certificate: str) -> bool:
    """Whether a certificate, named by its hash, was made or verified by this user."""
    try:
        descriptor = _open_own(_list(), os.O_RDONLY)
    except FileNotFoundError:
        return False
    with open(descriptor, encoding="ascii", errors="replace") as lines:
        return any(line == certificate + "\n" for line in lines)


def ready() -> None:
    """Fails unless a certificate could be noted."""
    path = _list()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(_open_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))


def add(certificate: str) -> None:
    """Believes it from now on. One write of a whole line: lines of two processes do not mix."""
    if has(certificate):
        return
    descriptor = _open_own(_list(), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, f"{certificate}\n".encode("ascii"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
