"""For spaCy: a component that adds a private version of each text to its Doc.

    import tem.spacy
    nlp = spacy.blank("en")
    nlp.add_pipe("tem", config={"epsilon": 3})
    nlp("what a wonderful film")._.private

The Doc still has the original text and everything found in it. Release only `doc._.private`. Every
call draws again, and the costs add up.
"""
from collections.abc import Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ._model import Model, as_model
from ._options import DEFAULTS, POLICIES, Path, explained

__all__ = ["Privatizer"]

Doc.set_extension("private", default=None, force=True)


class Privatizer:
    """Sets `doc._.private`. Its options are those of `tem.Model.privatize`; the model is opened
    where it is first needed."""

    def __init__(self, model: Model | Path | None, options: dict[str, Any]) -> None:
        self.model, self.options = model, options

    def __call__(self, doc: Doc) -> Doc:
        doc._.private = as_model(self.model).privatize(doc.text, **self.options)
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Privatizes many texts at once, on all CPUs."""
        for batch in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            docs = list(batch)
            texts = as_model(self.model).privatize([doc.text for doc in docs], **self.options)
            for doc, text in zip(docs, texts):
                doc._.private = text
                yield doc


# The options that a configuration can hold; a Doc always has a text.
CONFIGURED = (*[name for name in POLICIES if name != "missing"], "ledger", "budget", "budget_worst")


@Language.factory("tem", assigns=["doc._.private"], default_config={
    "model": None, **{name: DEFAULTS[name] for name in CONFIGURED}})
@explained(*CONFIGURED)  # spaCy reads the names from the signature
def make_privatizer(nlp: Language, name: str, epsilon: float, model: str | None,
                    **options: Any) -> Privatizer:
    """What `nlp.add_pipe("tem", config=...)` makes. epsilon has no default.

    {options}
    """
    return Privatizer(model, {"epsilon": epsilon, **options})
