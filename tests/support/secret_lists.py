"""Realistic secrets, disguised secrets and innocent texts. All are made at run time: no line of this file is a secret."""

import base64
import random
import string
from urllib.parse import quote

__all__ = ["DISGUISES", "INNOCENT", "SECRETS"]

_NUM = string.ascii_letters + string.digits
_URL = _NUM + "-_"
_B64 = _NUM + "+/"
_HEX = "0123456789abcdef"


def _made(seed: str, alphabet: str, size: int) -> str:
    """The same random characters in every run; at least one of each kind that the alphabet has."""
    dice = random.Random(f"{seed}:{size}:{len(alphabet)}")
    body = dice.choices(alphabet, k=size)
    kinds = [k for k in (string.ascii_lowercase, string.ascii_uppercase, string.digits) if set(k) & set(alphabet)]
    for at, kind in zip(dice.sample(range(size), min(size, len(kinds))), kinds, strict=False):
        body[at] = dice.choice([c for c in kind if c in alphabet])
    return "".join(body)


def num(seed: str, size: int) -> str:
    return _made(seed, _NUM, size)


def low(seed: str, size: int) -> str:
    return _made(seed, string.ascii_lowercase + string.digits, size)


def up(seed: str, size: int) -> str:
    return _made(seed, string.ascii_uppercase + string.digits, size)


def url(seed: str, size: int) -> str:
    return _made(seed, _URL, size)


def b64(seed: str, size: int) -> str:
    return _made(seed, _B64, size)


def hexa(seed: str, size: int) -> str:
    return _made(seed, _HEX, size)


def digits(seed: str, size: int) -> str:
    return _made(seed, string.digits, size)


def uuid(seed: str) -> str:
    one = hexa(seed, 32)
    return f"{one[:8]}-{one[8:12]}-4{one[13:16]}-a{one[17:20]}-{one[20:]}"


def letters(seed: str, size: int) -> str:
    return _made(seed, string.ascii_letters, size)


def word(*parts: str) -> str:
    """A password of a person, put together from its parts."""
    return "".join(parts)


GITHUB = "gh" + "p_" + num("github", 36)
AWS_ID = "AK" + "IA" + up("aws id", 16)
STRIPE = "sk" + "_live_" + num("stripe", 24)
_PEM_BODY = "\n".join(b64(f"pem {line}", 64) for line in range(4))


def _pem(kind: str) -> str:
    return f"-----BEGIN {kind}" + f"-----\n{_PEM_BODY}\n-----END {kind}-----"


_PASS = "pass" + "word"
_SECRET = "sec" + "ret"

