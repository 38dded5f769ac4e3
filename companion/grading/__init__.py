"""Exercises handed out and taken in: the students' copies, assignments and their grades.

It needs nbgrader, which `requirements.txt` has and the package itself does not ask for.

A submission's cells and the instructor's checks run as one notebook, in one process, in a sandbox
(`sandbox`): another user, no network, read-only programs and `companion`, nothing else to be seen,
a small disk in memory, limits on time, memory, processes and files. Checks and points come from
the instructor's notebook, whatever the submission says of them. A process that is lost costs the
cell it was lost in; a run that is killed goes on where it stopped.

What this keeps out of reach: the machine, the gradebook, other submissions, the home folder, the
network; and scripts stay out of the pages that an instructor opens.

What it does not stop is a forged verdict. An answer shares its process with the check: who knows
Python can change what a check finds, or write another verdict to the grader. What does so in the
open is flagged (`flags`): source that touches `companion.checks`, `companion.grading`, `gc` or
`sys.modules`, and cells that leave a function of companion, torch or numpy other than it was. What
is flagged has no points until a person gives them. Who hides it is found by reading the code, if at
all; copying the public solution is less work. Nor does it stop:

- Answers copied from the book, or made of companion's own functions, or of the numbers that a
  check, which is public, too, expects.
- A hole in the Linux kernel, in bubblewrap, or in the readers of JSON and notebooks. Who must guard
  against these grades in a virtual machine.
- Slowness: a submission may take five minutes for its cells, and at most ten in all.
- Looking at the programs: the Python environment and `companion`, with its checks, can be read. A
  repository inside `/usr` or inside the environment would be visible whole.
- Pictures in written answers that lie elsewhere: who opens the page asks that address for them.
- Some gigabytes, at the worst, of the kernel's own memory (sockets, pipes, empty files).
"""
