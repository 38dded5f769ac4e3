"""Exercises handed out and taken in: the students' copies, assignments and their grades.

It needs the extra `grading`, which brings nbgrader.

A submission's cells and the instructor's checks run as one notebook, in one process, in a sandbox
(`sandbox`): another user, no network, nothing to be seen but programs and the packages `companion`
and `book`, read-only and without notebooks, a small disk in memory, limits on time, memory,
processes and files. Checks and points come from the instructor's notebook. A process that is lost
costs the cell that it was lost in; a run that is killed goes on where it stopped. Out of reach are
the machine, the solutions, the gradebook, other submissions, the home folder and the network; and
scripts stay out of the pages that an instructor opens.

A forged verdict is not stopped. An answer shares its process with the check: who knows Python can
change what a check finds or writes. What does so in the open is flagged (`flags`): source that
touches a chapter's checks, `book.checking`, `book._grading`, `gc` or `sys.modules`, and cells that
leave a function of book, companion, torch or numpy other than it was. Flagged work has no points
until a person gives them. What is hidden is found by reading the code, if at all. Nor does anything
stop:

- answers copied from the book, or from somebody else and changed a little, built from companion's
  own functions, or from the right answers and numbers that a check, which is public, too, expects;
- a hole in the Linux kernel, in bubblewrap, or in the readers of JSON and notebooks: who must guard
  against these grades in a virtual machine;
- slowness: a submission may take five minutes for its cells, and at most ten in all;
- looking around: the Python environment, `companion` and `book`, with the checks, can be read, and
  so can all else of a repository inside `/usr` or the environment;
- pictures in written answers that lie elsewhere: who opens the page asks that address for them;
- some gigabytes, at the worst, of the kernel's own memory (sockets, pipes, empty files).
"""
