"""What `nbgrader export` writes in a course: the points of all chapters in one table."""

import csv

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin


class Points(ExportPlugin):
    """A row for each notebook that was handed in; no score while a person has yet to read it."""

    def export(self, gradebook: Gradebook) -> None:
        """Called by nbgrader, with its options: where to, which students, which assignments."""
        with open(self.to or "grades.csv", "w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["assignment", "student_id", "timestamp", "score", "max_score"])
            for assignment in gradebook.assignments:
                for work in assignment.submissions:
                    name, left = work.student.id, work.needs_manual_grade
                    if assignment.name in (self.assignment or [assignment.name]) and name in (
                        self.student or [name]
                    ):
                        score = "" if left else work.score
                        known = assignment.name, name, work.timestamp, score, work.max_score
                        writer.writerow(known)
