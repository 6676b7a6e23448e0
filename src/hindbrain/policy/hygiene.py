"""Hygiene: what must not be remembered, as one table. A floor, not a proof: pattern matching has false negatives."""

import re
from dataclasses import dataclass

__all__ = ["HIGH_ENTROPY", "HINTS", "NEVER_ALLOWED", "PATTERNS", "PLACEHOLDER", "ROTATE", "WORDY", "Pattern"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One class of text that is refused. `value_group` names the group that holds the value, for the placeholder test."""

    name: str
    expression: re.Pattern[str]
    why: str
    joined: bool = False  # also looked for across line breaks
    value_group: str | None = None


def _p(name: str, expression: str, why: str, *, flags: int = 0, joined: bool = False, value_group: str | None = None) -> Pattern:
    return Pattern(name=name, expression=re.compile(expression, flags), why=why, joined=joined, value_group=value_group)


_TELLING_NAMES = "SECRET|TOKEN|PASSWORD|PASSWD|API_KEY|APIKEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIAL|CLIENT_SECRET"

# The order decides which class a text is refused as: the most telling one first.
PATTERNS: tuple[Pattern, ...] = (
    _p(
        "private_key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
        "a private key opens whatever trusts it",
        joined=True,
    ),
    _p("aws_access_key_id", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b", "names a cloud account's key"),
    _p(
        "aws_secret_key",
        r"aws_secret_access_key[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
        "the secret half of a cloud key",
        flags=re.I,
    ),
    _p("github_token", r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{22,}", "reads and writes repositories"),
    _p("gitlab_token", r"\bglpat-[A-Za-z0-9_-]{20,}", "reads and writes repositories"),
    _p(
        "slack_token",
        r"\bxox[bpars]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,}",
        "posts and reads as somebody",
    ),
    _p("google_api_key", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", "bills to an account"),
    _p("stripe_key", r"\b[rs]k_live_[A-Za-z0-9]{16,}", "moves money"),
    _p("llm_api_key", r"\bsk-(?:ant-|proj-)[A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{20,}", "bills to an account"),
    _p("package_token", r"\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_-]{50,}", "publishes packages"),
    _p("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", "is somebody's login"),
    _p(
        "bearer_header",
        r"Authorization:\s*(?:Bearer\s+(?P<bearer>\S{16,})|Basic\s+(?P<basic>[A-Za-z0-9+/=]{8,}))",
        "is somebody's login",
        flags=re.I,
        value_group="bearer",
    ),
    _p(
        "credentialed_url",
        r"(?:\b[a-z][a-z0-9+.-]{0,30}|[a-z0-9+.-]{31})://[^\s/:@]*:(?P<password>[^\s/@]+)@[^\s/@]+",
        "carries its password",
        flags=re.I,
        joined=True,
        value_group="password",
    ),
    _p(
        "env_assignment",
        rf"^\s*(?:export\s+)?[\"']?(?=[A-Z0-9_.-]*(?:{_TELLING_NAMES}))[A-Z0-9_.-]++[\"']?\s*[=:]\s*[\"']?"
        r"(?P<value>[^\s\"']{8,})[\"']?\s*+[,;]?\s*+$",
        "a name that promises a secret, with a value",
        flags=re.I,
        value_group="value",
    ),
    _p("conflict_marker", r"^(?:<{7}|={7}|>{7})(?: .*)?$", "a merge that nobody finished"),
)

# Runs that are long, mixed and random enough to be a key of a kind nobody listed.
HIGH_ENTROPY = {"name": "high_entropy", "run": re.compile(r"[A-Za-z0-9+/=_-]{32,}"), "bits": 4.0}

# In lower case, what every text has that one of the patterns finds: one without any of these, and without a long run, is clean.
HINTS: tuple[str, ...] = (
    *("-----begin", "akia", "asia", "agpa", "aida", "aroa", "aws_secret", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "hooks.slack", "aiza", "k_live_", "sk-", "npm_", "pypi-", "eyj", "authorization:", "://"),
    *("secret", "token", "password", "passwd", "api_key", "apikey", "private_key", "access_key", "credential"),
    *("<<<<<<<", "=======", ">>>>>>>"),
)

# Pieces of identifiers and paths: a run made only of these is a name, not a key.
WORDY = re.compile(r"(?:(?:[A-Z]{0,4}[a-z]{2,}+)++\d{0,4}|[A-Z]+\d{0,4}|\d+|[a-zA-Z]\d{0,3}|)\Z")

PLACEHOLDER = re.compile(
    r"(?:<.*|\$\{.*|\{\{.*|\$\(.*|x{3,}.*|\*{3,}.*|\.{3,}.*|changeme.*|example.*|your-.*|your_.*|redacted.*|null|none|)\Z", re.I
)

# No allow list opens these: a key that was written down once is a key to rotate.
NEVER_ALLOWED = frozenset({"private_key"})

ROTATE = "take the secret out and rotate it: what was written down once is in logs and backups already"
