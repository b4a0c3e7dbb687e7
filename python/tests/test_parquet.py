"""Parquet files: columns that become private, that are left out, and that stay."""
import os
import warnings

import pyarrow
import pytest
from pyarrow import parquet

import tem
import tem.parquet

WORDS = ["the movie was great", None, "the film", "", "wonderful movie"]


@pytest.fixture
def source(tmp_path):
    table = pyarrow.table({
        "mail": [f"{i}@example.org" for i in range(5)],
        "text": WORDS,
        "stars": [5, 4, None, 2, 1],
        "title": pyarrow.array(["great", "bad", "great", None, "film"]).dictionary_encode(),
        "who": ["ann", "bob", "ann", "bob", "ann"],
    }).replace_schema_metadata({"note": "canary"})
    path = tmp_path / "in.parquet"
    parquet.write_table(table, path, row_group_size=2)
    return path


def privatize(source, small, columns, **options):
    target = source.parent / "out.parquet"
    with warnings.catch_warnings():  # of what stays; a model warns of an epsilon only once
        warnings.simplefilter("ignore")
        report = tem.parquet.privatize(source, target, columns, model=small, overwrite=True,
                                       **options)
    return parquet.ParquetFile(target), report


def test_columns(source, small):
    file, report = privatize(source, small, ["text", "title"], epsilon=2, drop=["mail"],
                             insecure_seed=3)
    table, given = file.read(), parquet.read_table(source)
    assert table.column_names == ["text", "stars", "title", "who"]
    assert table["stars"].equals(given["stars"]) and table["who"].equals(given["who"])
    assert table.schema.metadata is None and table.schema.field("title").type == pyarrow.string()
    for name in ("text", "title"):
        for before, after in zip(given[name].to_pylist(), table[name].to_pylist()):
            assert len(after.split()) == len((before or "").split())
    assert file.num_row_groups == 3
    assert (report.documents, report.words, report.format) == (10, 12, "parquet")
    assert report.fields["private"] == ["text", "title"] and report.fields["dropped"] == ["mail"]
    assert report.fields["unchanged"] == ["stars", "who"]
    assert tem.Report.from_json(report.to_json()) == report


def test_metadata_of_nested_fields(tmp_path, small):
    """Fields inside lists, structs and maps have metadata, too."""
    def note(name, kind):
        return pyarrow.field(name, kind, metadata={"note": "canary"})

    kind = pyarrow.struct([note("many", pyarrow.list_(note("one", pyarrow.int64()))),
                           note("large", pyarrow.large_list(note("one", pyarrow.string()))),
                           note("pair", pyarrow.list_(note("one", pyarrow.int8()), 2)),
                           note("map", pyarrow.map_(pyarrow.string(),
                                                    note("value", pyarrow.int16())))])
    rows = [{"many": [1, 2], "large": ["x"], "pair": [3, 4], "map": [("k", 5)]}, None]
    table = pyarrow.table({"text": ["the movie", "film"], "nested": pyarrow.array(rows, kind)})
    source = tmp_path / "nested.parquet"
    parquet.write_table(table, source)
    given = parquet.ParquetFile(source).schema_arrow
    assert given.serialize().to_pybytes().count(b"canary") > 6
    file, _ = privatize(source, small, ["text"], epsilon=2)
    assert file.read()["nested"].to_pylist() == rows
    assert b"canary" not in file.schema_arrow.serialize().to_pybytes()
    assert file.schema_arrow.field("nested").type == given.field("nested").type


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400])
def test_permissions(source, small, mode):
    """A target that exists keeps its permissions; a new one has those of the umask."""
    target = source.parent / "out.parquet"
    before = os.umask(0o026)
    try:
        privatize(source, small, ["text"], epsilon=2)
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o7777 == 0o640
    target.chmod(mode)
    privatize(source, small, ["text"], epsilon=2)
    assert target.stat().st_mode & 0o7777 == mode
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.parquet", "out.parquet"]


def test_without_row_groups(tmp_path, small_path):
    """A file without rows is charged nothing, also by people."""
    source, ledger = tmp_path / "empty.parquet", tmp_path / "ledger"
    kind = pyarrow.schema({"text": pyarrow.string(), "who": pyarrow.string()})
    parquet.ParquetWriter(source, kind).close()
    assert parquet.ParquetFile(source).num_row_groups == 0
    file, report = privatize(source, tem.Model.open(small_path), ["text"], epsilon=1, by="who",
                             ledger=ledger, budget=1)
    assert file.read().num_rows == 0 and file.schema_arrow.names == ["text", "who"]
    assert (report.documents, report.words, report.spent) == (0, 0, 0)


def test_target_is_the_source(source, small, tmp_path):
    before = source.read_bytes()
    link, hard = tmp_path / "link.parquet", tmp_path / "hard.parquet"
    link.symlink_to(source)
    os.link(source, hard)
    for target in (source, link, hard):
        with pytest.raises(FileExistsError, match="is the source"):
            tem.parquet.privatize(source, target, ["text"], 2, model=small, overwrite=True)
    assert source.read_bytes() == before


def test_columns_that_may_be_missing(source, small):
    file, report = privatize(source, small, ["text"], epsilon=2, drop=["who"],
                             drop_if_present=["mail", "Mail"])
    assert file.read().column_names == ["text", "stars", "title"]
    assert report.fields["dropped"] == ["who", "mail"]
    with pytest.raises(ValueError, match="exactly once"):
        privatize(source, small, ["text"], epsilon=2, drop=["Mail"])


def test_warnings(source, small):
    with pytest.warns(UserWarning, match="'mail' stays as it is, and its values look like e-mail"
                      ) as caught:
        report = tem.parquet.privatize(source, source.parent / "out.parquet", ["text"], 2,
                                       model=small)
    assert {warning.filename for warning in caught} == {__file__}
    assert report.fields["personal"][0] == {"field": "mail", "looks_like": "e-mail addresses",
                                            "by": "content"}


def test_ledger(source, small, small_path):
    """Each row group is charged; a budget that ends in the middle leaves no file."""
    model, ledger = tem.Model.open(small_path), source.parent / "ledger"
    report = privatize(source, model, ["text"], epsilon=1, ledger=ledger, budget=100)[1]
    assert report.spent == 8
    (source.parent / "out.parquet").unlink()
    with pytest.raises(tem.BudgetError), pytest.warns(UserWarning):
        tem.parquet.privatize(source, source.parent / "out.parquet", ["text"], 1, model=model,
                              ledger=ledger, budget=13)
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.parquet", "ledger"]
    people = source.parent / "people"
    privatize(source, model, ["text"], epsilon=1, by="who", ledger=people, budget=100)
    assert people.read_text().count('"by":"who"') == 3


def test_refused(source, small):
    target = source.parent / "out.parquet"
    for columns, drop, kind in ([[], [], ValueError], [["text"], ["text"], ValueError],
                                [["none"], [], ValueError], [["stars"], [], TypeError]):
        with pytest.raises(kind):
            tem.parquet.privatize(source, target, columns, 2, drop=drop, model=small)
    with pytest.raises(ValueError, match="'whoo'; did you mean 'who'"):
        tem.parquet.privatize(source, target, ["text"], 2, model=small, by="whoo",
                              ledger=source.parent / "ledger", budget=1)
    target.write_text("there")
    with pytest.raises(FileExistsError):
        tem.parquet.privatize(source, target, ["text"], 2, model=small)
    assert target.read_text() == "there"
