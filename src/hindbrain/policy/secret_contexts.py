"""Secret contexts: names, connection strings, commands and sentences in which a value is a secret. Tables for one engine."""

import re

__all__ = [
    "AFTER",
    "ASSIGN",
    "BESIDE",
    "CAMEL",
    "COLOUR",
    "CONNECTION",
    "COOKIE",
    "ELEMENT",
    "HASHED",
    "HEX",
    "HEX_BESIDE",
    "LEAST",
    "LEAST_KEY",
    "LEAST_TOKEN",
    "LINE",
    "LOGINS",
    "MNEMONIC",
    "PAIR",
    "PASSWORDS",
    "PROGRAM",
    "QUERY",
    "SQL",
    "STATED",
    "STATED_UNSPACED",
    "STRONG",
    "STRONG_WORDS",
    "TAIL",
    "TELLING_PARTS",
    "USER_PASS",
]

# In lower case. A line without any of these has no name or sentence that promises a secret.
TELLING_PARTS = (
    *("secret", "token", "pass", "key", "pwd", "cred", "auth", "psk", "otp", "cookie", "sess", "bearer", "mnemonic"),
    *("identified by", "phrase", "login", ":$", " -u", " -a", "pw:", "pw ", "pw=", "sig=", "signature=", "_pat", "seed", "-us"),
    *(":5432:", ":5433:", ":3306:", ":*:", ":{s", "securestring", "pin ", "account", "machine ", "jdbc:oracle", "default login"),
    # "Password" in other languages, as a text without look-alike letters has it.
    *("kennwort", "contrase", "senha", "wachtwoord", "haslo", "parola", "l\u00f6senord", "adgangskode", "salasana", "jelszo"),
    *(
        "\u043fapo\u043b",
        "\u5bc6\u7801",
        "\u5bc6\u78bc",
        "\u53e3\u4ee4",
        "\u30d1\u30b9\u30ef\u30fc\u30c9",
        "\ube44\ubc00\ubc88\ud638",
    ),
)
STRONG = frozenset(
    {
        "secret",
        "token",
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "passwort",
        "apikey",
        "privatekey",
        "accesskey",
        "credential",
    }
)
STRONG_WORDS = frozenset({"pass", "pwd", "pw", "psk", "creds", "pat"})
PASSWORDS = ("password", "passwd", "passphrase", "passcode", "passwort", "pwd", "pass", "pw", "psk")
CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
AFTER = 400  # characters after a line that can hold the value of a name in it
LEAST = 8  # characters of a value beside a name
LEAST_TOKEN = 10  # of a value that must look like one
LEAST_KEY = 20
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\Z")
PROGRAM = re.compile(r"[(<|\\=]")  # signs that a program or a pattern has and a sentence has not
HEX = re.compile(r"(?:0x)?[0-9a-fA-F]{32,}\Z")

_VALUE = r"(?:\"(?P<dq>[^\"\n]{1,400})\"|'(?P<sq>[^'\n]{1,400})'|`(?P<bq>[^`\n]{1,400})`|(?P<bare>[^\s\"'`,;<>&|]{1,200}))"
ASSIGN = re.compile(
    r"(?<![\w.$-])(?P<name>-{0,2}[A-Za-z_$][\w.$:-]{0,80}?)(?P<close>[\"'`\])]{0,3})"
    r"(?:[ \t]{0,8}(?P<sep>:[ \t]{0,4}[A-Za-z_][\w.\[\]<>|?]{0,40}[ \t]{0,4}=(?![=>])|=>|:=|\?=|=(?![=>~])|"
    r":(?![:=])|>(?=[^<\s])|\((?=[\"'])|,(?=[ \t]{0,4}[\"']))[ \t]{0,8}|(?P<space>[ \t]{1,4}))"
    rf"{_VALUE}"
)
PAIR = re.compile(
    r"(?:name|key|id)[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<name>[A-Za-z_][\w.-]{2,80})[\"']?[ \t]{0,4},?\s{0,40}[\"'"
    r"]?value[\"']?[ \t]{0,4}[=:][ \t]{0,4}" + _VALUE,
    re.I,
)
ELEMENT = re.compile(r"<(?P<name>[A-Za-z][\w.:-]{2,60})(?:\s[^<>]{0,100})?>(?P<value>[^<>\s]{4,300})</")
LINE = re.compile(
    r"[ \t]*+(?:-[ \t]+)?(?:(?:export|set|setx|ENV|ARG|SET|const|let|var|val|final|static|private|public|protected|"
    r"readonly|String|string|auto|def|local|declare|my|our|env|default)[ \t]+){0,4}"
    r"[\"'$@]{0,2}(?:env:)?\Z"
)
TAIL = re.compile(r"[\"'`]?[ \t]*+[,;]?[ \t]*+(?:(?:#|//|--|/\*)[^\n]*+)?\r?\Z")

