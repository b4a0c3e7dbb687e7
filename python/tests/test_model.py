"""Models: building, opening, reading, pickling."""
import copy
import gc
import itertools
import math
import multiprocessing
import os
import pathlib
import pickle
import shutil
import sys
import warnings

import numpy
import pytest
from conftest import ROOT, WORDS

import tem


def test_adapted_model(command, tmp_path):
    """A model that the command has adapted is one like others; the report names what it keeps."""
    path = tmp_path / "kept.tem"
    data = ROOT / "tests/data/cli"
    command("adapt", "-q", data / "topics.txt", "-o", path, "--lexicon", data / "pleasant.tsv",
            "--stretch", "0.5")
    model = tem.Model.open(path)
    private, report = model.privatize_report("the", epsilon=3)
    assert len(private.split()) == 1 and report.keeps == "pleasant"
    assert 0 < model.explain("the", 3).self_probability < 1
    assert model.audit(3).realised <= 3


def test_words_and_distances(small, vectors):
    assert len(small) == len(WORDS) and list(small.words) == WORDS
    assert small.dimension == 6 and small.metric == "euclidean" and len(small.hash) == 64
    for a in range(0, len(WORDS), 3):
        for b in range(len(WORDS)):
            exact = float(numpy.linalg.norm(vectors[a].astype("f8") - vectors[b]))
            found = small.distance(WORDS[a], WORDS[b])
            assert exact <= found < exact + 2 ** -15
    assert (small.vector("movie") == vectors[1]).all()


def test_words_are_a_sequence(small):
    words = small.words
    assert words[0] == "the" and words[-1] == "x" and words[1:3] == ["movie", "film"]
    assert "movie" in words and "movie" in small and "nothing" not in small
    assert 5 not in small and None not in words and "\ud800" not in words
    assert words.index("film") == 2 and words.count("film") == 1
    with pytest.raises(IndexError):
        words[len(words)]
    with pytest.raises(ValueError):
        words.index("nothing")


def test_neighbours(small):
    nearest = small.neighbours("movie", 5)
    assert nearest[0] == ("movie", 0.0)
    assert [d for _, d in nearest] == sorted(small.distance("movie", w) for w in WORDS)[:5]


def test_nearest_and_within(small):
    """Against sorting; the list of a word in the index is shorter than what is asked for."""
    order = sorted((small.distance("movie", word), i) for i, word in enumerate(small.words))
    others = [(small.words[i], d) for d, i in order if small.words[i] != "movie"]
    for top in (1, 3, len(small) - 1, len(small), 10 ** 6):
        assert small.nearest("Movie", top) == others[:top]
    assert small.nearest("movie") == others[:10]
    for distance in (0, others[2][1], others[2][1] - 2 ** -17, 1e9):
        assert small.within("movie", distance) == [found for found in others
                                                   if found[1] <= distance]
    for wrong in ("the movie", "xyzzy-unknown-word"):
        with pytest.raises(tem.ArgumentError) as caught:
            small.nearest(wrong)
        assert "xyzzy" not in str(caught.value)
    for distance in (-1, math.inf, math.nan):
        with pytest.raises(tem.RangeError):
            small.within("movie", distance)
    with pytest.raises(tem.ArgumentError):
        small.nearest("movie", 0)


def test_document_distance(small):
    """Against all matchings of the words."""
    a, b = ["the", "movie", "was", "movie"], ["film", "the", "great", "awful"]
    best = min(sum(map(small.distance, a, again)) for again in itertools.permutations(b))
    assert small.document_distance(" ".join(a), " ".join(b) + " xyzzyq").matching is None
    found = small.document_distance("Zyxxyq " + " ".join(a), " ".join(b) + ", Xyzzyq!")
    assert found.matching == best and found.distance == best / 4
    assert found.numerator == best * 2 ** 16 and found.denominator == 4
    assert (found.words, found.unknown) == ((4, 4), (1, 1))
    assert small.document_distance(" ".join(b), " ".join(a)).distance == found.distance
    assert small.document_distance("the the", "the").matching is None
    assert small.document_distance("xyzzyq", "xyzzyq", gamma=1).distance == 0
    assert small.document_distance("the", "xyzzyq", gamma=1).distance == 1
    with pytest.raises(tem.ArgumentError):
        small.document_distance("the", "xyzzyq")
    assert "distance=" in repr(found)


