"""The notebooks of docs/ run from start to end."""
import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient


@pytest.mark.parametrize("name", ["python", "learning"])
def test_notebook(name, tmp_path):
    notebook = nbformat.read(ROOT / f"docs/{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs]
    assert len(shown) >= 5
    assert not [output for output in shown if output.output_type == "error"]
