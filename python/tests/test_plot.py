"""Plots: what the axes show is what the results say."""
import subprocess
import sys

import matplotlib
import numpy
import pytest

import tem

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot
    pyplot.close("all")


def test_bars_of_a_law(small):
    found = small.explain("movie", 2, top=5)
    axes = found.plot()
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [*[entry.probability for entry in found.entries], found.tail.probability]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [*[entry.word for entry in found.entries], "all 17 others"]
    assert axes.get_xlabel() == "probability that this word comes out"
    assert "movie" in axes.get_title() and "epsilon 2" in axes.get_title()
    assert axes.patches[0].get_facecolor() != axes.patches[1].get_facecolor()  # the word itself
    assert "an unknown word" in small.explain("zzz", 2).plot().get_title()


def test_words_are_no_formulas(tmp_path):
    """A formula that is none would stop the plot."""
    odd = ["$\\frac$", "a$b", "\x1b[2J", "<b>"]
    model = tem.Model.build(numpy.arange(4.0)[:, None], odd)
    axes = model.explain(0, 1).plot()
    axes.figure.savefig(tmp_path / "plot.svg")
    assert "\x1b" not in (tmp_path / "plot.svg").read_text()


def test_curve(small):
    found = small.choose(self=0.5, curve=True)
    axes = found.plot()
    median, bayes, answer = axes.lines
    assert list(median.get_xdata()) == [point.epsilon for point in found.curve]
    assert list(median.get_ydata()) == [point.self_median for point in found.curve]
    assert list(bayes.get_ydata()) == [point.bayes for point in found.curve]
    assert answer.get_xdata()[0] == found.epsilon
    assert axes.get_xlabel().startswith("epsilon") and axes.get_ylabel() and axes.get_title()
    own = matplotlib.figure.Figure().subplots()
    assert small.plot_curve(ax=own) is own and len(own.lines) == 2
    assert list(own.lines[0].get_ydata()) == list(median.get_ydata())
    with pytest.raises(tem.ArgumentError, match="curve=True"):
        small.choose(self=0.5).plot()


def test_without_matplotlib(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (small.explain("movie", 2).plot, small.plot_curve):
        with pytest.raises(ImportError, match="pip install 'tem\\[plot\\]'"):
            call()


def test_only_plots_import_matplotlib():
    subprocess.run([sys.executable, "-c", "import sys, tem, tem.pandas; "
                    "assert 'matplotlib' not in sys.modules"], check=True)