CONNECTION = re.compile(
    r"(?:[;?&]|\b(?:host|user|uid|dbname|server|data source|username|database|endpoint|accountname|hostname)"
    r"[ \t]{0,2}=[^\n]{0,300}?[\s;,])[ \t]{0,4}"
    r"(?P<name>password|passwd|pwd|accountkey|sharedaccesskey|sharedsecretkey|shared access key|secretkey|client_?secr"
    r"et|secret)[ \t]{0,2}=[ \t]{0,2}[\"'{]?"
    r"(?P<value>[^\s;&\"'<>}]{4,300})",
    re.I,
)
QUERY = re.compile(
    r"[?&;](?P<name>access_token|auth_token|id_token|refresh_token|api[_-]?key|apikey|api_token|token|key|sig|"
    r"signature|secret|client_secret|x-amz-signature|"
    r"x-amz-security-token|x-goog-signature|auth|private_token|hapikey|subscription-key|code|sas|password|passwd|"
    r"pwd)=(?P<value>[A-Za-z0-9_.~%+/=-]{12,400})",
    re.I,
)
SQL = re.compile(
    r"(?:identified[ \t]+(?:with[ \t]+\w+[ \t]+)?by|\bpassword)[ \t]+(?:password[ \t]+)?'(?P<value>[^'\s]{4,200})'", re.I
)
COOKIE = re.compile(
    r"cookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?[^\n]{0,300}?\b[\w.-]{0,40}(?:sess|sid|auth|token|jwt|login|"
    r"remember)[\w.-]{0,40}=(?P<value>[^;\s\"']{16,400})",
    re.I,
)
LOGINS = (  # the first one reaches over lines
    re.compile(
        r"\b(?:machine\s{1,8}\S{1,200}|default)\s{1,8}login\s{1,8}\S{1,100}\s{1,8}(?:account\s{1,8}\S{1,100}\s{1,8})"
        r"?password\s{1,8}(?P<value>\S{4,200})"
    ),
    re.compile(
        r"^[\w.*-]{1,200}:(?:\d{2,5}|\*):[A-Za-z_*][\w*-]{0,60}:[A-Za-z_*][\w*-]{0,60}:(?P<value>[^\s:]{4,200})\r?$", re.M
    ),
    re.compile(r"^[\w.-]{1,64}:(?P<value>(?:\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2\w*)\$|\{S?SHA\d*\})[^\s:]{8,300})", re.M),
    re.compile(
        r"\b(?:curl|wget|http|https|xh|svn|ftp|lftp)\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user|-a|--auth)[ =]?[\"']"
        r"?[^\s:\"']{1,100}:(?P<value>[^\s\"']{3,200})"
    ),
    re.compile(
        r"\b(?:sshpass\s{1,4}-p|redis-cli\b[^\n|]{0,200}?\s-a|(?:docker|podman|helm|az|oc|cf|skopeo|buildah)\b[^\n|"
        r"]{0,80}?\blogin\b[^\n|]{0,200}?\s(?:-p|--password)|"
        r"(?:mongo(?:sh|dump|restore)?|sqlcmd|psql)\b[^\n|]{0,200}?\s-[pP]|ldap\w{2,10}\b[^\n|]{0,200}?\s-w|keytool\b[^\n|"
        r"]{0,300}?\s-(?:store|key)pass|htpasswd\s{1,4}-\w*b\w*\s{1,4}\S{1,100}\s{1,4}\S{1,60})"
        r"[ =]{1,4}[\"']?(?P<value>[^\s\"']{4,200})"
    ),
    re.compile(r"ConvertTo-SecureString\b[^\n|]{0,100}?[\"'](?P<value>[^\"'\n$]{4,200})[\"'][^\n|]{0,60}?-AsPlainText", re.I),
    re.compile(r"\bmysql(?:dump|admin|import|sh)?\b[^\n|]{0,200}?\s-p[\"']?(?P<value>[^\s\"'=-][^\s\"']{3,200})"),
    re.compile(r"jdbc:oracle:\w{2,10}:[^\s/@:]{1,60}/(?P<value>[^\s@]{3,100})@"),
    re.compile(r"-pass(?:in|out)?\s{1,4}pass:(?P<value>[^\s\"']{4,200})"),
    re.compile(
        r"echo\s{1,4}[\"']?(?:[\w.-]{1,40}:)?(?P<value>[^\s\"'|]{4,100})[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4}-S|"
        r"(?:sudo\s{1,4})?chpasswd|docker\s{1,4}login|passwd\s{1,4}--stdin)"
    ),
)
HASHED = 2  # the row for lines of /etc/shadow and .htpasswd, whose values begin with a dollar sign
_FOREIGN = (
    "kennwort|zugangsdaten|mot de passe|contrase(?:\u00f1|n)a|senha|wachtwoord|haslo|parola|l\u00f6senord|adgangskode|salasana|"
    "jelsz(?:o|\u00f3)|\u043fapo\u043b(?:\u044c|e\u043c)"
)
_UNSPACED = (
    "\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4|\u30d1\u30b9\u30ef\u30fc\u30c9|\ube44\ubc00\ubc88\ud638"  # languages without spaces
)
_SUBJECT = (
    rf"(?:{_FOREIGN}|"
    r"pass[ -]?words?|pass[ -]?phrase|pass[ -]?code|passwort|pwd|pw|pin|(?:api|access|auth|bot|bearer|deploy|"
    r"admin|client|app|root|master)[ _-]?(?:token|secret|key)|"
    r"(?:encryption|signing|private|secret|wallet|hmac|aes|shared|session|license)[ _-]?(?:key|seed)|secret|"
    r"token|creds?|credentials?|login|seed)"
)
STATED = re.compile(
    rf"(?<![\w:/.-]){_SUBJECT}(?P<between>(?:[ \t]{{1,3}}[\w.@/'’()-]{{1,40}}){{0,7}}?)[ \t]{{0,3}}"
    r"(?:\b(?:is|was|are|equals|becomes|ist|lautet|est|es|\u00e9|\u00e8|jest|\u00e4r|to|as|of|reads|remains)\b"
    r"[ \t]{0,3}(?:now|still|currently|just)"
    r"?[ \t]{0,3}:?|=|:|->|→|–|—|-)[ \t]{0,3}[\"'`“‘*]{0,2}(?P<value>[^\s\"'`”’]{6,200})",
    re.I,
)
STATED_UNSPACED = re.compile(
    rf"(?:{_UNSPACED})[ \t]{{0,3}}(?:\u662f|\u4e3a|\u70ba|\u306f|\u304c|\ub294|\uc740|[:=])[ \t]{{0,3}}:?[ \t]{{0,3}}"
    r"[\"'`“‘\u300c]{0,2}(?P<value>[!-~]{6,200})"
)
BESIDE = re.compile(
    rf"\b(?:with|using|use|via|and|the|,|/)[ \t]{{1,3}}(?:the[ \t]{{1,3}})?{_SUBJECT}[ \t]{{1,3}}[\"'`“]{{0,2}}(?P<valu"
    rf"e>[^\s\"'`”]{{8,200}})",
    re.I,
)
HEX_BESIDE = re.compile(
    rf"(?<![\w:/.-]){_SUBJECT}[\"'`]?[ \t:=-]{{1,5}}[\"'`]?(?P<value>(?:0x)?[0-9a-fA-F]{{32,200}})(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])(?P<before>(?:0x)?[0-9a-fA-F]{64})\b[^\n]{1,40}\b(?:private|secret|signing|encryption|master) key\b",
    re.I,
)
USER_PASS = re.compile(
    r"\b(?:creds?|credentials?|log[ -]?in|login|sign in|ssh|account|user)\b[^\n]{0,30}?(?:[:=]|\bas\b|\bare\b|"
    r"\bis\b|\bwith\b)[ \t]{0,3}[\"'`]?[\w.@-]{2,40}[\"'`]?[ \t]{0,2}[:/|][ \t]{0,2}[\"'`]?(?P<value>[^\s\"'`]"
    r"{6,100})",
    re.I,
)
MNEMONIC = re.compile(
    r"(?:mnemonic|(?:seed|recovery|backup|wallet)[ _-]phrase|seed[ _-]words)\W{1,6}(?:is\W{1,4}|=\W{0,4})?(?P<value>(?"
    r":[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b",
    re.I,
)
