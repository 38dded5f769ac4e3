"""What a process gives up before it runs a submission: rights, system calls, resources."""

import ctypes
import errno
import os
import platform
import resource
import struct

# Numbers of system calls on x86_64 and on aarch64.
REFUSED = {
    "memfd_create": (319, 279),  # memory that no limit counts
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "unshare": (272, 97),  # with namespaces of his own, a user may mount a disk of any size
    "add_key": (248, 217),  # and parts of the kernel that no exercise needs
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
}
NOBODY = 65534
CLONE, CLONE_3, NEW_USER = (56, 220), 435, 0x10000000
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, name in the kernel


def give_up() -> None:
    """Become an unprivileged user, to whom the kernel refuses some system calls, for good.

    Source: the kernel's documentation, "Seccomp BPF (SECure COMPuting with filters)",
    https://docs.kernel.org/userspace-api/seccomp_filter.html.
    """
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allowed, refused, unknown = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    column, architecture = MACHINES[platform.machine()]
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, refused)]
    program += [(load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (give, 0, 0, refused)]
    for numbers in REFUSED.values():
        program += [(equal, 0, 1, numbers[column]), (give, 0, 0, refused)]
    program += [(equal, 0, 1, CLONE_3), (give, 0, 0, unknown)]  # then libraries take clone
    program += [(equal, 0, 3, CLONE[column]), (load, 0, 0, 16), (any_bit, 0, 1, NEW_USER)]
    program += [(give, 0, 0, refused), (give, 0, 0, allowed)]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    filled = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HP", len(program), ctypes.addressof(filled))
    libc = ctypes.CDLL(None, use_errno=True)
    set_seccomp, filter_mode = 22, 2
    if libc.prctl(set_seccomp, filter_mode, ctypes.c_char_p(described), 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")


def limit(memory: int, seconds: int, file: int, processes: int) -> None:
    """Limits that hold from now on; memory counts on top of what the libraries have taken."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        memory += int(pages.read().split()[0]) * resource.getpagesize()
    limits = {"AS": memory, "CPU": seconds, "FSIZE": file, "NPROC": processes, "NOFILE": 256}
    for name, most in (limits | {"CORE": 0}).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