def test_coarse_grids(tmp_path):
    """One large value, and words near each other: refused or warned about, as by the command."""
    rows, words = [[0.0312], [0.0313], [900.0]], ["one", "two", "far"]
    with pytest.raises(tem.RangeError, match="clip or rescale the vector of word 3.*allow_coarse"):
        tem.Model.build(rows, words)
    file = tmp_path / "far.txt"
    file.write_text("".join(f"{word} {row[0]} 0\n" for word, row in zip(words, rows)))
    with pytest.raises(tem.RangeError, match="clip or rescale"):
        tem.Model.build(file)
    for source in ((rows, words), (file,)):
        with pytest.warns(tem.RoundingWarning, match="99.9 % of the 0.0625 .*: clip") as caught:
            coarse = tem.Model.build(*source, allow_coarse=True)
        assert caught[0].filename == __file__
        assert coarse.nearest_median == coarse.distance("one", "two") == 0.0625
        assert 0.06 < coarse.deviation < 0.0625
    with pytest.warns(tem.RoundingWarning, match="multiply all distances"):
        tem.Model.build([[0, 1e-5], [1e-5, 0]], ["a", "b"], metric="matrix")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tem.Model.build([[0.0], [0.25], [9.0]], words).nearest_median == 0.25


def test_folding(tmp_path):
    """Words are folded as text is; a warning counts what word boundaries cut."""
    words = ["Größe", "λόγος", "GRÖSSE", "the", "Plain"]
    rows = [[1.0, 0], [0, 1], [9, 9], [3, 0], [3, 1]]
    file = tmp_path / "words.txt"
    file.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in zip(words, rows)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for source in ((rows, words), (file,)):
            model = tem.Model.build(*source, exclude=["PLAIN"])
            assert list(model.words) == ["grösse", "λόγοσ", "the", "plain"]
            assert model.excluded == 1 and model.distance("grösse", "the") == 2
    with pytest.warns(UserWarning, match="no text can contain 4 of the 5 words") as caught:
        model = tem.Model.build(rows, words, fold=False)
    assert list(model.words) == words and caught[0].filename == __file__
    with pytest.warns(UserWarning, match="no text can contain 1 of the 5 words"):
        model = tem.Model.build(rows, ["電影", *words[1:]])
    assert model.draw(["電影"], gamma=1, epsilon=90) == ["電影"]
    with pytest.raises(tem.FormatError, match="only one word is left"):
        tem.Model.build([[0.0], [1.0]], ["A", "a"])


def test_embeddings_keep_their_ids():
    """Rows are ids, so nothing is folded; a warning says what `draw` cannot find."""
    rows = [[0.0, 1], [1, 0], [2, 2]]
    with pytest.warns(UserWarning, match="1 of 3 tokens have capitals") as caught:
        model = tem.Model.from_embeddings(rows, tokens=["Paris", "paris", "the"])
    assert list(model.words) == ["Paris", "paris", "the"] and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tem.Model.from_embeddings(rows)
        tem.Model.from_embeddings(rows, tokens=["a", "##b", "c"])


def test_words_outlive_the_model(vectors):
    """Objects that use a model keep it alive."""
    model = tem.Model.build(vectors, WORDS)
    walk = iter(model.words)
    assert next(walk) == "the"
    job = model._make_job(tem._options.law_and_text(3, {}))
    del model
    gc.collect()
    assert list(walk) == WORDS[1:] and len(job.text("the movie")[0].split()) == 2


@pytest.mark.parametrize("metric", ["euclidean", "angular", "l1", "linf"])
def test_metrics(vectors, metric):
    model = tem.Model.build(vectors + 0.5, WORDS, metric=metric, neighbours=4)
    assert model.metric == metric
    difference = numpy.abs(vectors[1] - vectors[2])
    expected = {"l1": difference.sum(), "linf": difference.max()}.get(metric)
    if expected is not None:
        assert model.distance("movie", "film") == pytest.approx(float(expected), abs=2 ** -16)


