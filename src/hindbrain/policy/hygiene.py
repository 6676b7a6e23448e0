"""Hygiene: what must not be remembered, as one table. A floor, not a proof: pattern matching has false negatives."""

import re
from dataclasses import dataclass

__all__ = [
    "CLASSES",
    "DIGEST_WORDS",
    "EXCLUDED_NAMES",
    "HIGH_ENTROPY",
    "LITERAL_WORDS",
    "LOCAL_HOSTS",
    "NEVER_ALLOWED",
    "PATTERNS",
    "PLACEHOLDER",
    "PLACEHOLDER_WORDS",
    "PROPERTY_WORDS",
    "ROTATE",
    "TECHNICAL_WORDS",
    "TELLING_NAMES",
    "TELLING_WORDS",
    "WEAK_PASSWORDS",
    "Pattern",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One class of text that is refused. `hints` are lower-case parts of which every match contains one.

    `value_group` names the group with the secret itself, for the placeholder test. `joined` patterns are also searched
    across a line break.
    """

    name: str
    expression: re.Pattern[str]
    hints: tuple[str, ...]
    joined: bool = False
    value_group: str | None = None


def _p(name: str, hints: str, expression: str, *, flags: int = 0, joined: bool = False, value: str | None = None) -> Pattern:
    compiled = re.compile(expression, flags | re.M)
    return Pattern(name=name, expression=compiled, hints=tuple(hints.split()), joined=joined, value_group=value)


# The order decides which class a text is refused as: the most specific one first.
CLASSES: dict[str, str] = {
    "private_key": "a private key opens everything that trusts it",
    "aws_access_key_id": "names a cloud account's key",
    "aws_secret_key": "the secret half of a cloud key",
    "github_token": "reads and writes repositories",
    "gitlab_token": "reads and writes repositories",
    "slack_token": "posts and reads as somebody",
    "google_api_key": "bills to an account",
    "stripe_key": "moves money",
    "llm_api_key": "bills to an account",
    "package_token": "publishes packages",
    "jwt": "is somebody's login",
    "vendor_token": "has the published format of a vendor's key",
    "webhook_url": "anybody who knows the address can post to it",
    "bearer_header": "is somebody's login",
    "credentialed_url": "carries its password",
    "connection_string": "carries its password or key",
    "login_line": "is a user name with its password",
    "env_assignment": "a name that promises a secret, with a value",
    "named_secret": "a name that promises a secret, with a value inside a line",
    "high_entropy": "a long random run, like a key of a kind that is not listed",
    "stated_password": "a sentence that states a password",
    "conflict_marker": "a merge that nobody finished",
}

_PEM = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"

PATTERNS: tuple[Pattern, ...] = (
    _p("private_key", "-----begin", _PEM, joined=True),
    _p("private_key", "putty-user-key-file", r"PuTTY-User-Key-File-\d:"),
    _p("private_key", "age-secret-key- age-plugin-", r"\bAGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]+)-1[A-Z0-9]{50,}", flags=re.I),
    _p("aws_access_key_id", "akia asia agpa aida aroa", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b"),
    _p(
        "aws_secret_key",
        "aws_secret aws-secret awssecret secretaccesskey",
        r"(?:aws[_-]?secret[_-]?access[_-]?key|\bsecretaccesskey)[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
        flags=re.I,
    ),
    _p(
        "github_token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?<![A-Za-z0-9])(?:gh[pousr]_(?P<value>[A-Za-z0-9]{36,})|github_pat_[A-Za-z0-9_]{22,})",
        value="value",
    ),
    _p("gitlab_token", "glpat-", r"\bglpat-(?P<value>[A-Za-z0-9_-]{20,})", value="value"),
    _p(
        "slack_token",
        "xox hooks.slack",
        r"\bxox[bpars]-(?P<value>[A-Za-z0-9-]{10,})"
        r"|hooks\.slack\.com/(?:services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,}|(?:workflows|triggers)/[A-Za-z0-9/]{20,})",
        value="value",
    ),
    _p("google_api_key", "aiza", r"\bAIza(?P<value>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])", value="value"),
    _p("stripe_key", "k_live_", r"\b[rs]k_live_(?P<value>[A-Za-z0-9]{16,})", value="value"),
    _p(
        "llm_api_key",
        "sk-",
        r"(?<![A-Za-z0-9_])sk-(?:(?:ant-|proj-)(?P<value>[A-Za-z0-9_-]{16,})|(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{20,})",
        value="value",
    ),
    _p("package_token", "npm_ pypi-", r"\bnpm_[A-Za-z0-9]{36}|\bpypi-[A-Za-z0-9_-]{50,}"),
    _p("jwt", "eyj", r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    _p(
        "webhook_url",
        "webhook hooks. hook. /hooks/ /bot chat.googleapis",
        r"(?:discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,}/[A-Za-z0-9_-]{40,}"
        r"|[a-z0-9.-]*webhook\.office\.com/webhookb2/[0-9a-fA-F@/A-Za-z-]{60,}|outlook\.office(?:365)?\.com/webhook/[0-9a-"
        r"fA-F@/A-Za-z-]{60,}"
        r"|hooks\.zapier\.com/hooks/catch/\d+/[a-z0-9]{5,}|hook\.[a-z0-9.]*make\.com/[a-z0-9]{20,}|maker\.ifttt\.com/trigg"
        r"er/\w+/with/key/[A-Za-z0-9_-]{20,}"
        r"|chat\.googleapis\.com/v1/spaces/[^\s\"'<>]{1,80}[?&](?:key|token)=[^\s\"'<>]{20,}|api\.telegram\.org/bot\d{6,}:"
        r"[A-Za-z0-9_-]{30,}"
        r"|/hooks/[a-z0-9]{26}\b)",
    ),
    _p(
        "bearer_header",
        "authorization authentication bearer",
        r"authori[sz]ation[\"']?\s*(?:[:=,]|=>)\s*[\"'`]?\s*"
        r"(?:Bearer\s+(?P<bearer>[^\s\"'`]{16,})|(?:token|apikey|api-key|key|splunk|snowflake token=)\s*=?\s*[\"']"
        r"?(?P<token>[A-Za-z0-9_.=+/:-]{16,})"
        r"|Basic\s+(?P<basic>[A-Za-z0-9+/=]{8,}))",
        flags=re.I,
    ),
    _p(
        "credentialed_url",
        "://",
        r"(?:\b[a-z][a-z0-9+.-]{0,30}|[a-z0-9+.-]{31})://(?P<user>[^\s/:@\"'<>?#]*):(?P<password>[^\s/@]+)@(?P<host>[^\s/@"
        r":?\"'<>),;]+)",
        flags=re.I,
        joined=True,
    ),
    # Git writes nothing after the middle marker; a line of seven signs with words behind it is a heading.
    _p("conflict_marker", "<<<<<<< ======= >>>>>>>", r"^(?:(?:<{7}|>{7})(?: .*)?|={7} *)\r?$"),
)

# Runs that are long, mixed and random enough to be a key of a kind nobody listed.
HIGH_ENTROPY = {"name": "high_entropy", "run": re.compile(r"[A-Za-z0-9+/=_-]{32,}+"), "bits": 4.0}

# -- named values ------------------------------------------------------------------------------------------------------

# Parts of a name, in lower case and without separators, that promise a secret.
TELLING_NAMES = (
    *("secret", "token", "password", "passwd", "passphrase", "passcode", "passwort", "apikey", "privatekey", "accesskey"),
    *("credential", "authkey", "signingkey", "signkey", "encryptionkey", "encryptkey", "cryptkey", "masterkey", "sharedkey"),
    *("accountkey", "licensekey", "deploykey", "appkey", "adminkey", "servicekey", "rootkey", "serverkey", "hmackey", "aeskey"),
    *("sshkey", "keydata", "mnemonic", "seedphrase", "connectionstring", "sessionkey", "sessionid", "sessid", "clientkey"),
    *("applicationkey", "webhookkey", "ingestkey", "writekey", "bearer", "recoverycode", "backupcode", "keypass"),
)

# Whole parts of a name that promise a secret: too short to look for inside other words.
TELLING_WORDS = frozenset(
    {"pass", "pwd", "pw", "psk", "creds", "pat", "auth", "otp", "totp", "pin", "sid", "cookie", "key", "salt", "dsn"}
)

# A name that ends with one of these is about a secret and does not hold one.
PROPERTY_WORDS = frozenset(
    """length len min max minimum maximum name names url uri urls endpoint header headers file files filename path
    paths dir directory folder type types kind expiry expires expire expiration expired ttl age lifetime timeout
    delay interval count counts counter limit limits quota size policy policies field fields param params
    parameter prefix suffix pattern regex regexp format label title text message messages msg hint hints error
    errors prompt placeholder help description desc docs required enabled disabled valid invalid reset change
    changed changes updated created at date time status state states version algorithm alg hash hashed hasher
    hashers encoder bits bytes strength score validator validators validation provider providers service services
    manager store storage backend backends source scope scopes issuer audience class cls model schema table column
    index ref refs reference arn var env variable input form view button icon page route screen component budget
    usage price cost rate total used per prefixes charset alphabet encoding rotation location region domain host
    hostname port user username email mail owner group role mode option options setting settings config
    configuration flag id ids number num mask masked visible hidden policyname generator factory builder parser
    reader writer handler helper util utils middleware interceptor filter guard strategy example comment note
    notes list set map array dict fingerprint thumbprint digest checksum algo signature kid jti transform
    serializer deserializer dto entity repository controller module package import level depth weight similarity
    """.split()  # noqa: SIM905 - a list of words reads best as words
)

# Names that contain a telling part and are something else.
EXCLUDED_NAMES = re.compile(
    r"tokeni[sz]|(?:^|[._-])(?:num|max|min|n|total|avg|prompt|completion|input|output|eos|bos|pad|unk|sep|cls|"
    r"mask|stop|special|next|page|"
    r"nextpage|continuation|sync|resume|cursor|is|has|no|use|show|hide|enable|disable|require|requires|forgot|"
    r"forget|remove|delete|"
    r"validate|check|verify|confirm|match|compare|get|fetch|read|find|list|describe|create|new|public|pub|primary|foreign|sort|"
    r"partition|cache|lookup|hash|idempotency|dedup|object|row|composite|unique|cancel|cancellation|cancelation|"
    r"change|reset|update)"
    r"[._-]?(?:tokens?|key|keys|passwords?|secrets?|credentials?|sessionid)s?$|tokens$|(?:^|[._-])(?:password|"
    r"secret|token)s?[._-]?less|"
    r"public[._-]?key|pub[._-]?key|secret(?:ary|ly|ion)|passwords$|^(?:keys?|cookies?|pin)$",
    re.I,
)

PLACEHOLDER = re.compile(
    r"(?:<.*|\$\{.*|\{\{.*|\$\(.*|\$[A-Za-z_]\w*$|%\w+%$|%\(.*|#\{.*|\{[\w.:]*\}.*|x{3,}.*|\*{3,}.*|\.{3,}.*|"
    r"…+.*|_{3,}.*|-{3,}.*|•.*|\[.*"
    r"|changeme.*|change[-_]?(?:me|it|this).*|example.*|your[-_ ].*|your[a-z]+$|my[-_]?(?:secret|password|token|"
    r"api)?[-_]?(?:key|token|password|secret|value)$"
    r"|(?:test|my|fake|dummy|sample|some|bad|wrong|invalid|old|new|default|mock)[-_]?(?:password|passwd|pass|"
    r"secret|token|api[-_]?key|key|credentials?)"
    r"|redacted.*|\(?redacted\)?|null|none|nil|undefined|true|false|)\Z",
    re.I | re.S,
)

# A value with one of these as a part of its own is written for the reader, not for a machine.
PLACEHOLDER_WORDS = frozenset(
    """your changeme placeholder example dummy sample redacted insert replace todo fake here removed hidden masked
    omitted fixme put enter goes xxx xxxx xxxxx xxxxxx xxxxxxxx abc123 foobar foo bar baz deadbeef notreal
    nonsense
    """.split()  # noqa: SIM905
)

# Literals, type names and words of a schema that stand where a value could.
LITERAL_WORDS = frozenset(
    """required optional string boolean integer number object array undefined password passwort passwords passphrase
    secret secrets token tokens bearer basic digest disabled enabled default nullable unknown function function()
    credentials credential anonymous unauthorized authorized missing invalid expired revoked provided generated
    generate automatic automatically environment keychain keyring keystore vault plaintext cleartext encrypted
    decrypted hashed bcrypt argon2 argon2id scrypt sha256 pbkdf2 hs256 rs256 es256 eddsa oauth oauth2 interactive
    cookie session external internal forbidden protected mandatory deprecated access_token refresh_token id_token
    api_key apikey client_credentials authorization_code password_reset bytes secretstr localhost production
    development staging testing kubernetes opaque service_account serviceaccount
    """.split()  # noqa: SIM905
)

WEAK_PASSWORDS = frozenset(
    """password pass passwd pwd secret postgres root admin user username test testing guest example changeme mysql
    redis rabbitmq mongo mongodb minio minioadmin app dev development local docker sa foo bar baz foobar hunter
    token key mypassword mypass pw p password123 secret123
    """.split()  # noqa: SIM905
)

LOCAL_HOSTS = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host|hostname|server|example\.(?:com|org|net)|[\w.-]"
    r"+\.example(?:\.\w+)?|"
    r"host\.docker\.internal|db|database|postgres|mysql|redis|rabbitmq|mongo|<.*|\{.*|\$.*)\Z",
    re.I,
)

# Words with digits that sentences about secrets use.
TECHNICAL_WORDS = re.compile(
    r"(?:base(?:16|32|36|58|62|64)(?:url)?|sha-?\d+|md5|utf-?\d+|argon2\w*|oauth-?2(?:\.\d)?|x\.?509\w*|pkcs#?\d+|"
    r"rfc-?\d+|http/?[123](?:\.\d)?|"
    r"aes-?\d+\w*|rsa-?\d+|ed25519|curve25519|hs\d+|rs\d+|es\d+|bcrypt|scrypt|pbkdf2|ipv[46]|s3|ec2|k8s|i18n|"
    r"win32|v?\d+(?:\.\d+)*|"
    r"(?:1|one)password|\d+[- ]?(?:characters?|chars?|digits?|bytes?|bits?|days?|hours?|minutes?|times?|years?|"
    r"months?|weeks?|letters?)|\d+(?:st|nd|rd|th))(?:[-_./,;:)]|\Z)",
    re.I,
)

# Written directly before a run, these say that it is a digest, an id or a public key.
DIGEST_WORDS = re.compile(
    r"(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|crc(?:32|64)?|digest|checksum|integrity|etag|fingerprint|"
    r"thumbprint|content[_-]?hash|"
    r"hash|h1|narhash|commit|revision|rev|public[_ -]?key|pubkey|publickey|verify[_ -]?key|ssh-(?:rsa|ed25519|dss)|"
    r"(?:sk-)?ecdsa-sha2-nistp\d+(?:@openssh\.com)?|sk-ssh-ed25519@openssh\.com|signature|nonce|x5[ct]|kid|"
    r"recipient|cid|multihash|"
    r"certificate(?:-authority)?-data|certificate|cert|ca|cursor|next_?page_?token|page_?token|trace_?id|request_?id|"
    r"etag|\|1\|[A-Za-z0-9+/=]*)"
    r"[\"'`\])]{0,2}\s{0,4}(?:[:=,(|-]|=>|->|is)?\s{0,4}(?:W/)?[\"'`\[]{0,2}\Z",
    re.I,
)

# No allow list opens these: a key that was written down once is a key to rotate.
NEVER_ALLOWED = frozenset({"private_key"})

ROTATE = "take the secret out and rotate it: what was written down once is in logs and backups already"
