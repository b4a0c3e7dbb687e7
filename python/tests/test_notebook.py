"""The notebook of docs/ runs from start to end."""
import nbformat
from conftest import ROOT
from nbclient import NotebookClient


def test_notebook(tmp_path):
    notebook = nbformat.read(ROOT / "docs/python.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code"
             for output in cell.outputs]
    assert len(shown) >= 5
    assert not [output for output in shown if output.output_type == "error"]
