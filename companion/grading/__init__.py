"""Exercises handed out and taken in: the students' copies, assignments and their grades.

It needs nbgrader, which `requirements.txt` has and the package itself does not ask for.
"""
