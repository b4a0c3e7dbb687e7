"""The command in pipes of other programs: GNU parallel, and a Slurm array without Slurm."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import COMMAND, SURE_OPTIONS, count_words, make_texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = make_texts(300)


@pytest.fixture
def run(tmp_path, model_path):
    """Runs a command in its own directory, as a user would: tem in the PATH, a model named."""
    def start(*command, **variables):
        environment = dict(os.environ, TEM_MODEL=str(model_path), HOME=str(tmp_path),
                           PATH=f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}", **variables)
        return subprocess.run(list(map(str, command)), cwd=tmp_path, env=environment, text=True,
                              input="\n".join(TEXTS) + "\n", capture_output=True, timeout=60)
    return start


PARALLEL = ("parallel", "--will-cite", "--pipe", "--keep-order", "--halt", "now,fail=1", "-j", 2,
            "--block", 2000, "tem", "privatize", "--quiet", "--threads", 1)
needs_parallel = pytest.mark.skipif(not shutil.which("parallel"), reason="no GNU parallel")


@needs_parallel
def test_parallel(run):
    done = run(*PARALLEL, *SURE_OPTIONS.split())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [text.replace("elsewhere", "<unk>") for text in TEXTS]
    refused = run(*PARALLEL, *SURE_OPTIONS.split(), "--beta", 7)
    assert refused.returncode != 0 and refused.stdout == ""


@needs_parallel
def test_parallel_shares_a_ledger(run, tmp_path):
    words = count_words(TEXTS)
    options = ("--epsilon", 2, "--ledger", "spent.jsonl", "--budget", 2 * words)
    done = run(*PARALLEL, *options)
    assert done.returncode == 0 and count_words(done.stdout.splitlines()) == words
    charges = [json.loads(line) for line in (tmp_path / "spent.jsonl").read_text().splitlines()[1:]]
    assert len(charges) > 2 and sum(charge["words"] for charge in charges) == words
    again = run(*PARALLEL, *options)
    assert again.returncode != 0 and again.stdout == ""


def test_slurm_array(run, tmp_path):
    """One part per task; a task that is started again draws nothing."""
    for folder in ("parts", "private"):
        (tmp_path / folder).mkdir()
    (tmp_path / "all.txt").write_text("\n".join(TEXTS) + "\n")
    run("split", "-n", "l/3", "-d", "-a", 3, "--additional-suffix=.txt", "all.txt", "parts/")
    script = ROOT / "examples/slurm-array.sh"
    for task in "012":
        done = run(script, 3, SLURM_ARRAY_TASK_ID=task, SLURM_CPUS_PER_TASK="1")
        assert done.returncode == 0
        # This warning comes with --quiet, too: the small model has words that hardly ever change.
        assert done.stderr.startswith("tem: warning: at this epsilon")
        assert done.stderr.count("\n") == 1
    private = sorted((tmp_path / "private").glob("*.txt"))
    lines = [line for part in private for line in part.read_text().splitlines()]
    assert list(map(len, map(str.split, lines))) == [len(text.split()) for text in TEXTS]
    reports = [json.loads(part.with_suffix(".json").read_text()) for part in private]
    assert sum(report["words"] for report in reports) == count_words(TEXTS)
    before = private[1].read_text()
    again = run(script, 3, SLURM_ARRAY_TASK_ID="1")
    assert again.returncode == 1 and "exists already" in again.stderr
    assert private[1].read_text() == before
    assert run(script, 3).returncode != 0  # no array, so no part
