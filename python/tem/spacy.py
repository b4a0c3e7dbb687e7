"""For spaCy: a component that puts a private version of each text beside it.

    import tem.spacy
    nlp = spacy.blank("en")
    nlp.add_pipe("tem", config={"epsilon": 3})
    nlp("what a wonderful film")._.private

The Doc still has the text that came in, and all that was found in it: release `doc._.private`, and
nothing else of it. Every call draws anew, and its costs add up.
"""
from collections.abc import Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from ._model import Model, Path, as_model

__all__ = ["Privatizer"]

Doc.set_extension("private", default=None, force=True)


class Privatizer:
    """Sets `doc._.private`. Its options are those of `tem.Model.privatize`; the model is opened where
    it is first needed."""

    def __init__(self, model: Model | Path | None, options: dict[str, Any]) -> None:
        self.model, self.options = model, options

    def __call__(self, doc: Doc) -> Doc:
        doc._.private = as_model(self.model).privatize(doc.text, **self.options)
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Many at once, on all processors."""
        for batch in minibatch(stream, batch_size):  # type: ignore[no-untyped-call]
            docs = list(batch)
            texts = as_model(self.model).privatize([doc.text for doc in docs], **self.options)
            for doc, text in zip(docs, texts):
                doc._.private = text
                yield doc


@Language.factory("tem", assigns=["doc._.private"], default_config={
    "model": None, "beta": None, "gamma": None, "mechanism": "tem", "calibrated": False,
    "unknown": "uniform", "punctuation": "drop", "strip_tags": False,
    "keep_lines": False, "ledger": None, "budget": None})
def make_privatizer(nlp: Language, name: str, epsilon: float, model: str | None, beta: float | None,
                    gamma: float | None, mechanism: str, calibrated: bool, unknown: str,
                    punctuation: str, strip_tags: bool, keep_lines: bool, ledger: str | None,
                    budget: float | None) -> Privatizer:
    """What `nlp.add_pipe("tem", config=...)` makes. epsilon has no default."""
    options = {"epsilon": epsilon, "beta": beta, "gamma": gamma, "mechanism": mechanism,
               "calibrated": calibrated, "unknown": unknown, "punctuation": punctuation,
               "strip_tags": strip_tags, "keep_lines": keep_lines, "ledger": ledger,
               "budget": budget}
    return Privatizer(model, options)
