"""What can go wrong. Every error of tem is a `tem.Error`, and a built-in one where that is natural.

No message has a word of a text or of a vocabulary in it.
"""
import errno
from typing import Any


class Error(Exception):
    """Something failed in tem.

    status: what kind of failure, such as "format"; detail: the sentence alone; file, line, byte:
    where, counted from 1, or "" and 0; os_error: the system's errno, or 0.
    """

    status = "unknown"
    detail = ""
    file = ""
    line = 0
    byte = 0
    os_error = 0

    def __str__(self) -> str:  # OSError would write its own
        return str(self.args[0]) if self.args else self.detail

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (self.status, self.detail, self.file, self.line, self.byte, self.os_error)


class ArgumentError(Error, ValueError):
    """The call itself is wrong."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class FileError(Error, OSError):
    """The system refused to open, read or write."""


class NotFoundError(FileError, FileNotFoundError):
    """There is no such file."""


class ExistsError(FileError, FileExistsError):
    """The file to write is there already."""


class FormatError(Error, ValueError):
    """A text or a file is not what was expected."""


class VersionError(Error):
    """A file of a newer or older format."""


class DamagedError(Error):
    """A model or certificate that contradicts itself, or is not the one it was."""


class RangeError(Error, ValueError):
    """Values that the exact integers cannot hold."""


class MetricError(Error, ValueError):
    """The distances are no metric, so no guarantee could rest on them."""


class UnsupportedError(Error, NotImplementedError):
    """This mechanism or machine cannot do it."""


class CancelledError(Error):
    """The call was stopped."""


class BudgetError(Error):
    """The budget does not suffice."""


class CertificateError(Error):
    """No certificate, or one that is not believed or does not hold."""


class UntrustedError(Error):
    """A model that you have neither built nor verified, or that is not the one that was named; or a
    list of those you have that others can write."""


class TrustWarning(UserWarning):
    """tem could not note that you trust a model: in later processes you must say so yourself."""


class NotPrivateWarning(UserWarning):
    """What was asked for goes around the mechanism."""


class PrivacyWarning(UserWarning):
    """At this epsilon most words stay themselves: there is nearly no privacy."""


class RoundingWarning(UserWarning):
    """The grid is coarse for these vectors: distances are not quite those that were given."""


class UtilityWarning(UserWarning):
    """At this epsilon most words become any word: nearly no text is left."""


_CLASSES: dict[str, type[Error]] = {
    "argument": ArgumentError, "memory": OutOfMemoryError, "file": FileError,
    "exists": ExistsError, "format": FormatError, "version": VersionError,
    "damaged": DamagedError, "range": RangeError, "metric": MetricError,
    "unsupported": UnsupportedError, "cancelled": CancelledError, "budget": BudgetError,
    "certificate": CertificateError, "untrusted": UntrustedError}


def make(status: str, detail: str, file: str = "", line: int = 0, byte: int = 0,
         os_error: int = 0) -> Error:
    """The exception for a status of tem.h."""
    kind = _CLASSES.get(status, Error)
    if kind is FileError and os_error == errno.ENOENT:
        kind = NotFoundError
    place = [file] if file else []
    place += [f"line {line}"] if line else [f"byte {byte}"] if byte else []
    error = kind(": ".join([*place, detail]))
    error.status, error.detail, error.file = status, detail, file
    error.line, error.byte, error.os_error = line, byte, os_error
    if isinstance(error, OSError):
        error.errno, error.filename = os_error or None, file or None
    return error
