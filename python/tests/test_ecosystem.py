"""scikit-learn, pandas and datasets."""
import pickle

import pandas
import pytest
from conftest import SURE
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tem
import tem.datasets
import tem.pandas
import tem.sklearn

TEXTS = ["the good movie", "great film", "the bad movie", "awful film"] * 10
LABELS = [1, 1, 0, 0] * 10


def test_pipeline(small):
    pipeline = make_pipeline(tem.sklearn.Privatizer(**SURE, model=small), CountVectorizer(),
                             LogisticRegression())
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=2).mean() == 1
    assert pickle.loads(pickle.dumps(pipeline.fit(TEXTS, LABELS))).score(TEXTS, LABELS) == 1


@pytest.mark.filterwarnings("ignore::tem.NotPrivateWarning")
def test_privatizer(small, small_path):
    privatizer = tem.sklearn.Privatizer(epsilon=2, model=small_path, oov="mask")
    again = clone(privatizer)
    assert again.get_params() == privatizer.get_params()
    assert len(again.transform(TEXTS)) == len(TEXTS)  # needs no fit
    assert again.set_params(**SURE).fit(TEXTS).transform(["the zzz"]) == ["the <unk>"]
    frame = pandas.DataFrame({"title": ["x", "of"], "body": ["the movie", None]})
    frame.attrs["first"] = frame["body"].attrs["first"] = "the movie"
    private = again.fit_transform(frame)
    assert private.attrs == private["body"].attrs == {} and frame.attrs == {"first": "the movie"}
    assert list(private.columns) == ["title", "body"] and list(private["title"]) == ["x", "of"]
    assert list(private["body"]) == ["the movie", ""]
    assert again.set_params(missing="keep").transform(["x", None]) == ["x", None]
    assert again.set_params(keep_lines=True).transform(["x\r\nof"]) == ["x\nof"]
    with pytest.raises(TypeError):
        again.transform([[1.0], [2.0]])


# Why a check of scikit-learn cannot pass. The checks give every estimator tables of numbers.
NUMBERS = "gives transform numbers, which are not texts"
LEARNS = "expects fit to read its input; this one learns nothing, so that nothing can leak"
NOT_APPLICABLE = {
    "check_fit_score_takes_y": NUMBERS, "check_estimators_dtypes": NUMBERS,
    "check_dtype_object": NUMBERS, "check_estimators_pickle": NUMBERS,
    "check_f_contiguous_array_estimator": NUMBERS, "check_transformer_data_not_an_array": NUMBERS,
    "check_transformer_general": NUMBERS, "check_transformer_preserve_dtypes": NUMBERS,
    "check_transformers_unfitted_stateless": NUMBERS, "check_dict_unchanged": NUMBERS,
    "check_fit_idempotent": NUMBERS, "check_fit2d_predict1d": NUMBERS,
    "check_n_features_in_after_fitting": LEARNS, "check_complex_data": LEARNS,
    "check_estimators_empty_data_messages": LEARNS, "check_estimator_sparse_tag": LEARNS,
    "check_n_features_in": LEARNS, "check_fit1d": LEARNS}


