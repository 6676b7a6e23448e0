"""Confined: a program by itself that starts one command, contains it, limits it, and ends all that the command left running.

Started by path, it imports nothing of the package: no thread runs beside it. It supervises; as `inside` it is the part that gives
up rights and becomes the command."""

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import stat
import sys
import time
from types import FrameType
from typing import Any, NamedTuple, NoReturn

__all__ = ["MACHINES", "landlock_version", "main"]

# --- numbers of the kernel ------------------------------------------------------------------------------------------------

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # Landlock; the same on every machine
_PDEATHSIG, _CAPBSET_DROP, _SECUREBITS, _SET_SECCOMP, _SUBREAPER, _NO_NEW_PRIVS, _AMBIENT = 1, 24, 28, 22, 36, 38, 47
_NO_ROOT = 0b101111  # root has no capabilities by being root, and none are kept; locked
_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_MAKING = sum(1 << bit for bit in range(4, 13))  # removing and making entries of every kind
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_BIND_CONNECT = 3
_SCOPED = 3  # abstract sockets of others, and signals to others
_LOOKING = _EXECUTE | _READ | _READ_DIR
_OF_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQPACKET, _TYPE_OF_SOCKET = 1, 5, 0xF
_NEW_NAMESPACE = 0x7E020000  # each flag of clone that makes a namespace


class _Machine(NamedTuple):
    """Numbers of system calls on one kind of machine."""

    audit: int
    socket: int
    socketpair: int
    clone: int
    refused: tuple[int, ...]  # unshare, setns, mount, add_key, request_key, keyctl, and io_uring_setup: it opens sockets unseen
    # Without namespaces these reach outside, and Landlock has no rule for them.
    shared: tuple[int, ...]  # memory, semaphores and message queues of System V and POSIX, which all processes of the user share
    marks: tuple[int, ...]  # mode, owner and extended attributes of any file of the user
    times: tuple[int, ...]  # times of a file by its name
    utimensat: int  # times by name, or by an open file when the name is left out
    of_process: tuple[int, ...]  # prlimit64 and scheduling, which take the number of a process: 0 is the caller
    of_someone: tuple[int, ...]  # setpriority and ioprio_set: the number comes second


MACHINES = {
    "x86_64": _Machine(
        *(0xC000003E, 41, 53, 56),
        refused=(272, 308, 165, 248, 249, 250, 425),
        shared=(29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241),
        marks=(90, 91, 92, 93, 94, 260, 268, 452, 188, 189, 190, 197, 198, 199, 463, 466, 469),
        times=(132, 235, 261),
        utimensat=280,
        of_process=(302, 142, 144, 203, 314),
        of_someone=(141, 251),
    ),
    "aarch64": _Machine(
        *(0xC00000B7, 198, 199, 220),
        refused=(97, 268, 40, 217, 218, 219, 425),
        shared=(194, 195, 196, 190, 191, 192, 193, 186, 187, 188, 189, 180, 181),
        marks=(52, 53, 54, 55, 452, 5, 6, 7, 14, 15, 16, 463, 466, 469),
        times=(),
        utimensat=88,
        of_process=(261, 118, 119, 122, 274),
        of_someone=(140, 30),
    ),
}
_CLONE3 = 435
_X32 = 0x40000000  # a second set of numbers on x86_64

_NOT_APPLIED = 125
_CLEANING_S = 5.0
_TICK_S = 0.05  # how often a command's processes are counted