def test_the_hyperbolic_metric():
    ball = [[0.0, 0.0], [0.5, 0.0], [0.0, -0.9]]
    model = tem.Model.build(ball, ["a", "b", "c"], metric="hyperbolic")
    assert model.metric == "hyperbolic"
    assert model.distance("a", "b") == pytest.approx(math.log(3), abs=2 ** -14)
    assert model.distance("a", "c") == pytest.approx(math.log(19), abs=2 ** -14)
    assert model.vector("c").tolist() == numpy.float32(ball[2]).tolist()
    with pytest.raises(tem.RangeError, match="above 1"):
        model.privatize("a b c", epsilon=1, mechanism="hyperbolic")
    with pytest.warns(tem.NotPrivateWarning):
        drawn = model.privatize("a b c", epsilon=3, mechanism="hyperbolic")
    assert set(drawn.split()) <= {"a", "b", "c"}
    with pytest.raises(tem.RangeError, match="inside the ball"):
        tem.Model.build([[0.0], [1.0]], ["a", "b"], metric="hyperbolic")


def test_a_matrix_of_distances():
    model = tem.Model.build([[0, 1, 2], [1, 0, 1], [2, 1, 0]], ["a", "b", "c"], metric="matrix")
    assert model.dimension == 0 and model.distance("a", "c") == pytest.approx(2, abs=2 ** -15)
    two = tem.Model.build([[0, 1, 9], [1, 0, 1], [9, 1, 0]], ["a", "b", "c"],
                          metric="matrix", limit=2)
    assert list(two.words) == ["a", "b"]
    with pytest.raises(tem.MetricError):
        tem.Model.build([[0, 1, 9], [1, 0, 1], [9, 1, 0]], ["a", "b", "c"], metric="matrix")


def test_lists_without_numpy(monkeypatch):
    """Plain lists need no other package; for anything else the error says what to install."""
    monkeypatch.setitem(sys.modules, "numpy", None)  # import numpy fails
    words = ["good", "great", "bad"]
    small = tem.Model.build(([0.0, 0], (1, 0), [0, 2]), words)
    assert small.distance("good", "bad") == 2 and small.dimension == 2
    assert len(tem.Model.build([[0.0, 0], [1, 0], [0, 2]], words, limit=2)) == 2
    matrix = [[0, 1, 9], [1, 0, 1], [9, 1, 0]]
    two = tem.Model.build(matrix, words, metric="matrix", limit=2)
    assert two.distance("good", "great") == pytest.approx(1, abs=2 ** -15)
    for needs_numpy in (lambda: tem.Model.build([range(2), range(3, 5)], ["a", "b"]),
                        lambda: small.vector("good")):
        with pytest.raises(tem.UnsupportedError, match=r"needs NumPy: pip install 'tem\[numpy\]'"):
            needs_numpy()


def test_lists_give_the_model_of_an_array(vectors, tmp_path):
    rows = vectors + 1 / 3
    for name, given in (("array", rows), ("lists", rows.tolist())):
        tem.Model.build(given, WORDS).save(tmp_path / name)
    assert (tmp_path / "array").read_bytes() == (tmp_path / "lists").read_bytes()


def test_what_gensim_has(vectors):
    """Imitates the KeyedVectors of gensim 4."""
    class KeyedVectors:
        index_to_key = WORDS
    KeyedVectors.vectors = vectors
    assert list(tem.Model.build(KeyedVectors(), limit=5).words) == WORDS[:5]


