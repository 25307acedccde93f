"""What every front door uses: one workflow of one repository, and the words it answers in."""

from vaibify_lab.project.facade import Project

__all__ = ["Project"]