def _kernel() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Return which rules of Landlock the kernel knows; 0 without any."""
    if not sys.platform.startswith("linux"):
        return 0
    found = int(_kernel().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)))
    return max(found, 0)


# --- files: Landlock ------------------------------------------------------------------------------------------------------


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _restrict_files(spec: dict[str, Any], kernel: ctypes.CDLL) -> None:
    """Allow reading and writing in the named places only, and no signal to processes outside."""
    version = spec["landlock"]
    writing = _WRITE | _MAKING | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(fs=writing | _LOOKING, net=0, scoped=_SCOPED if version >= 6 else 0)
    if version >= 5:
        rules.fs |= _IOCTL
    if version >= 4 and not spec["sockets"]:
        rules.net = _BIND_CONNECT
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    handle = kernel.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint(0))
    if handle < 0:
        raise OSError(ctypes.get_errno(), "no rules could be made")
    hidden = tuple(spec["hidden"])
    for place in (one for top in spec["read"] for one in _open_places(top, hidden)):
        _allow(kernel, handle, place, _LOOKING)
    for place in (one for top in spec["write"] for one in _open_places(top, hidden)):
        _allow(kernel, handle, place, writing | _LOOKING)
    for place in _DEVICES:
        _allow(kernel, handle, place, _WRITE | _READ | (rules.fs & _IOCTL))
    if kernel.syscall(_RESTRICT, ctypes.c_int(handle), ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the rules could not be put in force")
    os.close(handle)


def _open_places(place: str, hidden: tuple[str, ...]) -> list[str]:
    """Return what to allow: a directory as a whole, or each other entry where something is hidden in it."""
    if place in hidden:
        return []
    inside = tuple(one for one in hidden if one.startswith(place.rstrip("/") + "/"))
    if not inside:
        return [place]
    try:
        names = os.listdir(place)
    except OSError:
        return []
    found = []
    for name in names:
        full = os.path.join(place, name)
        if not os.path.islink(full):  # where it leads to is allowed, or not, under its own name
            found += _open_places(full, inside)
    return found


def _allow(kernel: ctypes.CDLL, rules: int, place: str, access: int) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone, or nobody's to read: without a rule it stays closed
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            access &= _OF_FILE
        rule = _Beneath(allowed=access, parent=handle)
        if kernel.syscall(_ADD, ctypes.c_int(rules), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint(0)):
            code = ctypes.get_errno()
            if code not in (errno.EBADFD, errno.EOPNOTSUPP, errno.EINVAL):
                raise OSError(code, "a rule could not be added")
    finally:
        os.close(handle)


# --- system calls: seccomp ------------------------------------------------------------------------------------------------


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("first", ctypes.POINTER(_Instruction)))


_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _MASK = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT, _SECOND_ARGUMENT_AT = 0, 4, 16, 24
_HIGH_HALF = 4  # of an argument, after its low half: all machines above put the low half first
_ALLOWED, _KILLED, _REFUSED = 0x7FFF0000, 0x80000000, 0x00050000

_Code = tuple[int, int, int, int]


def _only(values: tuple[int, ...], refusal: int, *, at: int = _FIRST_ARGUMENT_AT) -> list[_Code]:
    """Return code that allows a call if its first argument, or the one that is named, is one of these values."""
    tests = [(_EQUAL, len(values) - number, 0, value) for number, value in enumerate(values)]
    return [(_LOAD, 0, 0, at), *tests, (_RETURN, 0, 0, _REFUSED | refusal), (_RETURN, 0, 0, _ALLOWED)]


def _pair() -> list[_Code]:
    """Return code that allows a pair of sockets with a connection. A pair for datagrams can send to any Unix socket by name."""
    return [
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_EQUAL, 1, 0, _UNIX),
        (_RETURN, 0, 0, _REFUSED | errno.EACCES),
        (_LOAD, 0, 0, _SECOND_ARGUMENT_AT),
        (_MASK, 0, 0, _TYPE_OF_SOCKET),
        (_EQUAL, 2, 0, _STREAM),
        (_EQUAL, 1, 0, _SEQPACKET),
        (_RETURN, 0, 0, _REFUSED | errno.EACCES),
        (_RETURN, 0, 0, _ALLOWED),
    ]


def _without_namespaces(machine: _Machine) -> list[tuple[int, list[_Code]]]:
    """Return refusals for what Landlock lets through: a command would change files and processes of the user elsewhere."""
    refusal = [(_RETURN, 0, 0, _REFUSED | errno.EPERM)]
    no_name = [
        (_LOAD, 0, 0, _SECOND_ARGUMENT_AT),
        (_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _SECOND_ARGUMENT_AT + _HIGH_HALF),
        (_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _REFUSED | errno.EPERM),
        (_RETURN, 0, 0, _ALLOWED),
    ]
    return [
        *((number, refusal) for number in (*machine.shared, *machine.marks, *machine.times)),
        (machine.utimensat, no_name),
        *((number, _only((0,), errno.EPERM)) for number in machine.of_process),
        *((number, _only((0,), errno.EPERM, at=_SECOND_ARGUMENT_AT)) for number in machine.of_someone),
    ]


def _filter(machine: _Machine, *, sockets: bool, namespaces: bool) -> list[_Code]:
    """Return the program that the kernel asks before each system call.

    Unix sockets reach programs outside, and so do the user's keys: both are refused. Pairs of sockets stay. Without `sockets`, no
    socket of the internet is made either."""
    families = (_INET, _INET6, _NETLINK) if sockets else ()
    refusals: list[tuple[int, list[_Code]]] = [(number, [(_RETURN, 0, 0, _REFUSED | errno.EPERM)]) for number in machine.refused]
    refusals += [] if namespaces else _without_namespaces(machine)
    refusals += [
        (machine.socket, _only(families, errno.EACCES)),
        (machine.socketpair, _pair()),
        (
            machine.clone,
            [
                (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
                (_ANY_BIT, 0, 1, _NEW_NAMESPACE),
                (_RETURN, 0, 0, _REFUSED | errno.EPERM),
                (_RETURN, 0, 0, _ALLOWED),
            ],
        ),
        # Its flags lie in memory, where a filter cannot see them. Libraries then use clone.
        (_CLONE3, [(_RETURN, 0, 0, _REFUSED | errno.ENOSYS)]),
    ]
    code: list[_Code] = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILLED),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSED | errno.ENOSYS),
    ]
    for number, block in refusals:
        code += [(_EQUAL, 0, len(block), number), *block]
    return [*code, (_RETURN, 0, 0, _ALLOWED)]


def _restrict_calls(spec: dict[str, Any], kernel: ctypes.CDLL) -> None:
    code = _filter(MACHINES[platform.machine()], sockets=spec["sockets"], namespaces="outer" in spec)
    instructions = (_Instruction * len(code))(*(_Instruction(*one) for one in code))
    program = _Program(len(code), instructions)
    if kernel.prctl(_SET_SECCOMP, 2, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter of system calls could not be put in force")


# --- rights and limits ----------------------------------------------------------------------------------------------------


def _drop_rights(kernel: ctypes.CDLL) -> None:
    """Give up all capabilities. A command of root could otherwise read what belongs to other processes and users."""
    kernel.prctl(_AMBIENT, 4, 0, 0, 0)
    kernel.prctl(_SECUREBITS, _NO_ROOT, 0, 0, 0)
    for number in range(64):
        kernel.prctl(_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if kernel.capset(header, (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capabilities could not be given up")
    if kernel.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "rights could not be given up")


def _limit(spec: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, most in (
        (resource.RLIMIT_FSIZE, spec["largest_file"]),
        (resource.RLIMIT_DATA, spec["memory"]),
        # The kernel counts all processes of the user, so those that run already come on top.
        (resource.RLIMIT_NPROC, spec["processes"] + sum(one.threads for one in _processes() if one.user == os.getuid())),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


class _Process(NamedTuple):
    pid: int
    parent: int
    threads: int
    resident: int  # bytes
    user: int


def _processes() -> list[_Process]:
    """Return all processes that we see."""
    found, page = [], resource.getpagesize()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                user, said = os.fstat(file.fileno()).st_uid, file.read().rpartition(b")")[2].split()
            found.append(_Process(int(name), int(said[1]), int(said[17]), int(said[21]) * page, user))
        except (OSError, IndexError, ValueError):
            continue
    return found


def _below(parents: set[int]) -> list[_Process]:
    """Return all processes that these started, directly or not."""
    children: dict[int, list[_Process]] = {}
    for one in _processes():
        children.setdefault(one.parent, []).append(one)
    found, waiting = [], list(parents)
    while waiting:
        for one in children.get(waiting.pop(), ()):
            found.append(one)
            waiting.append(one.pid)
    return found


def _excess(spec: dict[str, Any]) -> str:
    """Return which limit all processes of the command together exceed; the kernel does not count them so for root."""
    found = _below({os.getpid()})
    if sum(one.threads for one in found) > spec["processes"]:
        return f"it started more than {spec['processes']} processes"
    if sum(one.resident for one in found) > spec["memory"]:
        return f"it used more than {spec['memory'] >> 20} MiB of memory"
    return ""


# --- the program ----------------------------------------------------------------------------------------------------------


def _clean_up() -> None:
    """End whatever the command left. Orphans come to us, so the whole tree is ours in the end."""
    ends = time.monotonic() + _CLEANING_S
    while time.monotonic() < ends:
        for child in _below({os.getpid()}):
            try:
                os.kill(child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.005)


class _Ended(Exception):
    """We were told to end."""


def _told(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Ended


def main(given: str) -> int:
    """Run the command of a description; return its exit status."""
    spec = json.loads(given)
    kernel = _kernel()
    kernel.prctl(_SUBREAPER, 1, 0, 0, 0)
    kernel.prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    status = 128 + signal.SIGKILL
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        signal.signal(signal.SIGTERM, _told)
        child = os.fork()
        if child == 0:
            _begin(spec, kernel, given)
        status = _watch(child, spec)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except _Ended:
        status = 128 + signal.SIGTERM
    _clean_up()
    return 128 - status if status < 0 else status


def _watch(child: int, spec: dict[str, Any]) -> int:
    """Wait for the command, and end it when it exceeds a limit."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if why := _excess(spec):
            os.write(2, f"\nhindbrain: ended: {why}\n".encode())
            return -signal.SIGKILL
        signal.sigtimedwait({signal.SIGCHLD}, _TICK_S)


