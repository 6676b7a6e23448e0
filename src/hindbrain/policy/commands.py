"""Commands: which programs only look, which run the project's own code, and which do what cannot be taken back."""

from collections.abc import Mapping

__all__ = [
    "COMMAND_LONGEST",
    "FIXING",
    "GIT_READS",
    "INTERPRETERS",
    "IRREVERSIBLE",
    "KEYWORDS",
    "LEADING",
    "ONLY_LOOKING",
    "PLACES",
    "PROJECT",
    "PROJECT_MODULES",
    "PROJECT_TARGETS",
    "READS",
    "SAFE_VARIABLES",
    "SHELLS",
    "WRAPPERS",
    "WRITING_OPTIONS",
]

COMMAND_LONGEST = 20_000  # characters; nobody reads a longer one before saying yes

# What stands before a command and does not change what it does. `sudo` and `doas` change who does it: always asked about.
LEADING = frozenset({"then", "do", "else", "{", "(", "!", "if", "elif", "while", "until", "sudo", "doas"})
# Words of the shell that do nothing by themselves.
KEYWORDS = frozenset({"done", "fi", "}", ")", "esac"})
# Programs that start the rest of their line.
WRAPPERS = frozenset(
    {"command", "builtin", "exec", "env", "nice", "nohup", "time", "timeout", "stdbuf", "setsid", "ionice", "chronic"}
)
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh"})
INTERPRETERS = frozenset({"perl", "ruby", "node", "deno", "bun", "php", "lua", "tclsh", "Rscript", "osascript", "java"})
# Where programs of the system lie; one from elsewhere may have any name.
PLACES = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")

_GONE = "what it removes is gone"
_DISK = "it writes over a disk"
_STOPS = "it stops what others run"
_SENDS = "it sends to another machine"
_SYSTEM = "it changes the settings of the machine"
_RIGHTS = "earlier rights are not kept"

IRREVERSIBLE: Mapping[str, str] = {
    **dict.fromkeys(("rm", "rmdir", "unlink", "truncate", "shred", "srm", "wipe"), _GONE),
    **dict.fromkeys(("mkfs", "fdisk", "sfdisk", "gdisk", "parted", "wipefs", "mkswap", "blkdiscard", "cryptsetup", "dd"), _DISK),
    **dict.fromkeys(("kill", "pkill", "killall", "shutdown", "reboot", "halt", "poweroff", "init", "telinit"), _STOPS),
    **dict.fromkeys(
        ("ssh", "scp", "sftp", "rsync", "ftp", "nc", "ncat", "netcat", "telnet", "mail", "mailx", "sendmail"), _SENDS
    ),
    **dict.fromkeys(("systemctl", "service", "launchctl", "crontab", "at", "batch", "sysctl", "iptables", "nft", "ufw"), _SYSTEM),
    **dict.fromkeys(("mount", "umount", "swapoff", "useradd", "userdel", "usermod", "groupadd", "passwd", "chpasswd"), _SYSTEM),
    **dict.fromkeys(("visudo", "update-alternatives", "ldconfig", "modprobe", "insmod", "rmmod", "hostnamectl"), _SYSTEM),
    **dict.fromkeys(("chown", "chgrp", "setfacl", "chattr", "setcap", "chmod"), _RIGHTS),
}

