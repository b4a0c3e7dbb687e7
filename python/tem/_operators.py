"""Shared by the operators: the report of a run in which something leaves beside the drawn words."""
import dataclasses

from ._results import Report


def without_bound(report: Report, why: str) -> Report:
    """The report of a run for which nothing bounds what its output tells. It says so whatever the
    text is; a reason that the library has found comes first."""
    return dataclasses.replace(report, private=False, spent_worst=None,
                               why_not_private=report.why_not_private or why)
