"""Commands: which programs only look, which run the project's own code, and which do what cannot be taken back."""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "ADDS",
    "AS_ANOTHER",
    "AWK_FUNCTIONS",
    "BUILDS",
    "CLOSED",
    "COMMAND_LONGEST",
    "FIND_PRINTS",
    "FIND_RUNS",
    "FIND_WRITES",
    "FIXING",
    "GIT_LISTS",
    "GIT_OPTIONS",
    "GIT_READS",
    "INTERPRETERS",
    "IRREVERSIBLE",
    "ONLY_LOOKING",
    "PLACES",
    "PLAIN_SHELLS",
    "PROJECT",
    "PROJECT_MODULES",
    "READS",
    "SAFE_VARIABLES",
    "SHELLS",
    "TEST_ONE",
    "TEST_TWO",
    "WRAPPERS",
    "Build",
]

# Names in a workspace that no tool writes: settings and hooks of git start programs, the others are the memory and the trash.
CLOSED = frozenset({".git", ".hindbrain", ".hindbrain-trash"})
COMMAND_LONGEST = 20_000  # characters; nobody reads a longer one before saying yes

# What stands before a command and changes who does it: always asked about.
AS_ANOTHER = frozenset({"sudo", "doas"})
# Programs that start the rest of their line.
WRAPPERS = frozenset(
    {"command", "builtin", "exec", "env", "nice", "nohup", "time", "timeout", "stdbuf", "setsid", "ionice", "chronic"}
)
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh"})
# Of these, the ones that read a line as we do.
PLAIN_SHELLS = frozenset({"sh", "bash", "dash", "ash"})
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

