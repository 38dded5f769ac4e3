"""What a process gives up before it runs a submission: rights, system calls, resources."""

import errno
import os
import resource

NOBODY = 65534
NEW_USER = 0x10000000  # CLONE_NEWUSER: with namespaces of his own, a user may mount a large disk
REFUSED = ["memfd_create", "memfd_secret", "shmget", "msgget"]  # memory that no limit counts
REFUSED += ["unshare", "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd"]
REFUSED += ["io_uring_setup", "ptrace"]  # and parts of the kernel that no exercise needs


def give_up() -> None:
    """Become an unprivileged user, to whom the kernel refuses some system calls, for good.

    Source: "Seccomp BPF", https://docs.kernel.org/userspace-api/seccomp_filter.html.
    """
    import pyseccomp as seccomp  # it cannot be imported where there is no libseccomp

    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    rules, refuse = seccomp.SyscallFilter(seccomp.ALLOW), seccomp.ERRNO(errno.EPERM)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, refuse)  # calls in another machine's numbers
    for call in REFUSED:
        rules.add_rule(refuse, call)
    rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NEW_USER, NEW_USER))
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")  # then libraries take clone
    rules.load()


def limit(memory: int, seconds: int, file: int, processes: int) -> None:
    """Limits that hold from now on; memory counts on top of what the libraries have taken."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        memory += int(pages.read().split()[0]) * resource.getpagesize()
    limits = {"AS": memory, "CPU": seconds, "FSIZE": file, "NPROC": processes, "NOFILE": 256}
    for name, most in (limits | {"CORE": 0}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
