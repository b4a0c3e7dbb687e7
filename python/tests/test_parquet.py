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
    with pytest.warns(UserWarning, match="'mail' stays as it is, and its values look like e-mail"):
        report = tem.parquet.privatize(source, source.parent / "out.parquet", ["text"], 2,
                                       model=small)
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
    target.write_text("there")
    with pytest.raises(FileExistsError):
        tem.parquet.privatize(source, target, ["text"], 2, model=small)
    assert target.read_text() == "there"
