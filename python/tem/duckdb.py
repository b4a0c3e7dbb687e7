"""For DuckDB: a SQL function that makes a column of texts private.

    tem.duckdb.register(connection, epsilon=3, ledger="spent.jsonl", budget=10_000)
    connection.sql("SELECT id, tem_privatize(text, 3) AS text FROM reviews")

Every evaluation draws again and costs again, and DuckDB decides how many rows it evaluates: the
ledger has the cost. docs/OPERATORS.md says what to know.
"""
from collections.abc import Callable
from typing import Any, Unpack

from ._errors import make
from ._model import Model, as_model
from ._options import NO_EPSILON, POLICIES, Keywords, Path, check, explained

__all__ = ["register"]

OFFERED = (*POLICIES, "ledger", "budget", "budget_worst", "threads")


@explained("epsilon", *OFFERED)
def register(connection: Any, model: Model | Path | None = None, *, epsilon: float = NO_EPSILON,
             name: str = "tem_privatize", **options: Unpack[Keywords]) -> None:
    """Adds the function `name(text, epsilon)` to the database of a connection, for all its cursors.

    In a query, `epsilon` must be the registered one. It is there for the reader: a function has one
    epsilon. For another epsilon register another name. `connection.remove_function(name)` removes
    the function.

    model: a Model, the path of one, or None for the default one.
    {options}
    """
    check("register", epsilon, options, OFFERED)
    opened = as_model(model)
    opened.privatize([], epsilon, **options)  # errors and warnings come now, not during a query
    # PRIVACY: without side effects DuckDB may evaluate the function once for many rows, or for two
    # equal calls, and use the draw again: the output would show that texts are equal.
    connection.create_function(name, _make_draw(opened, epsilon, options), ["VARCHAR", "DOUBLE"],
                               "VARCHAR", type="arrow", null_handling="special", side_effects=True)


def _make_draw(model: Model, epsilon: float, options: Keywords) -> Callable[[Any, Any], Any]:
    def draw(texts: Any, epsilons: Any) -> Any:
        """Replaces a vector of texts. If this raises, DuckDB ends the query without them."""
        # PRIVACY: the proof is about one epsilon that does not depend on the text. With one value
        # to choose from, an expression over the row cannot choose.
        if not set(epsilons.unique().to_pylist()) <= {epsilon}:
            raise make("argument", "epsilon must be the registered one in every row")
        return model.privatize(texts, epsilon, **options)
    return draw