def _begin(spec: dict[str, Any], kernel: ctypes.CDLL, given: str) -> NoReturn:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        kernel.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if "outer" in spec:
            os.execv(spec["outer"][0], [*spec["outer"], given])  # noqa: S606 - it makes namespaces and starts us inside
        _become(spec, kernel)
    except OSError as wrong:
        _give_up(wrong)


def _become(spec: dict[str, Any], kernel: ctypes.CDLL) -> NoReturn:
    """Give up rights, then be the command."""
    try:
        _limit(spec)
        if spec["confine"]:
            _drop_rights(kernel)
            if spec["landlock"]:
                _restrict_files(spec, kernel)
            _restrict_calls(spec, kernel)
        if "outer" in spec:
            _be_first()
        os.execv("/bin/sh", ["sh", "-c", spec["command"]])  # noqa: S606 - its whole purpose
    except OSError as wrong:
        _give_up(wrong)


def _be_first() -> None:
    """Become the first process of the namespace, with the command as a child; return in the child.

    The first process has the same limits as the command. bubblewrap's own would have none, and the command could take it over
    where the kernel has no Landlock."""
    child = os.fork()
    if child == 0:
        return
    while True:
        ended, status = os.wait()
        if ended == child:
            ended_with = os.waitstatus_to_exitcode(status)
            os._exit(128 - ended_with if ended_with < 0 else ended_with)


def _give_up(wrong: OSError) -> NoReturn:
    os.write(2, f"hindbrain: not started, because it could not be contained: {wrong}\n".encode())
    os._exit(_NOT_APPLIED)


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        _become(json.loads(sys.argv[2]), _kernel())
    sys.exit(main(sys.argv[1]))