# Programs that print, by the options with which they change nothing: a pattern that each option has to match as a whole. None: no
# option of the program writes a file or starts a program, on any common system. Where an option can, all others are named.
_ANY = (
    *("ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "nl", "od", "hexdump", "strings", "stat", "du", "df", "pwd"),
    *(
        "echo",
        "true",
        "false",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "cut",
        "tr",
        "paste",
        "join",
        "comm",
        "diff",
        "cmp",
    ),
    *("seq", "sleep", "printenv", "id", "whoami", "uname", "which", "type", "jq", "md5sum", "sha1sum", "sha256sum", "sha512sum"),
    *("b2sum", "cksum", "expr", "fold", "fmt", "column", "rev", "tac", "cd", ":", "exit", "break", "continue", "shift", "nproc"),
    *("groups", "tty"),
)
READS: Mapping[str, str | None] = {
    **dict.fromkeys(_ANY, None),
    "base64": r"-[dDw]|-w\d+|--decode|--wrap(=\d+)?|--ignore-garbage",
    "date": r"-u|-R|-I\w*|-d|--date(=.*)?|--utc|--iso-8601(=\w+)?|--rfc-3339=\w+|--rfc-email",
    "file": r"-[bhikLsv]+|--mime|--mime-type|--mime-encoding|--brief|--dereference|--version",
    "printf": r"--",
    "read": r"-r",
    "rg": r"-[aceFgHhIiLlNnopPqSstTuUvwxABCmMr0.j\d]+|-[egtTABCmMjr].*|--(files|hidden|no-ignore|glob|iglob|type|type-not|count"
    r"|count-matches|files-with-matches|files-without-match|line-number|no-line-number|ignore-case|smart-case|case-sensitive"
    r"|fixed-strings|json|max-count|context|after-context|before-context|no-heading|heading|color|only-matching|word-regexp"
    r"|line-regexp|multiline|sort|sortr|stats|version|type-list|with-filename|no-filename|pcre2|max-depth|follow|no-messages"
    r"|replace|quiet|invert-match|text|trim|null|vimgrep|column|max-columns|max-filesize|passthru|no-config|help)(=.*)?",
    "sort": r"-[bdfghiMnRrVcCmsuz]+|-[bdfghiMnRrVcCmsuz]*[kt].*"
    r"|--(reverse|numeric-sort|unique|human-numeric-sort|version-sort|key|field-separator"
    r"|ignore-case|stable|check|zero-terminated|month-sort|general-numeric-sort|dictionary-order|random-sort|version|help)(=.*)?",
    "test": r"",  # it has rules of its own, as have the next
    "[": r"",
    "tree": r"-[adfilpsughDFqNQnCAtrUvxJX]+|-[LPI]|--(noreport|dirsfirst|prune|gitignore|charset|filelimit|du|version)(=.*)?",
    "uniq": r"-[cdDiuz]+|-[fsw]\d*"
    r"|--(count|repeated|unique|ignore-case|skip-fields|skip-chars|check-chars|zero-terminated)(=.*)?",
    "wait": r"",
    "find": r"",
    "dd": r"",
}
# Operators of a test. Not among them: -v, which in some shells runs what stands in an index.
TEST_ONE = frozenset(f"-{letter}" for letter in "bcdefghkLnOGprsStuwxz")
TEST_TWO = frozenset({"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})
# They only add: directories that were not there, files that are empty.
ADDS: Mapping[str, str] = {"mkdir": r"-p|-v|-pv|--parents|--verbose", "touch": r""}

# Conditions and acts of find that print. What runs or writes is judged by itself.
FIND_PRINTS = (
    r"-(name|iname|path|ipath|wholename|iwholename|regex|iregex|regextype|type|xtype|size|mtime|mmin|ctime|cmin|atime|amin|newer"
    r"|newer[aBcm][aBcmt]|anewer|cnewer|maxdepth|mindepth|print|print0|printf|ls|prune|o|a|or|and|not|empty|perm|user|group|uid|gid"
    r"|nouser|nogroup|depth|d|xdev|mount|follow|quit|readable|writable|executable|links|inum|samefile|daystart|true|false|used"
    r"|lname|ilname|noleaf|fstype|L|P|H|E|X|s|\d+[bcwkMGT]?)"
)
FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})

# Functions of awk that compute. A script that calls another one, or has a pipe or a redirection, is asked about.
AWK_FUNCTIONS = frozenset(
    {"if", "while", "for", "print", "printf", "return", "length", "substr", "split", "sub", "gsub", "match", "index", "toupper"}
    | {
        "tolower",
        "sprintf",
        "int",
        "log",
        "exp",
        "sqrt",
        "sin",
        "cos",
        "atan2",
        "rand",
        "srand",
        "in",
        "delete",
        "strftime",
        "systime",
    }
)

# They run code that lies in the workspace: its tests and its checks. Free only where what they write is contained, and only with
# options that name no file to write, no other configuration and no plugin.
_PYTEST = (
    r"-[qvxsl]+|-[km].*|-n(\d+|auto)?|-r[A-Za-z]+|-V|-h|--(maxfail|lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|tb"
    r"|durations|durations-min|collect-only|co|no-header|no-summary|strict-markers|strict-config|disable-warnings|color"
    r"|setup-show|runxfail|exitfirst|verbose|quiet|capture|showlocals|deselect|ignore|ignore-glob|import-mode|doctest-modules"
    r"|timeout|version|help|markers|fixtures)(=.*)?"
)
PROJECT: Mapping[str, str] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "unittest": r"-[vqfb]+|-[kspt]|--(verbose|quiet|failfast|buffer|locals)",
    "doctest": r"-[vf]+",
    "compileall": r"-q+|-f",
    "py_compile": r"-q",
    "json.tool": r"--(sort-keys|no-ensure-ascii|json-lines|compact|tab|no-indent)",
    "tox": r"-[eqvlr]+|--(listenvs|version|help)",
    "nox": r"-[lsrx]+|--(list|version|help|sessions)",
    "mypy": r"-[pmvV]|--(strict|ignore-missing-imports|no-incremental|pretty|no-pretty|show-error-codes|show-error-context"
    r"|show-column-numbers|python-version|follow-imports|exclude|package|module|version|help|explicit-package-bases"
    r"|namespace-packages|warn-unused-ignores|check-untyped-defs|disallow-untyped-defs|no-error-summary)(=.*)?",
    "ruff": r"-[qvse]+|--(check|diff|select|ignore|extend-select|extend-ignore|output-format|statistics|show-files|show-settings"
    r"|quiet|verbose|silent|no-cache|line-length|target-version|preview|exclude|extend-exclude|exit-zero|no-fix|version|help)(=.*)?",
    "black": r"-[qvltSC]+"
    r"|--(check|diff|quiet|verbose|line-length|target-version|exclude|include|color|no-color|version|help)(=.*)?",
    "isort": r"-[cqv]|--(check|check-only|diff|quiet|verbose|profile|line-length|skip|version|help)(=.*)?",
    "flake8": r"-[vq]+|--(count|select|ignore|extend-ignore|extend-select|max-line-length|max-complexity|exclude|statistics"
    r"|show-source|quiet|version|help)(=.*)?",
    "pylint": r"-E|-j\d*|-sn|-rn|--(errors-only|disable|enable|jobs|score|reports|max-line-length|ignore|version|help)(=.*)?",
    "pyright": r"--(outputjson|stats|level|verbose|warnings|version|help)(=.*)?",
    "pyflakes": r"--(version|help)",
    "jest": r"-[tb]|--(ci|testNamePattern|testPathPattern|verbose|silent|bail|runInBand|maxWorkers|colors|no-color|listTests"
    r"|passWithNoTests|version|help)(=.*)?",
    "vitest": r"-t|--(run|reporter=(dot|verbose|default|basic)|testNamePattern(=.*)?|bail(=.*)?|no-color|version|help)",
    "mocha": r"-[gfb]|--(grep|fgrep|bail|timeout|recursive|reporter=(dot|spec|min|list)|no-color|version|help)(=.*)?",
    "tsc": r"-p|-v|--(noEmit|project|pretty|skipLibCheck|strict|version|help)",
    "eslint": r"--(ext|max-warnings|quiet|no-color|color|format=(stylish|json|compact|unix)|version|help)(=.*)?",
    "prettier": r"-[cl]|--(check|list-different|no-color|log-level|loglevel|version|help)(=.*)?",
    "rspec": r"-f[pd]|-[eb]|--(example|fail-fast|tag|color|no-color|backtrace|version|help)(=.*)?",
    "phpunit": r"--(filter|testdox|stop-on-failure|stop-on-error|group|exclude-group|testsuite|colors|version|help)(=.*)?",
    "shellcheck": r"-[sefSx].*|--(shell|exclude|format|severity|external-sources|color|version|help)(=.*)?",
    "ctest": r"-[RELV]|-VV|-N|-j\d*|--(output-on-failure|verbose|extra-verbose|show-only|parallel|timeout|stop-on-failure"
    r"|version|help)(=.*)?",
    "luacheck": r"-q+|--(codes|no-color|std|globals|version|help)(=.*)?",
}
# Of these, some write over files unless one of their words says that they only look.
ONLY_LOOKING: Mapping[str, tuple[str, ...]] = {
    "black": ("--check", "--diff"),
    "isort": ("--check", "--check-only", "-c", "--diff"),
    "prettier": ("--check", "-c", "--list-different", "-l"),
    "tsc": ("--noEmit",),
    "ruff": ("check", "--check", "--diff"),  # `format` needs one of the last two
}
# And these words make any of them write.
FIXING = frozenset({"--fix", "--fix-only", "--unsafe-fixes", "--add-noqa", "--write", "-w", "-i", "--in-place"})
PROJECT_MODULES = frozenset(
    {"pytest", "unittest", "doctest", "mypy", "ruff", "flake8", "pylint", "pyflakes", "compileall", "py_compile", "json.tool"}
)


