"""What every front door uses: one workflow of one repository, and the words it answers in."""

from vaibify_lab.project.facade import Project
from vaibify_lab.project.report import Report
from vaibify_lab.project.running import refusal

__all__ = ["Project", "Report", "refusal"]
