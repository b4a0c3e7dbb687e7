"""scikit-learn, pandas and datasets."""
import pickle

import pandas
import pytest
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
    pipeline = make_pipeline(tem.sklearn.Privatizer(epsilon=90, model=small), CountVectorizer(),
                             LogisticRegression())
    assert cross_val_score(pipeline, TEXTS, LABELS, cv=2).mean() == 1
    assert pickle.loads(pickle.dumps(pipeline.fit(TEXTS, LABELS))).score(TEXTS, LABELS) == 1


def test_privatizer(small, small_path):
    privatizer = tem.sklearn.Privatizer(epsilon=2, model=small_path, unknown="mask")
    again = clone(privatizer)
    assert again.get_params() == privatizer.get_params()
    assert len(again.transform(TEXTS)) == len(TEXTS)  # needs no fit
    assert again.set_params(epsilon=90).fit(TEXTS).transform(["the zzz"]) == ["the <unk>"]
    frame = pandas.DataFrame({"title": ["x", "of"], "body": ["the movie", None]})
    private = again.fit_transform(frame)
    assert list(private.columns) == ["title", "body"] and list(private["title"]) == ["x", "of"]
    with pytest.raises(TypeError):
        again.transform([[1.0], [2.0]])


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_check_estimator(small):
    """scikit-learn's own checks. Those that feed an estimator tables of numbers it leaves out by
    itself, because the tags say that this one takes texts."""
    results = check_estimator(tem.sklearn.Privatizer(epsilon=2, model=small), on_fail=None,
                              on_skip=None)
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert not [result for result in results if result["status"] == "failed"]
    assert {"check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init",
            "check_valid_tag_types", "check_parameters_default_constructible"} <= passed


def test_accessor(small, small_path):
    series = pandas.Series(["the movie", None], name="text")
    private = series.tem.privatize(small, epsilon=90)
    assert private.name == "text" and private[0] == "the movie" and pandas.isna(private[1])
    assert series.tem.privatize(small_path, epsilon=90)[0] == "the movie"
    private, report = series.tem.privatize_report(small, epsilon=2)
    assert report.words == 2 and len(private) == 2


def test_default_model_of_the_accessor(default):
    assert len(pandas.Series(["hello world"]).tem.privatize(epsilon=3)[0].split()) == 2


def test_batches(small, small_path):
    function = tem.datasets.privatize_batch("text", "title", model=small_path, epsilon=90)
    batch = {"text": ["the movie", None], "title": ["x", "of"], "label": [0, 1]}
    expected = {"text": ["the movie", None], "title": ["x", "of"]}
    assert function(batch) == expected
    assert pickle.loads(pickle.dumps(function))(batch) == expected
    assert pickle.dumps(function) == pickle.dumps(
        tem.datasets.privatize_batch("text", "title", model=small_path, epsilon=90))
    with pytest.raises(ValueError):
        tem.datasets.privatize_batch(epsilon=3)


def test_datasets(small_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": ["the movie"] * 20, "label": [1] * 20})
    function = tem.datasets.privatize_batch("text", model=str(small_path), epsilon=0.5)
    private = data.map(function, batched=True, num_proc=2)
    assert private["label"] == data["label"] or list(private["label"]) == [1] * 20
    assert len(set(private["text"])) > 5