class Build(NamedTuple):
    """What of a build program is a check or a build, and nothing else: its first words, its options, what may follow `--`."""

    targets: frozenset[str]
    options: str
    after: str | None = None  # None: nothing may follow
    operands: str = r"[^-].*"


_CARGO = (
    r"-[qvp]|-vv|-j\d*|--(release|quiet|verbose|workspace|all|all-targets|all-features|features|no-default-features|package|lib"
    r"|bins|bin|tests|test|examples|example|benches|doc|no-run|no-fail-fast|offline|locked|frozen|message-format|color)(=.*)?"
)
BUILDS: Mapping[str, Build] = {
    "make": Build(
        frozenset({"test", "tests", "check", "lint", "build", "all", "types"}),
        r"-(j\d*|s|k|B|n|\d+)",
        operands=r"test|tests|check|lint|build|all|types",
    ),
    "npm": Build(frozenset({"test", "t"}), r"-s|--silent"),
    "yarn": Build(frozenset({"test"}), r"-s|--silent"),
    "pnpm": Build(frozenset({"test"}), r"-s|--silent"),
    "cargo": Build(
        frozenset({"test", "check", "build", "clippy"}),
        _CARGO,
        r"-[DWA]|--(nocapture|test-threads|ignored|include-ignored|exact|skip|list|show-output|quiet)(=.*)?|[^-].*",
    ),
    "go": Build(
        frozenset({"test", "vet"}),  # a build writes a program of any name into the directory
        r"-(v|run|count|race|short|timeout|cover|bench|benchtime|failfast|json|tags|p|parallel|list|skip|shuffle|trimpath)(=.*)?",
    ),
    # Each operand of these two is a goal of its own: `deploy`, `publish`, `clean`, or a plugin from the network.
    "mvn": Build(frozenset({"test", "verify"}), r"-[qBo]|-ntp|-Dtest=\S+", operands=r"test|verify|compile|test-compile"),
    "gradle": Build(
        frozenset({"test", "check", "build"}),
        r"-q|--tests=.*|--(offline|no-daemon|quiet|info|stacktrace|continue)",
        operands=r"test|check|build",
    ),
    "dotnet": Build(frozenset({"test", "build"}), r"-[vc]|--(verbosity|configuration|no-build|no-restore|nologo|filter)(=.*)?"),
}

