"""For Parquet files, through pyarrow: makes columns of texts private, one row group at a time.

    import tem.parquet
    report = tem.parquet.privatize("in.parquet", "out.parquet", ["text"], 3, drop=["mail"])
"""
import difflib
import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any, Unpack

import pyarrow
from pyarrow import parquet

from . import _tem
from ._model import Model, as_model
from ._options import ALL, NO_EPSILON, Keywords, Path, explained
from ._results import Report

__all__ = ["privatize"]

_LOOKED_AT = 1000  # values of each unchanged column


def _check(schema: Any, columns: Sequence[str], drop: Sequence[str],
           drop_if_present: Sequence[str]) -> None:
    for keyword, given in (("columns", columns), ("drop", drop),
                           ("drop_if_present", drop_if_present)):
        if isinstance(given, str):
            raise ValueError(f"{keyword} is a list of names, not one string: [{given!r}]")
    named = [*columns, *drop, *drop_if_present]
    if not columns:
        raise ValueError("which columns are private?")
    if len(set(named)) < len(named):
        raise ValueError("a column is named twice: it is private or dropped, not both")
    for name in named:
        if schema.names.count(name) != 1 and not (name in drop_if_present
                                                  and name not in schema.names):
            raise ValueError(f"the file must have each named column exactly once: {name!r}"
                             f"{_near(name, schema.names)}")
    for name in columns:
        kind = schema.field(name).type
        kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise TypeError(f"a private column must have texts (string or large_string): {name!r} "
                            f"has {kind}")


def _near(name: str, names: Sequence[str]) -> str:
    """Names of columns are public."""
    near = [other for other in names if other.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near and name not in names else f"; it has {names}"


def _personal(table: Any, names: Sequence[str]) -> list[dict[str, str]]:
    """Which of the unchanged columns look personal, by a simple rule that misses much."""
    found = []
    for name in names:
        column = [] if table is None else table.column(name).slice(0, _LOOKED_AT).to_pylist()
        values = [str(value) for value in column if value is not None]
        looks = _tem.looks_like(name, values)
        if looks is not None:
            found.append({"field": name, "looks_like": looks[0],
                          "by": "content" if looks[1] else "name"})
            warnings.warn(f"the column {name!r} stays as it is, and its "
                          f"{'values look like' if looks[1] else 'name suggests'} {looks[0]}: add "
                          "it to columns or to drop", stacklevel=4)
    return found


def _replace(model: Model, table: Any, schema: Any, columns: Sequence[str], epsilon: float,
             options: dict[str, Any]) -> tuple[Any, Report]:
    """The table with private columns, and one report for all of them."""
    texts = [text for name in columns for text in table.column(name).to_pylist()]
    by = options.get("by")
    if by is not None:
        people = table.column(by).to_pylist()
        options = {**options, "by": {by: people * len(columns)}}
    private, report = model.privatize_report(texts, epsilon, **options)
    arrays = []
    for field in schema:
        if field.name in columns:
            at = columns.index(field.name) * table.num_rows
            arrays.append(pyarrow.array(private[at:at + table.num_rows], field.type))
        else:
            arrays.append(table.column(field.name))
    return pyarrow.table(arrays, schema=schema), report


def _schema(given: Any, columns: Sequence[str], drop: Sequence[str]) -> Any:
    """The schema of the output. PRIVACY: no metadata, which may hold anything about the texts; and
    a private column is no dictionary, whose entries would come from the input."""
    fields = []
    for field in given:
        if field.name in drop:
            continue
        kind = field.type
        if field.name in columns and pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        fields.append(pyarrow.field(field.name, kind, nullable=field.nullable))
    return pyarrow.schema(fields)


@explained(*ALL)
def privatize(source: Path, target: Path, columns: Sequence[str], epsilon: float = NO_EPSILON, *,
              drop: Sequence[str] = (), drop_if_present: Sequence[str] = (),
              model: Model | Path | None = None, overwrite: bool = False,
              **options: Unpack[Keywords]) -> Report:
    """Writes `target`, a copy of the Parquet file `source` with private columns.

    columns: the columns whose texts become private.
    drop: columns that are left out; the file must have them. drop_if_present: the same for columns
        that it may lack. All others stay as they are; tem warns if they look personal,
        and the report lists them (`fields`).
    model: a Model, the path of one, or None for the default one.
    overwrite: False: refuse a target that exists. tem always refuses the source as the target.
    With a ledger, tem charges each row group before it writes it; `by` names a column. The file
    appears when it is complete. It has no metadata of the source.
    {options}
    """
    if os.path.exists(target):
        if os.path.samefile(source, target):
            raise FileExistsError("the target is the source, which would be lost")
        if not overwrite:
            raise FileExistsError("the target exists already")
    chosen, file = as_model(model), parquet.ParquetFile(source)
    given = file.schema_arrow
    _check(given, columns, drop, drop_if_present)
    columns = list(columns)
    drop = [*drop, *(name for name in drop_if_present if name in given.names)]
    schema = _schema(given, columns, drop)
    unchanged = [name for name in schema.names if name not in columns]
    groups = file.num_row_groups
    first = file.read_row_group(0) if groups > 0 else None
    fields = {"private": columns, "dropped": drop, "unchanged": unchanged, "more": False,
              "personal": _personal(first, unchanged)}
    folder = os.path.dirname(os.path.abspath(os.fspath(target)))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".tem-", suffix=".parquet")
    os.close(handle)
    try:
        total: Report | None = None
        with parquet.ParquetWriter(temporary, schema) as writer:
            for group in range(groups):
                table = first if group == 0 else file.read_row_group(group)
                private, report = _replace(chosen, table, schema, columns, epsilon, dict(options))
                writer.write_table(private)
                total = report if total is None else total + report
        if total is None:
            total = chosen.privatize_report([], epsilon, **options)[1]
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    return total._with_fields("parquet", fields)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