class Tabular(tem.sklearn.Privatizer):
    """Claims to accept tables: scikit-learn checks almost nothing of an estimator that accepts only
    texts."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def test_values_are_refused_before_a_text_is_released(small):
    """scikit-learn sets parameters without a check, so transform must refuse them."""
    privatizer = tem.sklearn.Privatizer(epsilon=2, model=small)
    privatizer.set_params(strip_tags="no")
    with pytest.raises(TypeError, match="strip_tags must be True or False"):
        privatizer.transform(["the movie"])


@pytest.mark.filterwarnings("ignore")
def test_check_estimator(small):
    results = check_estimator(Tabular(epsilon=2, model=small), on_fail=None, on_skip=None)
    by_status = {status: {r["check_name"] for r in results if r["status"] == status}
                 for status in ("passed", "failed")}
    assert by_status["failed"] <= set(NOT_APPLICABLE)
    assert len(by_status["passed"]) >= 15
    assert {"check_estimator_cloneable", "check_no_attributes_set_in_init", "check_set_params",
            "check_parameters_default_constructible"} <= by_status["passed"]


def test_accessor(small, small_path):
    series = pandas.Series(["the movie", None], name="text")
    private = series.tem.privatize(model=small, **SURE)
    assert private.name == "text" and list(private) == ["the movie", ""]
    assert pandas.isna(series.tem.privatize(model=small, missing="keep", **SURE)[1])
    assert series.tem.privatize(model=small_path, **SURE)[0] == "the movie"
    private, report = series.tem.privatize_report(model=small, epsilon=2)
    assert report.words == 2 and len(private) == 2


def test_default_model_of_the_accessor(default):
    assert len(pandas.Series(["hello world"]).tem.privatize(epsilon=3)[0].split(" ")) == 2


def test_batches(small, small_path):
    function = tem.datasets.privatize_batch("text", "title", model=small_path, **SURE)
    batch = {"text": ["the movie", None], "title": ["x", "of"], "label": [0, 1]}
    expected = {"text": ["the movie", ""], "title": ["x", "of"]}
    assert function(batch) == expected
    assert pickle.loads(pickle.dumps(function))(batch) == expected
    assert pickle.dumps(function) == pickle.dumps(
        tem.datasets.privatize_batch("text", "title", model=small_path, **SURE))
    with pytest.raises(ValueError):
        tem.datasets.privatize_batch(epsilon=3)


def test_datasets(small_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": ["the movie"] * 20, "label": [1] * 20})
    function = tem.datasets.privatize_batch("text", model=str(small_path), epsilon=0.5)
    private = data.map(function, batched=True, num_proc=2)
    assert private["label"] == data["label"] or list(private["label"]) == [1] * 20
    assert len(set(private["text"])) > 5


def test_spacy(small_path, tmp_path):
    """A blank pipeline, in this process and in two others; epsilon must be given."""
    spacy = pytest.importorskip("spacy")
    import tem.spacy  # noqa: F401

    nlp = spacy.blank("en")
    with pytest.raises(Exception, match="epsilon"):
        nlp.add_pipe("tem")
    ledger = str(tmp_path / "spent")
    nlp.add_pipe("tem", config={"model": str(small_path), "ledger": ledger, "budget": 2600, **SURE})
    doc = nlp("The movie, was GREAT!")
    assert doc._.private == "the movie was great" and doc.text == "The movie, was GREAT!"
    texts = ["the film", "bad", ""] * 4
    assert [each._.private for each in nlp.pipe(texts)] == texts
    assert [each._.private for each in nlp.pipe(texts, n_process=2, batch_size=3)] == texts
    with pytest.raises(tem.BudgetError):
        nlp("the movie was great " * 5)
    assert spacy.blank("en").from_config(nlp.config).pipe_names == ["tem"]


def test_spacy_in_context(default, monkeypatch):
    """With a seed, which a pipe does not take, each text is what Model.privatize draws."""
    spacy = pytest.importorskip("spacy")
    import tem.spacy  # noqa: F401

    plain = tem.Model.privatize
    monkeypatch.setattr(tem.Model, "privatize",
                        lambda *texts, **how: plain(*texts, **how, insecure_seed=7))
    how = {"epsilon": 3.4, "mechanism": "rank", "numbers": {"c": 5}, "language_model": "english",
           "never": ["of", "film"], "repeat": "once"}
    texts = ["One of my best films was on.", "My doctor says that my best doctor was away."]
    made = spacy.blank("en")
    made.add_pipe("tem", config=how)
    with pytest.warns(tem.NotPrivateWarning):
        for nlp in (made, spacy.blank("en").from_config(made.config)):
            assert [doc._.private for doc in nlp.pipe(texts)] == default.privatize(texts, **how)
            assert nlp(texts[0])._.private == default.privatize(texts[0], **how)
        alone = {**how, "language_model": None, "style": "joined"}
        assert default.privatize(texts, **how) != default.privatize(texts, **alone)