# What git only reads. Settings of the repository can make it start programs, so it counts as code of the project.
GIT_READS = frozenset(
    {"status", "log", "diff", "show", "ls-files", "ls-tree", "rev-parse", "rev-list", "blame", "describe", "grep", "shortlog"}
    | {"cat-file", "merge-base", "name-rev", "count-objects", "diff-tree", "diff-index", "for-each-ref", "show-ref", "version"}
)
# Options with which they start and write nothing. Not among them: a pager, another diff, a file for the output.
GIT_OPTIONS = (
    r"-\d+|-[abcdefghilmnopqrstuvwxzBCEFGHILMPSUW]|-[nUCMBA]\d+%?|-L\d.*|-u(no|all|normal)|--|-vv"
    r"|--(oneline|stat|shortstat|numstat|summary|name-only|name-status|graph|all|decorate|no-decorate|no-color|color|since|until"
    r"|after|before|author|committer|grep|patch|no-patch|short|branch|branches|porcelain|cached|staged|no-index|follow|format"
    r"|pretty|abbrev-commit|abbrev|no-abbrev|date|reverse|first-parent|merges|no-merges|others|exclude-standard|modified|deleted"
    r"|stage|unmerged|full-tree|full-name|count|show-toplevel|show-prefix|show-cdup|abbrev-ref|verify|quiet|git-dir"
    r"|git-common-dir|is-inside-work-tree|is-bare-repository|ignored|untracked-files|untracked|exit-code|word-diff"
    r"|ignore-all-space|ignore-space-change|ignore-blank-lines|ignore-submodules|diff-filter|contains|sort|points-at|merged"
    r"|no-merged|heads|tags|remotes|max-count|skip|left-right|cherry-pick|no-walk|always|dirty|long|exact-match|match"
    r"|no-ext-diff|no-textconv|line-number|files-with-matches|ignore-case|word-regexp|fixed-strings|extended-regexp"
    r"|perl-regexp|and|or|not|max-depth|context|after-context|before-context|show-function|function-context|unified|raw|minimal"
    r"|patience|histogram|check|find-renames|find-copies|no-renames|relative|text|root|numbered|email|boundary|ancestry-path"
    r"|topo-order|date-order|author-date-order|merge-base|batch-check|symbolic-full-name|end-of-options|show-current|list)(=.*)?"
)
GIT_LISTS: Mapping[str, tuple[str, ...]] = {
    "branch": ("-a", "-v", "-vv", "-r", "--list", "--show-current", "--all"),
    "tag": ("-l", "--list", "-n"),
    "remote": ("-v",),
    "stash": ("list",),
}

# Variables that a command may be given in front of it: none of them says what is started or read.
SAFE_VARIABLES = frozenset({"LANG", "LC_ALL", "LC_CTYPE", "TZ", "CI", "NO_COLOR", "TERM", "COLUMNS", "PYTHONDONTWRITEBYTECODE"})