SECRETS: dict[str, str] = {
    # Clouds
    "aws access key id": f"the deploy user is {AWS_ID}",
    "aws secret key": "aws_" + _SECRET + "_access_key = " + b64("aws", 40),
    "aws secret key in code": 'client("s3", aws_' + _SECRET + '_access_key="' + b64("aws code", 40) + '")',
    "aws session token": "AWS_SESSION_" + "TOKEN=" + "IQoJb3JpZ2luX2Vj" + b64("session", 180),
    "google api key": "maps: AI" + "za" + url("google", 35),
    "google oauth client": '{"client_' + _SECRET + '": "GOC' + "SPX-" + url("gocspx", 28) + '"}',
    "google refresh token": "refresh with 1/" + "/0" + url("refresh", 60),
    "google service account": '"private_key": "' + _pem("PRIVATE" + " KEY").replace("\n", "\\n") + '\\n"',
    "azure client secret": "AZURE_CLIENT_" + "SECRET is " + num("azure a", 3) + "8Q" + "~" + num("azure b", 34),
    "azure storage": "DefaultEndpointsProtocol=https;AccountName=prod;Account"
    + "Key="
    + b64("azure", 86)
    + "==;EndpointSuffix=core.windows.net",
    "azure sas": "https://prod.blob.core.windows.net/data?sv=2024-11-04&ss=b&sig=" + quote(b64("sas", 43) + "=", safe=""),
    "azure service bus": "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccess"
    + "Key="
    + b64("bus", 43)
    + "=",
    "digitalocean": "do" + "p_v1_" + hexa("do", 64),
    "heroku": "HEROKU_API_" + "KEY=" + uuid("heroku"),
    "cloudflare": "CLOUDFLARE_API_" + "TOKEN=" + url("cf", 40),
    "databricks": "da" + "pi" + hexa("databricks", 32),
    "supabase": "sb" + "p_" + hexa("supabase", 40),
    "alibaba": "LT" + "AI" + num("alibaba", 20),
    # Source and builds
    "github classic": f"git clone with {GITHUB}",
    "github fine grained": "github" + "_pat_" + num("pat a", 22) + "_" + num("pat b", 59),
    "github app": "gh" + "s_" + num("app", 36),
    "gitlab personal": "gl" + "pat-" + url("gitlab", 20),
    "gitlab runner": "gitlab-runner register --token GR1348" + "941" + url("runner", 20),
    "gitlab trigger": "gl" + "ptt-" + hexa("trigger", 40),
    "bitbucket": "AT" + "BB" + num("bitbucket", 32),
    "atlassian": "ATA" + "TT3xFfGF0" + url("atlassian", 180) + "=" + up("atl", 8),
    "npm": "//registry.npmjs.org/:_auth" + "Token=npm" + "_" + num("npm", 36),
    "npm basic": "_auth=" + base64.b64encode(b"builder:" + num("npm basic", 16).encode()).decode(),
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + url("pypi", 140),
    "rubygems": "ruby" + "gems_" + hexa("gems", 48),
    "docker hub": "dck" + "r_pat_" + url("docker", 27),
    "docker config": '{"auths": {"registry.corp.example.io": {"auth": "'
    + base64.b64encode(b"ci:" + num("dockercfg", 18).encode()).decode()
    + '"}}}',
    "circleci": "CCI" + "PAT_" + num("circle", 22) + "_" + hexa("circle", 40),
    "sonarqube": "sq" + "p_" + hexa("sonar", 40),
    "terraform cloud": num("tfc", 14) + ".atlas" + "v1." + url("tfc", 67),
    "vault": "VAULT token hv" + "s." + url("vault", 90),
    # Talk, mail and telephones
    "slack bot": "xox" + "b-" + digits("slack a", 12) + "-" + digits("slack b", 12) + "-" + num("slack", 24),
    "slack webhook": "https://hooks.slack" + ".com/services/T" + up("sw", 8) + "/B" + up("sw2", 8) + "/" + num("sw", 24),
    "slack app": "xa" + "pp-1-A" + up("xapp", 10) + "-" + digits("xapp", 13) + "-" + hexa("xapp", 64),
    "discord bot": "M" + num("discord a", 23) + "." + url("discord b", 6) + "." + url("discord c", 38),
    "discord webhook": "https://discord.com/api/web" + "hooks/" + digits("dw", 18) + "/" + url("dw", 68),
    "telegram bot": digits("telegram", 10).replace("0", "7") + ":" + "AA" + url("telegram", 33),
    "twilio key": "S" + "K" + hexa("twilio", 32),
    "twilio auth token": "TWILIO_AUTH_" + "TOKEN=" + hexa("twilio auth", 32),
    "sendgrid": "S" + "G." + url("sg", 22) + "." + url("sg", 43),
    "mailgun": "ke" + "y-" + hexa("mailgun", 32),
    "mailchimp": hexa("mailchimp", 32) + "-us" + "14",
    "teams webhook": "https://corp.webhook.office"
    + ".com/webhookb2/"
    + uuid("t1")
    + "@"
    + uuid("t2")
    + "/IncomingWebhook/"
    + hexa("t", 32)
    + "/"
    + uuid("t3"),
    # Money
    "stripe live": STRIPE,
    "stripe webhook": "wh" + "sec_" + num("whsec", 32),
    "square": "sq" + "0atp-" + url("square", 22),
    "shopify": "shp" + "at_" + hexa("shopify", 32),
    "paypal": "access_" + "token$production$" + low("paypal", 16) + "$" + hexa("paypal", 32),
    # Models and data
    "openai project": "sk" + "-proj-" + url("openai", 48),
    "anthropic": "sk" + "-ant-api03-" + url("anthropic", 93) + "AA",
    "hugging face": "h" + "f_" + letters("hf", 34),
    "groq": "gs" + "k_" + num("groq", 52),
    "openrouter": "sk" + "-or-v1-" + hexa("openrouter", 64),
    "replicate": "r" + "8_" + num("replicate", 37),
    # Watching
    "datadog": "DD_API_" + "KEY=" + hexa("datadog", 32),
    "new relic": "NR" + "AK-" + up("newrelic", 27),
    "grafana": "gl" + "sa_" + num("grafana", 32) + "_" + hexa("grafana", 8),
    "sentry": "snt" + "ryu_" + hexa("sentry", 64),
    "linear": "lin" + "_api_" + num("linear", 40),
    "airtable": "pa" + "t" + num("airtable", 14) + "." + hexa("airtable", 64),
    "notion": "nt" + "n_" + digits("notion", 11) + num("notion", 35),
    "figma": "fig" + "d_" + url("figma", 40),
    # Keys
    "rsa private key": _pem("RSA PRIVATE" + " KEY"),
    "openssh private key": _pem("OPENSSH PRIVATE" + " KEY"),
    "age key": "AGE-SEC" + "RET-KEY-1" + _made("age", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "wireguard": "[Interface]\nPrivate" + "Key = " + b64("wireguard", 43) + "=\nAddress = 10.0.0.2/24",
    "hex encryption key": "ENCRYPTION_" + "KEY=" + hexa("hexkey", 64),
    "django": "SECRET_" + 'KEY = "django-insecure-' + low("django", 40) + '"',
    "rails": "secret_key_" + "base: " + hexa("rails", 128),
    "laravel": "APP_" + "KEY=base64:" + b64("laravel", 43) + "=",
    "ethereum": "wallet private key: 0x" + hexa("eth", 64),
    # Logins
    "postgres url": "postgres://app:" + word("w8Hq", "zL0p") + "@db.internal:5432/app",
    "mongodb url": "mongodb+srv://svc:" + num("mongo", 14) + "@cluster0.ab1cd.mongodb.net/prod",
    "redis url": "REDIS_URL=redis://:" + num("redis", 20) + "@cache.prod.internal:6379/0",
    "jdbc": "jdbc:mysql://db.prod.internal:3306/shop?user=shop&" + _PASS + "=" + word("Blau", "wal", "77"),
    "odbc": "Driver={ODBC Driver 18 for SQL Server};Server=tcp:sql1,1433;Uid=sa;Pwd" + "=" + word("Kirsch", "baum!", "4") + ";",
    "netrc": "machine api.corp.io login deploy " + _PASS + " " + word("tuli", "pan9", "Q"),
    "pgpass": "db.internal:5432:shop:shop_rw:" + word("n0rd", "licht"),
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + url("jwt a", 60) + "." + url("jwt b", 43),
    "bearer": "curl -H 'Author" + "ization: Bearer " + url("bearer", 40) + "'",
    "basic": "Author" + "ization: Basic " + base64.b64encode(("admin:" + num("basic", 12)).encode()).decode(),
    "curl user": "curl -u deploy:" + word("9f", "Kx", "-pq71") + " https://artifacts.corp.io/repo",
    "api key header": "X-API-" + "Key: " + num("xapikey", 32),
    "stated": f"The admin {_PASS} is " + word("Tr0ub4", "dor&3") + ".",
    "stated with the account": f"Log in to staging as qa-bot, the {_PASS} for it is " + word("Gr4u", "gans"),
    "yaml": f"database:\n  user: app\n  {_PASS}: " + word("mond", "schein42") + "\n  host: db",
    "json": '{"user": "svc", "' + _PASS + '": "' + word("Zeit", "geist#9") + '"}',
    "env file": "DB_" + "PASSWORD=" + word("regen", "bogen!8"),
    "keyword argument": 'connect(host="db", user="app", ' + _PASS + '="' + word("st4rk", "Stark") + '")',
    "command flag": f"mysqlsh --user root --{_PASS}=" + word("Lampen", "fieber1"),
    "mysql flag": "mysqldump -u root -p" + word("Wolken", "kuckuck5") + " shop > shop.sql",
    "sql": "CREATE USER shop IDENTIFIED" + " BY '" + word("Apfel", "kuchen7") + "';",
    "xml": f"<server><id>nexus</id><username>ci</username><{_PASS}>" + word("kaf", "fee", "2go!") + f"</{_PASS}></server>",
    "kubernetes env": "- name: DB_PASS" + "WORD\n  value: " + word("see", "pferd", "31x"),
    "session cookie": "Cookie: theme=dark; session" + "id=" + low("cookie", 32),
    "query parameter": "https://api.corp.io/v1/report?access_" + "token=" + num("query", 32),
    "seed phrase": "seed " + "phrase: " + "lens hover magic wheel brick ocean drift panel stone river cloud maple",
    "totp": "otpauth://totp/Corp:ada?" + _SECRET + "=" + _made("totp", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32) + "&issuer=Corp",
    "random run": "the signing value is " + num("run", 44),
}


def _spaced(text: str) -> str:
    return " ".join(text)


SECRETS |= {
    "e2b": "export E2B=e2b" + "_" + hexa("e2b", 40),
    "powershell": "$c = ConvertTo-" + 'SecureString "Lk2!kd93Pz" -AsPlainText -Force',
    "stated, german": "Das Pass" + "wort lautet Blaue7Kuh!Wiese",
    "stated, french": "le mot de " + "passe est Zx9!kLmn42pq",
    "stated, spanish": "la contra" + "se\u00f1a es Qm7#tRv2!xLp",
    "stated, russian": "\u043f\u0430\u0440\u043e\u043b\u044c: Qm7#tRv2!xLp",
    "stated, chinese": "\u6570\u636e\u5e93\u5bc6\u7801\u662fQm7#tRv2!xLp",
    "stated, japanese": "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f Qm7#tRv2!xLp \u3067\u3059",
}

DISGUISES: dict[str, str] = {
    "json in a string": '{"content": "database:\\n  user: app\\n  pass' + 'word: \\"k9$Lq!2vTz\\""}',
    "command in a string": '{"cmd": "ssh' + 'pass -p \\"gR4ss-hOpper!9\\" ssh root@10.1.1.1"}',
    "spaced": _spaced(GITHUB),
    "in groups": " ".join(GITHUB[at : at + 8] for at in range(0, len(GITHUB), 8)),
    "zero width": "\u200b".join(GITHUB),
    "zero width, once": GITHUB[:10] + "\u200d" + GITHUB[10:],
    "soft hyphen": AWS_ID[:8] + "\u00ad" + AWS_ID[8:],
    "full width": "".join(chr(ord(c) + 0xFEE0) for c in AWS_ID),
    "look-alikes": AWS_ID.replace("A", "\u0410").replace("K", "\u041a"),
    "mathematical letters": "".join(chr(0x1D400 + ord(c) - 65) if c.isupper() else c for c in AWS_ID),
    "concatenated": f'key = "{GITHUB[:12]}" + "{GITHUB[12:]}"',
    "neighbouring strings": f"key = ('{GITHUB[:20]}'\n       '{GITHUB[20:]}')",
    "joined list": f'"".join(["{AWS_ID[:7]}", "{AWS_ID[7:14]}", "{AWS_ID[14:]}"])',
    "line continuation": f"KEY={STRIPE[:15]}\\\n{STRIPE[15:]}",
    "url over two lines": "postgres://app:" + "\n" + num("two lines", 12) + "@db.internal/app",
    "url encoded": "".join(f"%{ord(c):02X}" for c in GITHUB),
    "partly url encoded": quote(GITHUB.replace("_", "%5F"), safe="%"),
    "hex": GITHUB.encode().hex(),
    "hex bytes": " ".join(f"{ord(c):02x}" for c in GITHUB),
    "escapes": "".join(f"\\x{ord(c):02x}" for c in GITHUB),
    "base64": base64.b64encode(f"token {GITHUB}".encode()).decode(),
    "base64 twice": base64.b64encode(base64.b64encode(GITHUB.encode())).decode(),
    "html entities": "".join(f"&#{ord(c)};" for c in GITHUB),
    "markdown emphasis": f"**{GITHUB}**",
    "in a comment": f"<!-- {GITHUB} -->",
    "in a url path": f"https://example.org/{GITHUB}/x",
}

_PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(random.Random(7).randbytes(120))).decode()
_RSA_PUBLIC = "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + b64("ssh", 340)

