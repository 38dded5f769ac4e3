"""Exercises handed out and taken in: the students' copies, assignments and their grades.

It needs nbgrader, which `requirements.txt` has and the package itself does not ask for.

How a submission is graded. Its cells run in a sandbox (`sandbox`): another user, no network,
read-only programs and `companion`, nothing else to be seen, a small disk in memory, limits on time,
memory, processes and files. The cells with points do not run there. They come from the instructor's
notebook, whatever the submission says of them, and run outside (`judge`), where the learner's names
are stand-ins: a call to one goes through a pipe to the sandbox, and back come numbers, as JSON and
safetensors (`wire`, `peer`). So what the learner's code does to the process that it runs in (patch
a check, numpy or the interpreter, print a verdict, write to the pipe, end itself) changes what its
own functions return, and nothing else. A process that is lost costs the cell it was lost in.

What this stops: reading solutions, hidden tests, other submissions, the gradebook; writing
anywhere; the network; changing points, checks, verdicts or another's grade; endless loops, hunger
for memory, floods of processes; objects that equal everything; scripts and links to scripts in the
page of feedback; submissions that are links to other files; namespaces and memory that no limit
counts, by a filter of system calls.

What it does not stop:

- Answers copied from the book, whose solutions are public, or that call companion's own functions:
  the package is there to be imported. Read the code cells for this.
- Answers that know the check. The checks are public too, and so are their inputs; an answer may
  return stored numbers. What a check learns about the inside of an answer (how many operations
  stand in a row, the names of its parameters) comes from the learner's process and can be made up.
- A hole in the Linux kernel, in bubblewrap, or in the readers of JSON, safetensors and notebooks.
  Who must guard against these grades in a virtual machine.
- Slowness: a submission may take all of its time: five minutes for its cells, and at most ten in
  all, after which it counts as not graded; the others go on.
- Looking at the programs: the Python environment and `companion` can be read, the checks with their
  right answers, too, and where both lie on the machine. A repository inside `/usr` or inside the
  environment would be visible whole.
- Pictures in written answers that lie elsewhere: who opens the page asks that address for them.
- Some gigabytes, at the worst, of the kernel's own memory (sockets, pipes, empty files).
"""
