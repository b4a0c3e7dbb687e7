"""For Parquet files, through pyarrow: makes columns of texts private, one row group at a time.

    import tem.parquet
    report = tem.parquet.privatize("in.parquet", "out.parquet", ["text"], 3, drop=["mail"])
"""
import difflib
import os
import secrets
import warnings
from collections.abc import Iterator, Sequence
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
           drop_if_present: Sequence[str], by: Any) -> None:
    for keyword, given in (("columns", columns), ("drop", drop),
                           ("drop_if_present", drop_if_present)):
        if isinstance(given, str):
            raise ValueError(f"{keyword} is a list of names, not one string: [{given!r}]")
    named = [*columns, *drop, *drop_if_present]
    if not columns:
        raise ValueError("which columns are private?")
    if len(set(named)) < len(named):
        raise ValueError("a column is named twice: it is private or dropped, not both")
    for name in [*named, *([] if by is None else [by])]:
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
        column = table.column(name).slice(0, _LOOKED_AT).to_pylist()
        values = [str(value) for value in column if value is not None]
        looks = _tem.looks_like(name, values)
        if looks is not None:
            found.append({"field": name, "looks_like": looks[0],
                          "by": "content" if looks[1] else "name"})
            warnings.warn(f"the column {name!r} stays as it is, and its "
                          f"{'values look like' if looks[1] else 'name suggests'} {looks[0]}: add "
                          "it to columns or to drop", stacklevel=3)
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
            arrays.append(table.column(field.name).cast(field.type))
    return pyarrow.table(arrays, schema=schema), report


def _plain(kind: Any) -> Any:
    """The type without the metadata of the fields inside it."""
    types = pyarrow.types
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _plain(kind.storage_type)
    if types.is_struct(kind):
        return pyarrow.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        return pyarrow.map_(_plain_field(kind.key_field), _plain_field(kind.item_field),
                            kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(_plain_field(kind.value_field), kind.list_size)
    if types.is_large_list(kind):
        return pyarrow.large_list(_plain_field(kind.value_field))
    if types.is_list(kind):
        return pyarrow.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: Any) -> Any:
    return pyarrow.field(field.name, _plain(field.type), nullable=field.nullable)


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
        fields.append(pyarrow.field(field.name, _plain(kind), nullable=field.nullable))
    return pyarrow.schema(fields)


def _tables(file: Any) -> Iterator[Any]:
    """The row groups; a file without any has one table without rows."""
    for group in range(file.num_row_groups):
        yield file.read_row_group(group)
    if file.num_row_groups == 0:
        yield file.schema_arrow.empty_table()


def _create(target: Path) -> tuple[int, str]:
    """A new file beside the target, with the permissions of the target that it will replace."""
    folder = os.path.dirname(os.path.abspath(os.fspath(target)))
    name = os.path.join(folder, f".tem-{secrets.token_hex(8)}.parquet")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    if os.path.exists(target):
        os.fchmod(handle, os.stat(target).st_mode & 0o7777)
    return handle, name


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
    _check(given, columns, drop, drop_if_present, options.get("by"))
    columns = list(columns)
    drop = [*drop, *(name for name in drop_if_present if name in given.names)]
    schema = _schema(given, columns, drop)
    unchanged = [name for name in schema.names if name not in columns]
    personal: list[dict[str, str]] = []
    total: Report | None = None
    handle, temporary = _create(target)
    try:
        with os.fdopen(handle, "wb") as out, parquet.ParquetWriter(out, schema) as writer:
            for table in _tables(file):
                if total is None:
                    personal = _personal(table, unchanged)
                private, report = _replace(chosen, table, schema, columns, epsilon, dict(options))
                if table.num_rows > 0:
                    writer.write_table(private)
                total = report if total is None else total + report
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    assert total is not None
    return total._with_fields("parquet", {"private": columns, "dropped": drop,
                                          "unchanged": unchanged, "more": False,
                                          "personal": personal})