INNOCENT: dict[str, str] = {
    "german rule": "Das Passwort muss mindestens zw\u00f6lf Zeichen lang sein; das Kennwort lautet auf den Namen.",
    "french rule": "le mot de passe est obligatoire",
    "spanish rule": "la contrase\u00f1a es obligatoria y la senha \u00e9 opcional",
    "chinese rule": "\u5bc6\u7801\u662f\u5fc5\u586b\u9879 password_required",
    "powershell variable": "ConvertTo-SecureString $env:DEPLOY_PASSWORD -AsPlainText -Force",
    "code in a string": '{"old": "if token == \\"<eof>\\":\\n    raise SyntaxError(\\"unexpected end\\")"}',
    "npm integrity": '"integrity": "sha512-' + b64("npm integrity", 86) + '=="',
    "yarn lock": "  integrity sha512-" + b64("yarn", 86) + "==",
    "sri attribute": '<script src="https://cdn.example.org/a.js" integrity="sha384-' + b64("sri", 64) + '"></script>',
    "go.sum": "golang.org/x/text v0.14.0 h1:" + b64("gosum", 43) + "=",
    "cargo lock": 'checksum = "' + hexa("cargo", 64) + '"',
    "poetry lock": '{file = "a-1.0-py3-none-any.whl", hash = "sha256:' + hexa("poetry", 64) + '"}',
    "pip hash": "requests==2.31.0 --hash=sha256:" + hexa("pip", 64),
    "nix hash": 'hash = "sha256-' + b64("nix", 43) + '=";',
    "commit": "fixed in " + hexa("commit", 40),
    "image digest": "FROM python@sha256:" + hexa("image", 64),
    "uuid": "run " + uuid("run"),
    "two uuids": f"{uuid('a')}/{uuid('b')}",
    "data url": "![dot](data:image/png;base64," + _PNG + ")",
    "font in css": "src: url(data:font/woff2;charset=utf-8;base64,d09GMgABAAAAA" + b64("font", 120) + ") format('woff2')",
    "bare png": _PNG,
    "ssh public key": "ssh-rsa " + _RSA_PUBLIC + " ada@laptop",
    "ssh ed25519 public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + b64("ed", 43) + " ada@laptop",
    "known host": "github.com ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABB" + b64("known", 80) + "=",
    "ssh fingerprint": "SHA256:" + b64("fingerprint", 43),
    "certificate": "-----BEGIN CERTIFICATE-----\nMIID"
    + b64("cert a", 60)
    + "\n"
    + b64("cert b", 64)
    + "\n-----END CERTIFICATE-----",
    "public key": "-----BEGIN PUBLIC KEY-----\nMIIB" + b64("public", 60) + "\n-----END PUBLIC KEY-----",
    "age recipient": "age1" + low("age", 58),
    "wireguard peer": "[Peer]\nPublicKey = " + b64("peer", 43) + "=",
    "local url": "postgres://user:password@localhost/test",
    "default url": "DATABASE_URL=postgresql://postgres:postgres@localhost:5432/app",
    "rabbit url": "amqp://guest:guest@localhost:5672//",
    "template url": "https://${USER}:${TOKEN}@git.example.org/a.git",
    "documentation url": "https://username:password@example.com/path",
    "code: call": "token = tokenizer.next()",
    "code: environment": 'api_key = os.environ["SERVICE_API_KEY"]',
    "code: javascript": "const token = await getAccessToken();",
    "code: attribute": "password: this.form.password,",
    "code: go": 'secret := os.Getenv("CLIENT_SECRET")',
    "code: parameter": "def login(user: str, password: str) -> Token:",
    "code: keyword": "client = Client(api_key=settings.api_key, token=self._token)",
    "code: comparison": 'if password == "":',
    "code: type": "private readonly credential: TokenCredential;",
    "code: generic": "accessToken: Optional[str] = None",
    "code: snake": "refresh_token = previous_refresh_token",
    "setting: length": "PASSWORD_MIN_LENGTH=12345678",
    "setting: name": "SECRET_NAME=prod/database/main",
    "setting: url": "token_url: https://auth.example.org/oauth/token",
    "setting: header": "api_key_header: X-Internal-Api-Key",
    "setting: csrf": "CSRF_TOKEN_HEADER=X-CSRF-Token-Header",
    "setting: expiry": "ACCESS_TOKEN_EXPIRE_SECONDS=864000000",
    "setting: file": "PASSWORD_FILE=/run/secrets/db_password",
    "setting: model": "max_tokens: 128000000",
    "setting: tokenizer": "tokenizer_path: models/llama/tokenizer-v2-final.model",
    "setting: secret store": "secretName: hindbrain-tls-production",
    "setting: arn": "secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
    "setting: workflow": "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "setting: default": "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-postgres}",
    "setting: vault": "password: op://infra/database/password",
    "example: env": "OPENAI_API_KEY=your-api-key-here",
    "example: token": "ghp_" + "x" * 36,
    "example: stars": "password: ****************",
    "example: angle": "Authorization: Bearer <your access token>",
    "example: variable": "curl -H 'Authorization: Bearer $ACCESS_TOKEN' https://api.example.org",
    "example: curl": "curl -u $USER:$PASSWORD https://api.example.org",
    "prose: required": "The password is required and must have 12 characters.",
    "prose: hashed": "The password is hashed with argon2id; the token is base64url-encoded.",
    "prose: vault": "The API key is in the vault; the secret is rotated every 90 days.",
    "prose: reset": "Password: see the runbook for how to reset it.",
    "prose: oauth": "The token is a JWT signed with RS256, the key is 2048-bit RSA.",
    "prose: limits": "A token is about 4 characters, so 128k tokens are 500 KB.",
    "schema": '{"password": {"type": "string", "minLength": 8}, "token": "string"}',
    "translation": '{"password": "Password", "forgotPassword": "Forgot your password?", "apiKey": "API key"}',
    "html form": '<input type="password" name="password" placeholder="Password" autocomplete="current-password">',
    "camel case": "AbstractSingletonProxyFactoryBean2ConfigurationX509V3Support",
    "test name": "test_F31_a_repository_s_module_never_runs_when_HALL_opens_2",
    "base64 of words": base64.b64encode(b"The quick brown fox jumps over the lazy dog, version 2.").decode(),
    "alphabet": 'ALPHABET = "' + string.ascii_uppercase + string.ascii_lowercase + string.digits + '+/"',
    "heading": "======= is a heading",
    "documentation link": "https://docs.google.com/document/d/" + url("gdoc", 44) + "/edit",
    "asset": "https://cdn.example.org/assets/index-" + url("asset", 8) + "." + hexa("asset", 20) + ".js",
    "ethereum address": "0x" + "".join(c.upper() if i % 2 else c for i, c in enumerate(hexa("address", 40))),
    "bitcoin address": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
    "version": "hindbrain 0.1.0.dev3+g" + hexa("version", 9) + ".d20260704",
    "mac and time": "00:1b:44:11:3a:b7 at 2026-07-04T10:30:00.123456789Z",
    "jwk": '{"kty":"EC","crv":"P-256","x":"' + url("jwk x", 43) + '","y":"' + url("jwk y", 43) + '"}',
    "css": ".btn-primary-outline-lg2:hover{box-shadow:0 0 0 .2rem rgba(0,123,255,.5)}",
    "minified": "function(e,t,n){var r=e.createElement,o=t.key;return r(n,{key:o+1,token:null})}",
}
