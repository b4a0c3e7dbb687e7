"""The command `tem` of the Python package: the same program as after `make install`.

The wheel has the program, but not the default model, which takes 75 MB. So this finds the default
model, builds it in the user's cache on first use, and names it to the program.
"""
import os
import sys

from . import _default
from ._errors import Error

PROGRAM = os.path.join(os.path.dirname(__file__), "tem-command")
WITHOUT_MODEL = ("build", "help", "mechanisms", "vectors")  # and options such as --version


def _needs_default(arguments: list[str]) -> bool:
    """Whether the program would look for the default model."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in WITHOUT_MODEL:
        return False
    if os.environ.get("TEM_MODEL"):
        return False
    return not any(each in ("--help", "-h") or each.startswith(("-m", "--model"))
                   for each in arguments)


def main() -> None:
    """Becomes the program. Returns only if that fails."""
    arguments = sys.argv[1:]
    environment = dict(os.environ)
    if _needs_default(arguments):
        try:
            environment["TEM_MODEL"] = _default.find(0, None).path
        except Error as failed:
            sys.exit(f"tem: {failed}")
    os.execve(PROGRAM, ["tem", *arguments], environment)


if __name__ == "__main__":
    main()
