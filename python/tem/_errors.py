"""The errors. Every error of tem is a `tem.Error`, and also a built-in error where one fits.

No message contains a word of a text or of a vocabulary.
"""
import errno
from typing import Any


class Error(Exception):
    """The base of all errors of tem.

    status: what kind of failure, such as "format"; detail: the sentence alone; file, line, byte:
    where, counted from 1, or "" and 0; os_error: the system's errno, or 0.
    """

    status = "unknown"
    detail = ""
    file = ""
    line = 0
    byte = 0
    os_error = 0

    def __str__(self) -> str:  # OSError would write its own text
        return str(self.args[0]) if self.args else self.detail

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (self.status, self.detail, self.file, self.line, self.byte, self.os_error)


class ArgumentError(Error, ValueError):
    """An argument of the call is wrong."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class FileError(Error, OSError):
    """The system refused to open, read or write a file."""


class NotFoundError(FileError, FileNotFoundError):
    """The file does not exist."""


class ExistsError(FileError, FileExistsError):
    """The output file exists already."""


class FormatError(Error, ValueError):
    """A text or a file does not have the expected format."""


class VersionError(Error):
    """The file has a newer or older format."""


class DamagedError(Error):
    """A model or certificate contradicts itself, or is not the expected one."""


class RangeError(Error, ValueError):
    """The exact integers cannot hold these values."""


class MetricError(Error, ValueError):
    """The distances are not a metric, so tem cannot give a guarantee."""


class UnsupportedError(Error, NotImplementedError):
    """This mechanism or machine does not support the call."""


class CancelledError(Error):
    """The call was stopped."""


class BudgetError(Error):
    """The budget is too small."""


class CertificateError(Error):
    """There is no certificate, or it is untrusted or wrong."""


class UntrustedError(Error):
    """You have neither built nor verified the model, or it is not the one you named; or others can
    write your list of trusted models."""


class TrustWarning(UserWarning):
    """tem could not record that you trust a model: in later processes you must name its hash."""


class NotPrivateWarning(UserWarning):
    """The requested output bypasses the mechanism."""


class PrivacyWarning(UserWarning):
    """At this epsilon most words stay unchanged, or the exposed ones have almost no privacy."""


class RoundingWarning(UserWarning):
    """The grid is coarse for these vectors: distances differ slightly from the given ones."""


class UtilityWarning(UserWarning):
    """Most words become arbitrary words: epsilon is small, or the model has other words than the
    texts."""


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
