"""The SQL function, with the real DuckDB."""
import threading

import duckdb
import pytest
from conftest import COINS, FLUENT, SURE

import tem
import tem.duckdb


@pytest.fixture
def connection(tmp_path):
    with duckdb.connect(tmp_path / "texts.db") as made:
        yield made


def fill(connection, count, text="'The film ' || CASE i % 2 WHEN 0 THEN 'was' ELSE 'said' END"):
    connection.execute(f"CREATE TABLE texts AS SELECT i, {text} AS text FROM range({count}) t(i)")
    connection.execute("CHECKPOINT")  # compressed, so that scans give dictionaries


def test_a_column(connection, model):
    """Several vectors, with NULL; rows stay where they were."""
    fill(connection, 5000)
    connection.execute("INSERT INTO texts VALUES (5000, NULL), (5001, '')")
    tem.duckdb.register(connection, model, **SURE)
    tem.duckdb.register(connection, model, **SURE, missing="keep", name="keeping")
    expected = [("the film was",), ("the film said",)] * 2500
    query = "SELECT {}(text, 90) FROM texts ORDER BY i"
    assert connection.execute(query.format("tem_privatize")).fetchall() == expected + [("",)] * 2
    assert connection.execute(query.format("keeping")).fetchall() == expected + [(None,), ("",)]
    nothing = connection.execute("SELECT tem_privatize(text, 90) FROM texts WHERE text LIKE 'x%'")
    assert nothing.fetchall() == []


@pytest.mark.parametrize("epsilon", [
    "2", "NULL", "'NaN'::DOUBLE", "i", "i % 2 + 1", "random()", "(SELECT 2)",
    "CASE WHEN text LIKE '%was' THEN 1 ELSE 2 END"])
def test_another_epsilon_is_refused(connection, model, ledger, charges, epsilon):
    """Also one that depends on the row."""
    fill(connection, 10)
    tem.duckdb.register(connection, model, epsilon=1, ledger=ledger)
    with pytest.raises(duckdb.Error, match="the registered one in every row") as refused:
        connection.execute(f"SELECT tem_privatize(text, {epsilon}) FROM texts").fetchall()
    assert "film" not in str(refused.value) and charges() == []


def test_epsilon_in_other_spellings(connection, model, ledger, charges):
    fill(connection, 10)
    tem.duckdb.register(connection, model, epsilon=0.1, ledger=ledger)
    for epsilon in ("0.1", "1e-1", "1 / 10"):
        connection.execute(f"SELECT tem_privatize(text, {epsilon}) FROM texts").fetchall()
    connection.execute("SELECT tem_privatize(text, ?) FROM texts", [0.1]).fetchall()
    assert [charge["epsilon"] for charge in charges()] == [0.1] * 4
    for wrong in ("text", "text, text", "text, 0.1, 0.1"):
        with pytest.raises(duckdb.BinderException):
            connection.execute(f"SELECT tem_privatize({wrong}) FROM texts")


SOURCES = {"table": "texts", "parquet": "'{}/texts.parquet'", "enum": "kinds",
           "constant": f"(SELECT '{COINS}' AS text FROM range(5000))",
           "join": "(SELECT texts.text FROM texts JOIN range(5000) r(k) ON texts.i = r.k % 3)"}


@pytest.mark.parametrize("source", SOURCES)
def test_equal_rows_get_independent_draws(connection, coin, tmp_path, source):
    """5,000 equal texts of 64 words. Two of them come out equal with probability 2^-64: all are
    different, except with probability 5000^2 / 2 * 2^-64 < 10^-12."""
    fill(connection, 5000, f"'{COINS}'")
    connection.execute(f"COPY texts TO '{tmp_path}/texts.parquet'")
    connection.execute(f"CREATE TYPE kind AS ENUM ('{COINS}', 'heads')")
    connection.execute("CREATE TABLE kinds AS SELECT text::kind AS text FROM texts")
    tem.duckdb.register(connection, coin, epsilon=1)
    place = SOURCES[source].format(tmp_path)
    drawn = connection.execute(f"SELECT tem_privatize(text::VARCHAR, 1) FROM {place}").fetchall()
    assert len(drawn) == len(set(drawn)) == 5000


def test_two_calls_are_two_draws(connection, coin, ledger, charges):
    """Equal calls of one query, and a prepared query that runs again, draw and cost again. Two
    draws of a row are equal with probability 2^-64: a false alarm in 300 * 2^-64."""
    fill(connection, 100, f"'{COINS}'")
    tem.duckdb.register(connection, coin, epsilon=1, ledger=ledger)
    rows = connection.execute("SELECT tem_privatize(text, 1), tem_privatize(text, 1) FROM texts")
    assert all(first != second for first, second in rows.fetchall())
    assert sum(charge["words"] for charge in charges()) == 2 * 100 * 64
    rows = connection.execute("SELECT tem_privatize(?, 1) AS drawn FROM texts", [COINS]).fetchall()
    assert len(set(rows)) == 100
    assert sum(charge["words"] for charge in charges()) == 3 * 100 * 64
    rows = connection.execute("SELECT p, p FROM (SELECT tem_privatize(text, 1) AS p FROM texts)")
    assert all(first == second for first, second in rows.fetchall())  # one call, one draw
    assert sum(charge["words"] for charge in charges()) == 4 * 100 * 64