# They print, and change nothing as long as no option of WRITING_OPTIONS and no redirection is there.
READS = frozenset(
    {
        *(
            "ls",
            "cat",
            "head",
            "tail",
            "wc",
            "grep",
            "egrep",
            "fgrep",
            "rg",
            "nl",
            "od",
            "hexdump",
            "strings",
            "file",
            "stat",
            "du",
        ),
        *(
            "df",
            "pwd",
            "echo",
            "printf",
            "true",
            "false",
            "test",
            "[",
            "date",
            "basename",
            "dirname",
            "realpath",
            "readlink",
            "cut",
        ),
        *(
            "tr",
            "paste",
            "join",
            "comm",
            "diff",
            "cmp",
            "sort",
            "uniq",
            "seq",
            "sleep",
            "printenv",
            "id",
            "whoami",
            "uname",
            "which",
        ),
        *("type", "tree", "jq", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "expr", "fold", "fmt", "column"),
        *(
            "rev",
            "tac",
            "base64",
            "cd",
            ":",
            "exit",
            "wait",
            "break",
            "continue",
            "read",
            "shift",
            "nproc",
            "groups",
            "tty",
            "find",
        ),
        *("mkdir", "touch"),  # they only add: a directory that was not there, a file that is empty
    }
)
# An option by which a program of READS writes, or starts another one.
WRITING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sort": ("-o", "--output", "--compress-program", "-T", "--temporary-directory"),
    "rg": ("--pre", "--hostname-bin", "--search-zip", "-z"),
    "date": ("-s", "--set"),
    "tree": ("-o", "-R"),
    "file": ("-C", "--compile", "-z", "-Z"),
    "printf": ("-v",),
    "touch": ("-d", "-t", "-r", "-m", "-a", "--date", "--reference", "--time"),
    "mkdir": ("-m", "--mode"),
    "test": ("-v",),
    "[": ("-v",),
}
# They run code that lies in the workspace: its tests and its checks. Free only where what they write is contained.
PROJECT = frozenset(
    {
        *("pytest", "py.test", "tox", "nox", "mypy", "ruff", "black", "isort", "flake8", "pylint", "pyright", "pyflakes"),
        *("jest", "vitest", "mocha", "tsc", "eslint", "prettier", "rspec", "phpunit", "shellcheck", "ctest", "luacheck"),
    }
)
# Of these, some write over files unless one of their words says that they only look.
ONLY_LOOKING: Mapping[str, tuple[str, ...]] = {
    "black": ("--check", "--diff"),
    "isort": ("--check", "--check-only", "-c", "--diff"),
    "prettier": ("--check", "-c", "--list-different", "-l"),
    "tsc": ("--noEmit",),
    "ruff": ("check", "--check", "--diff"),
}
# And these words make any of them write.
FIXING = frozenset({"--fix", "--fix-only", "--unsafe-fixes", "--add-noqa", "--write", "-w", "-i", "--in-place"})
PROJECT_MODULES = frozenset(
    {"pytest", "unittest", "doctest", "mypy", "ruff", "flake8", "pylint", "pyflakes", "compileall", "py_compile", "json.tool"}
)
# What of a build program is a check or a build, and nothing else.
PROJECT_TARGETS: Mapping[str, frozenset[str]] = {
    "make": frozenset({"test", "tests", "check", "lint", "build", "all", "types"}),
    "npm": frozenset({"test", "t"}),
    "yarn": frozenset({"test"}),
    "pnpm": frozenset({"test"}),
    "cargo": frozenset({"test", "check", "build", "clippy"}),
    "go": frozenset({"test", "vet", "build"}),
    "mvn": frozenset({"test", "verify"}),
    "gradle": frozenset({"test", "check", "build"}),
    "dotnet": frozenset({"test", "build"}),
}

# What git only reads. Settings of the repository can make it start programs, so it counts as code of the project.
GIT_READS = frozenset(
    {
        *(
            "status",
            "log",
            "diff",
            "show",
            "ls-files",
            "ls-tree",
            "rev-parse",
            "rev-list",
            "blame",
            "describe",
            "grep",
            "shortlog",
        ),
        *(
            "cat-file",
            "merge-base",
            "name-rev",
            "count-objects",
            "diff-tree",
            "diff-index",
            "for-each-ref",
            "show-ref",
            "version",
        ),
    }
)

# Variables that a command may be given in front of it: none of them says what is started or read.
SAFE_VARIABLES = frozenset({"LANG", "LC_ALL", "LC_CTYPE", "TZ", "CI", "NO_COLOR", "TERM", "COLUMNS", "PYTHONDONTWRITEBYTECODE"})