def test_a_file_of_vectors(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\nb 2 1\nc 0 0\n")
    assert list(tem.Model.build(path).words) == ["a", "b", "c"]
    assert len(tem.Model.build(str(path), limit=2)) == 2
    path.write_text("a 1 2\nb 2 x\n")
    with pytest.raises(tem.FormatError) as caught:
        tem.Model.build(path)
    assert caught.value.line == 2 and caught.value.file == str(path)


@pytest.mark.parametrize("rows, words", [
    ([[1.0, 2]], ["a"]), ([[1.0], [2]], ["a"]), ([[1.0], [numpy.nan]], ["a", "b"]),
    ([[1.0], [numpy.inf]], ["a", "b"]), ([[1.0], [2]], ["a", "a"]), ([[1.0], [2]], ["a", ""]),
    ([[1.0], [2]], ["a", "b\0"]), ([[1.0], [2]], ["a", "\ud800"]), ([1.0, 2], ["a", "b"]),
    ([[1e30], [2]], ["a", "b"]), ([[], []], ["a", "b"]), ([[1.0], [2, 3]], ["a", "b"]),
    ([[1.0], ["x"]], ["a", "b"]), ([[1.0], [10 ** 400]], ["a", "b"]), ([], []), (1.0, ["a"])])
def test_vectors_that_are_refused(rows, words):
    with pytest.raises((tem.ArgumentError, tem.RangeError, tem.FormatError)):
        tem.Model.build(rows, words)


def test_prepared_space(tmp_path):
    numbers = numpy.random.default_rng(3).normal(size=(1000, 50)).astype("f4") + 0.2
    words = [f"w{i}" for i in range(1000)]
    model = tem.Model.build(numbers, words, neighbours=4)
    assert model.space == "sphere" and model.dimension == 50
    assert model.recipe["given_columns"] == 50 and model.recipe["kept"] == pytest.approx(1)
    lengths = [numpy.linalg.norm(model.vector(word)) for word in words[:20]]
    assert lengths == pytest.approx([model.recipe["scale"]] * 20, abs=0.01)
    model.save(tmp_path / "sphere.tem")
    assert tem.Model.open(tmp_path / "sphere.tem").recipe == model.recipe
    raw = tem.Model.build(numbers, words, neighbours=4, space="raw")
    assert raw.space == "raw" and raw.recipe is None
    small = tem.Model.build(numbers, words, neighbours=4, dimensions=8, remove=2)
    assert small.dimension == 8 and small.recipe["removed"] == 2
    numbers[5] = 0
    with pytest.raises(tem.RangeError, match="the vector of word 6 is zero.*drop_degenerate"):
        tem.Model.build(numbers, words, neighbours=4)
    fewer = tem.Model.build(numbers, words, neighbours=4, drop_degenerate=True)
    assert len(fewer) == 999 and fewer.recipe["dropped"] == 1 and "w5" not in fewer
    with pytest.raises(tem.ArgumentError):
        tem.Model.build([[0, 1], [1, 0]], ["a", "b"], metric="matrix", space="sphere")


def test_arguments_that_are_refused(vectors):
    for wrong in ({"metric": "cosine"}, {"metric": "none"}, {"threads": 0}, {"threads": -1},
                  {"neighbours": 0}, {"neighbours": -1}, {"limit": 0}, {"limit": -5},
                  {"limit": 2 ** 40}, {"space": "ball"}, {"dimensions": 0}, {"dimensions": 99},
                  {"remove": -1}, {"space": "raw", "dimensions": 2},
                  {"space": "sphere", "metric": "l1"}):
        with pytest.raises(tem.Error):
            tem.Model.build(vectors, WORDS, **wrong)
    with pytest.raises(tem.ArgumentError):
        tem.Model.build(vectors)
    with pytest.raises(TypeError):
        tem.Model.build(vectors, [b"bytes"] * len(WORDS))
    with pytest.raises(TypeError):
        tem.Model()


def test_files_that_are_refused(small_path, tmp_path, built):
    with pytest.raises(FileNotFoundError) as caught:
        tem.Model.open(tmp_path / "none.tem")
    assert caught.value.status == "file" and "none.tem" in str(caught.value)
    other = tmp_path / "other.tem"
    other.write_bytes(b"no model")
    with pytest.raises(tem.FormatError):
        tem.Model.open(other)
    with pytest.raises(FileExistsError):
        built.save(other)
    built.save(other, overwrite=True)
    damaged = bytearray(small_path.read_bytes())
    damaged[-70] ^= 1
    other.write_bytes(damaged)
    with pytest.raises(tem.DamagedError):
        tem.Model.open(other)


def test_default_model(default, monkeypatch, tmp_path, small_path):
    assert len(default) > 30000 and "movie" in default
    monkeypatch.setenv("TEM_MODEL", str(small_path))
    assert len(tem.Model.open()) == len(WORDS)
    monkeypatch.setenv("TEM_MODEL", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        tem.Model.open()


def test_no_default_model(monkeypatch, tmp_path):
    from tem import _default
    monkeypatch.delenv("TEM_MODEL", raising=False)
    monkeypatch.setattr(_default, "__file__", str(tmp_path / "_default.py"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tem.ArgumentError, match="TEM_MODEL"):
        tem.Model.open()


def test_default_model_is_made_in_the_cache(monkeypatch, tmp_path):
    """Built from the vectors of the package, here a few of them; used again; refused if others can
    write it."""
    from tem import _default
    monkeypatch.delenv("TEM_MODEL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_default, "__file__", str(tmp_path / "_default.py"))
    for name in (_default.VECTORS, _default.LEARNING_VECTORS):
        (tmp_path / name).write_text("a 1 2\nb 2 1\nc 0 0\n")
    (tmp_path / _default.EXCLUDED).write_text("# never outputs\n\n c \n")
    first = tem.Model.open()
    assert list(first.words) == ["a", "b", "c"] and first.path.startswith(str(tmp_path / "cache"))
    assert first.excluded == 1
    made = os.stat(first.path)
    assert tem.Model.open().hash == first.hash
    assert os.stat(first.path).st_mtime_ns == made.st_mtime_ns
    (tmp_path / "cache/tem").joinpath(os.path.basename(first.path) + ".cert").write_bytes(b"")
    os.chmod(first.path + ".cert", 0o622)
    with pytest.raises(tem.DamagedError, match="others"):
        tem.Model.open()
    os.unlink(first.path + ".cert")
    os.chmod(first.path, 0o666)
    with pytest.raises(tem.DamagedError, match="others"):
        tem.Model.open()
    os.chmod(first.path, 0o600)
    os.chmod(tmp_path / "cache/tem", 0o770)  # others could put another file there
    with pytest.raises(tem.DamagedError, match="others"):
        tem.Model.open()
    os.chmod(tmp_path / "cache/tem", 0o700)
    os.rename(first.path, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", first.path)
    with pytest.raises(tem.DamagedError, match="link"):
        tem.Model.open()
    (tmp_path / _default.EXCLUDED).write_text("# none\n")  # another model, so another place
    assert tem.Model.open().excluded == 0


def test_the_package_has_the_model_of_the_command(default, monkeypatch, tmp_path):
    """Certificates are for this one: the same vectors, excluded words and lists."""
    monkeypatch.delenv("TEM_MODEL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tem.Model.open()
    assert made.path.startswith(str(tmp_path / "cache")) and made.hash == default.hash
    assert os.stat(made.path).st_size == os.stat(default.path).st_size  # lists of the same length


def test_order(tmp_path):
    """rank needs an order; other vectors of the same words may decide it."""
    words, rows = ["Good", "bad", "fine"], [[0.0, 0], [3, 0], [0, 1]]
    with pytest.raises(tem.Error, match="order"):
        tem.Model.build(rows, words).explain("good", 1, mechanism="rank")
    near = tem.Model.build(rows, words, order="auto").explain("good", 1, mechanism="rank")
    assert [e.word for e in sorted(near.entries, key=lambda e: -e.probability)] == [
        "good", "fine", "bad"]
    (tmp_path / "other.txt").write_text("Good 0 0\nbad 0 1\nfine 5 0\n")
    other = tem.Model.build(rows, words, order="2:16", order_vectors=tmp_path / "other.txt")
    far = {e.word: e.probability for e in other.explain("good", 1, mechanism="rank").entries}
    assert far["good"] > far["bad"] > far["fine"]
    for order in ("128:x", "", "1:2:3:4", 128, "4294967296"):
        with pytest.raises(tem.ArgumentError, match="order"):
            tem.Model.build(rows, words, order=order)
    with pytest.raises(tem.ArgumentError, match="order_vectors needs order"):
        tem.Model.build(rows, words, order_vectors=tmp_path / "other.txt")
    with pytest.raises(tem.ArgumentError, match="no order"):
        tem.Model.build(None, words, metric=lambda a, b: float(a != b), order="auto")


@pytest.fixture
def cached(monkeypatch, tmp_path):
    """The default model, in its own cache, built from a few vectors."""
    from tem import _default
    monkeypatch.delenv("TEM_MODEL", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_default, "__file__", str(tmp_path / "_default.py"))
    for name in (_default.VECTORS, _default.LEARNING_VECTORS):
        (tmp_path / name).write_text("a 1 2\nb 2 1\nc 0 0\n")
    (tmp_path / _default.EXCLUDED).write_text("")
    return tem.Model.open()


@pytest.mark.parametrize("damage", [
    lambda content: b"", lambda content: content[:-64], lambda content: b"x" + content[1:],
    lambda content: content[:8] + b"\xff" + content[9:],
    lambda content: content[:-200] + b"\x55" * 8 + content[-192:]])
def test_a_damaged_model_in_the_cache_is_made_again(cached, damage):
    path = pathlib.Path(cached.path)
    content = path.read_bytes()
    path.write_bytes(damage(content))
    with pytest.warns(UserWarning, match="made again") as told:
        again = tem.Model.open()
    assert str(path) in str(told[0].message) and told[0].filename == __file__
    assert again.hash == cached.hash and list(again.words) == ["a", "b", "c"]
    assert path.read_bytes() == content and path.stat().st_mode & 0o777 == 0o600
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tem.Model.open().hash == cached.hash


def test_a_cache_that_stays_damaged(cached, monkeypatch):
    from tem import _default
    path = pathlib.Path(cached.path)
    path.write_bytes(b"x")
    monkeypatch.setattr(_default, "_make", lambda *arguments: None)
    with pytest.warns(UserWarning), pytest.raises(tem.FormatError, match="Remove the file") as said:
        tem.Model.open()
    assert said.value.file == str(path)


def test_other_damaged_models_are_left_alone(tmp_path):
    path = tmp_path / "m.tem"
    path.write_bytes(b"x")
    with pytest.raises(tem.FormatError):
        tem.Model.open(path)
    assert path.read_bytes() == b"x"


def test_a_model_beside_the_command(monkeypatch, tmp_path, small_path):
    monkeypatch.delenv("TEM_MODEL", raising=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "share/tem").mkdir(parents=True)
    command = tmp_path / "bin/tem"
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    shutil.copy(small_path, tmp_path / "share/tem/default.tem")
    assert tem.Model.open().path == str(tmp_path / "share/tem/default.tem")


def test_certificates_beside_the_command(monkeypatch, tmp_path, small_path, state):
    """They came with it. Somebody else made them, so the user's list does not have them; where a
    path names the model, they do not count."""
    made = tmp_path / "share/tem/default.tem"
    made.parent.mkdir(parents=True)
    shutil.copy(small_path, made)
    with monkeypatch.context() as theirs:
        theirs.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
        tem.Model.verify(made).calibrate(2, weights="equal", save=True)
    monkeypatch.delenv("TEM_MODEL", raising=False)
    command = tmp_path / "bin/tem"
    command.parent.mkdir()
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for model in (tem.Model.open(), pickle.loads(pickle.dumps(tem.Model.open()))):
        assert model.privatize_report("movie", epsilon=2, calibrated=True)[1].certificate
    with pytest.raises(tem.CertificateError, match="neither made nor verified.*Model.verify"):
        tem.Model.open(made).privatize("movie", epsilon=2, calibrated=True)


def test_pickles_are_the_file(small, small_path, tmp_path):
    own = tem.Model.open(small_path)
    assert pickle.loads(pickle.dumps(own)) is own  # while it is open here
    assert copy.deepcopy(small) is small and copy.copy(small) is small
    path = tmp_path / "copy.tem"
    shutil.copy(small_path, path)
    pickled = pickle.dumps(tem.Model.open(path))
    gc.collect()
    again = pickle.loads(pickled)
    assert again.hash == small.hash and again.path == str(path)
    del again
    gc.collect()
    tem.Model.build([[0.0], [1]], ["a", "b"]).save(path, overwrite=True)
    with pytest.raises(tem.DamagedError, match="changed"):
        pickle.loads(pickled)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def test_a_model_in_memory_is_not_pickled(built):
    with pytest.raises(tem.ArgumentError, match="save"):
        pickle.dumps(built)


def _length(model):
    return len(model), model.hash


def test_spawned_processes_open_the_file(small):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_length, (small,)) == (len(small), small.hash)


def test_errors_go_through_pickles(tmp_path):
    with pytest.raises(tem.Error) as caught:
        tem.Model.open(tmp_path / "none.tem")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is tem.NotFoundError and str(again) == str(caught.value)
    assert again.detail == caught.value.detail and again.errno == 2


def test_shown(small, built):
    assert repr(small) == f"<tem.Model small.tem: {len(WORDS)} words, 6 dimensions, euclidean>"
    matrix = tem.Model.build([[0, 1], [1, 0]], ["a", "b"], metric="matrix")
    assert repr(matrix) == "<tem.Model in memory: 2 words, matrix>"
    assert "in memory" in repr(built) and "euclidean" in small._repr_html_()
    assert repr(small.words) == f"<{len(WORDS)} words>"