def test_what_is_charged(connection, coin, ledger, charges):
    """At least what the query returns, before it returns it; nothing for a plan."""
    fill(connection, 10_000, f"'{COINS}'")
    tem.duckdb.register(connection, coin, epsilon=1, ledger=ledger)
    connection.execute("EXPLAIN SELECT tem_privatize(text, 1) FROM texts").fetchall()
    assert charges() == []
    rows = connection.execute("SELECT tem_privatize(text, 1) FROM texts LIMIT 10").fetchall()
    assert sum(charge["documents"] for charge in charges()) >= len(rows) == 10
    before = len(charges())
    kept = connection.execute("SELECT p FROM (SELECT tem_privatize(text, 1) AS p FROM texts) "
                              "WHERE p LIKE 'heads%'").fetchall()
    assert len(kept) < 9_000  # the filter sees the draws, and all of them cost
    assert sum(charge["documents"] for charge in charges()[before:]) == 10_000


def test_budget(connection, coin, ledger, charges):
    """The budget ends in the third vector: the query fails, and no table is made."""
    fill(connection, 10_000, f"'{COINS}'")
    tem.duckdb.register(connection, coin, epsilon=1, ledger=ledger, budget=5000 * 64)
    connection.execute("SET threads = 1")
    with pytest.raises(duckdb.Error, match="BudgetError") as refused:
        connection.execute("CREATE TABLE private AS SELECT tem_privatize(text, 1) FROM texts")
    assert "heads" not in str(refused.value)
    assert sum(charge["documents"] for charge in charges()) == 2 * 2048
    with pytest.raises(duckdb.Error, match="private"):
        connection.execute("SELECT * FROM private")


def test_failures_release_nothing(connection, model, monkeypatch):
    """A failure in a later vector ends the query; its message has no text."""
    fill(connection, 10_000)
    tem.duckdb.register(connection, model, epsilon=1)
    calls = []

    def fail(self, texts, *rest, **options):
        calls.append(len(texts))
        if len(calls) == 3:
            raise tem.DamagedError("the model is damaged")
        return plain(self, texts, *rest, **options)
    plain = tem.Model.privatize
    monkeypatch.setattr(tem.Model, "privatize", fail)
    connection.execute("SET threads = 1")
    with pytest.raises(duckdb.Error, match="DamagedError") as failed:
        connection.execute("CREATE TABLE private AS SELECT tem_privatize(text, 1) FROM texts")
    assert calls == [2048] * 3 and "film" not in str(failed.value)
    assert connection.execute("SHOW TABLES").fetchall() == [("texts",)]


def test_threads(connection, model, ledger, charges):
    """Four threads of DuckDB, and two cursors at once, share the function and the ledger."""
    count = 400_000  # four row groups
    fill(connection, count)
    tem.duckdb.register(connection, model, **SURE, ledger=ledger)
    connection.execute("SET threads = 4")
    found = {}

    def query(each, bound):
        found[bound] = each.execute(
            "SELECT tem_privatize(text, 90) AS private, count(*) FROM texts WHERE i < ? "
            "GROUP BY ALL ORDER BY private", [bound]).fetchall()
    workers = [threading.Thread(target=query, args=given)
               for given in ((connection, count), (connection.cursor(), 100_000))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for bound in (count, 100_000):
        assert found[bound] == [("the film said", bound // 2), ("the film was", bound // 2)]
    assert sum(charge["words"] for charge in charges()) == 3 * (count + 100_000)


def test_in_context(connection, default, seeded, ledger, charges):
    """Each row is a document of its own, drawn as Model.privatize draws it."""
    fill(connection, 40, "'One of my best films was on, my best film ' || i")
    tem.duckdb.register(connection, **FLUENT, ledger=ledger)
    rows = connection.execute("SELECT text, tem_privatize(text, 3.4) FROM texts ORDER BY i")
    texts, private = zip(*rows.fetchall())
    assert list(private) == default.privatize(list(texts), **FLUENT)
    alone = {**FLUENT, "language_model": None, "style": "joined"}
    assert list(private) != default.privatize(list(texts), **alone)
    words = [text.split() for text in private]
    assert not {"of", "film"} & set(sum(words, []))
    charge, = charges()
    assert charge["language_model"] == "english"
    assert charge["language_model_hash"] == tem.LanguageModel.open("english").hash


def test_registering(connection, model):
    tem.duckdb.register(connection, model, epsilon=1)
    with pytest.raises(duckdb.Error, match="already"):
        tem.duckdb.register(connection, model, epsilon=2)
    connection.remove_function("tem_privatize")
    tem.duckdb.register(connection, model, epsilon=2)
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(tem.Error):
            tem.duckdb.register(connection, model, epsilon=wrong, name="another")
    for refused in ("insecure_seed", "by", "progress"):
        with pytest.raises(TypeError):
            tem.duckdb.register(connection, model, epsilon=1, name="another", **{refused: 1})
