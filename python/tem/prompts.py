"""For prompts: draws for the private messages of a prompt before it leaves.

    guard = tem.prompts.guard(epsilon=3)
    client.chat.completions.create(model=..., messages=guard(messages))

The guard returns a new prompt or raises: it never returns the text that it was given. It refuses
what it does not know. It sees only the messages; the other arguments of a request leave as they
are.
"""
import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack, overload

from ._errors import make
from ._model import Model, as_model
from ._operators import without_bound
from ._options import NO_EPSILON, POLICIES, Keywords, Path, check, explained
from ._results import Report

__all__ = ["Guard", "guard"]

Message = Mapping[str, Any]
# Where the words of each private text belong in the new prompt: the text, a dictionary, its key.
Slots = list[tuple[str, dict[str, Any], str]]

_NAME = re.compile("[A-Za-z_]{1,20}")

# A prompt always has a text, so nothing is missing.
OFFERED = (*[name for name in POLICIES if name != "missing"], "ledger", "budget", "budget_worst",
           "threads")


class Guard:
    """Draws for prompts; `guard` makes one. Threads may share it."""

    def __init__(self, model: Model | Path | None, private: frozenset[str], public: frozenset[str],
                 allow_parts: frozenset[str], epsilon: float, options: Keywords) -> None:
        self.model, self.epsilon, self.options = model, epsilon, options
        self.private, self.public, self.allow_parts = private, public, allow_parts

    @overload
    def __call__(self, prompt: str) -> str: ...
    @overload
    def __call__(self, prompt: Sequence[Message]) -> list[dict[str, Any]]: ...
    def __call__(self, prompt: Any) -> Any:
        """The prompt with drawn words: a str for a str, a new list for a list of messages."""
        return self.privatize_report(prompt)[0]

    def privatize_report(self, prompt: Any) -> tuple[Any, Report]:
        """The same, and what was done and spent: (prompt, `Report`). Each private text is one
        document."""
        if isinstance(prompt, str):
            drawn, report = self._draw([prompt])
            return drawn[0], report
        if not isinstance(prompt, (list, tuple)):
            raise make("argument", "a prompt is a str, or a list of messages with role and content")
        slots: Slots = []
        messages = [self._message(message, f"messages[{number}]", slots)
                    for number, message in enumerate(prompt)]
        drawn, report = self._draw([text for text, _, _ in slots])
        for (_, holder, key), words in zip(slots, drawn, strict=True):
            holder[key] = words
        return messages, report

    def _draw(self, texts: list[str]) -> tuple[list[str], Report]:
        # PRIVACY: one call draws for all texts, and charges for them. If it raises, the caller gets
        # no prompt.
        drawn, report = as_model(self.model).privatize_report(texts, self.epsilon, **self.options)
        if self.allow_parts:  # whether or not this prompt has such parts
            return drawn, without_bound(report, "parts of the types in allow_parts leave as they "
                                        "are")
        return drawn, report

    def _message(self, message: Any, place: str, slots: Slots) -> dict[str, Any]:
        # PRIVACY: any other key may hold private text, such as the arguments of a tool call, or a
        # name.
        if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
            raise make("argument", f"{place} must be a dict with role, content and nothing else: "
                       "the guard refuses tool calls, names and other keys")
        role, content = message["role"], message["content"]
        named = isinstance(role, str)  # only then it may be looked up
        if named and role in self.public:
            return {"role": role, "content": copy.deepcopy(content)}
        if not named or role not in self.private:
            raise make("argument", f"{place} has {_shown(role)}, which is neither private nor "
                       "public here: guard(..., private=[...], public=[...]) takes the roles")
        if isinstance(content, list):
            parts = [self._part(part, f"{place}, part {number}", slots)
                     for number, part in enumerate(content)]
            return {"role": role, "content": parts}
        return _text(content, place, {"role": role}, "content", slots)

    def _part(self, part: Any, place: str, slots: Slots) -> dict[str, Any]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "text" and set(part) == {"type", "text"}:
            return _text(part["text"], place, {"type": "text"}, "text", slots)
        if kind in self.allow_parts:
            return dict(copy.deepcopy(part))
        raise make("argument", f"{place} is not plain text, and its type was not allowed: leave it "
                   "out, or guard(..., allow_parts=[...]) lets parts of a type leave as they are")


def _shown(role: Any) -> str:
    """PRIVACY: a role that is no name may be a text in the wrong place, so no message repeats
    it."""
    return f"the role {role!r}" if isinstance(role, str) and _NAME.fullmatch(role) \
        else "a role that is no name"


def _text(text: Any, place: str, holder: dict[str, Any], key: str,
          slots: Slots) -> dict[str, Any]:
    """Notes where the words for a text belong. PRIVACY: the new prompt never contains the text
    itself."""
    if not isinstance(text, str):
        raise make("argument", f"{place}: the content of a private message must be a str or "
                   f"a list of parts, not {type(text).__name__}")
    slots.append((text, holder, key))
    return holder


@explained("epsilon", *OFFERED)
def guard(model: Model | Path | None = None, *, epsilon: float = NO_EPSILON,
          private: Iterable[str] = ("user",), public: Iterable[str] = ("system", "developer"),
          allow_parts: Iterable[str] = (), **options: Unpack[Keywords]) -> Guard:
    """A function that draws for every word of a prompt: of a str, or of the messages whose role is
    private, in the form {"role": ..., "content": ...} of OpenAI.

    model: a Model, the path of one, or None for the default one. private: roles for which tem
    draws. public: roles whose messages leave as they are, because you declare that they contain
    nothing private; any other role is refused. allow_parts: types of parts, such as "image_url",
    that leave as they are; other parts that are not text are refused.
    {options}
    """
    check("guard", epsilon, options, OFFERED)
    drawn, kept = _names("private", private), _names("public", public)
    kinds = _names("allow_parts", allow_parts)
    if drawn & kept or "text" in kinds:
        raise make("argument", "a role is either private or public, and text is always drawn for")
    as_model(model).privatize([], epsilon, **options)  # errors and warnings come now
    return Guard(model, drawn, kept, kinds, epsilon, options)


def _names(keyword: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise make("argument", f"{keyword} is a list of names, not one string")
    return frozenset(names)
