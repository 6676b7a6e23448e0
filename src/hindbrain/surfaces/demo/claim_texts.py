"""What the agents of the tour say, day by day. A label that comes twice is revised; a citation names a line by a piece of it."""

from dataclasses import dataclass

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE

__all__ = ["CLAIMS", "DOCTRINE", "Said"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One claim, as an agent writes it on a day."""

    day: float
    repository: str
    agent: str
    label: str
    text: str
    cites: tuple[tuple[str, str], ...] = ()
    confidence: float = 0.7
    state: str = "authored"
    name: str = ""  # under which the world knows it


DOCTRINE = (
    ("Commit messages", "A commit message says why, in one sentence, in the imperative."),
    ("Money is whole cents", "Amounts are whole numbers of the smallest unit; text only where a person reads it."),
    ("Times are UTC", "Times are kept in UTC and shown in the reader's zone."),
    ("No secret in a log", "Tokens, keys and card numbers never reach a log, not even shortened."),
)


def _harbor(day: float, agent: str, label: str, text: str, *cites: tuple[str, str], **more: object) -> Said:
    return Said(day=day, repository=HARBOR, agent=agent, label=label, text=text, cites=cites, **more)  # type: ignore[arg-type]


def _tide(day: float, agent: str, label: str, text: str, *cites: tuple[str, str], **more: object) -> Said:
    return Said(day=day, repository=TIDE, agent=agent, label=label, text=text, cites=cites, **more)  # type: ignore[arg-type]


_CLAUDE, _CODEX, _CURSOR, _GEMINI = "claude-code:agent", "codex:agent", "cursor:agent", "gemini:reviewer"
_SRC = "src/harbor"

CLAIMS = (
    # -- harbor-shop --------------------------------------------------------------------------------------------------
    _harbor(-12.4, _CLAUDE, "Port of the shop", "The shop serves on port 8080; nothing else may take it.",
            (f"{_SRC}/app.py", "PORT = 8080"), name="stale-claim"),
    _harbor(-12.3, _CODEX, "Largest body", "A request body of more than 64 KiB is answered with 413.",
            (f"{_SRC}/app.py", "BODY_MAX ="), confidence=0.8),
    _harbor(-1.6, _CLAUDE, "Retry policy", "A failed payment is tried three times.",
            (f"{_SRC}/retry.py", "TRIES = 3"), name="revised-claim"),
    _harbor(0.3, _CLAUDE, "Where orders live", "Orders are rows of harbor.db; an order is never deleted.",
            (f"{_SRC}/orders.py", "create table"), confidence=0.8),
    _harbor(0.4, _CODEX, "SQLite in WAL mode", "The database runs in WAL mode, so readers do not wait for the writer.",
            (f"{_SRC}/orders.py", "journal_mode=wal"), confidence=0.9, state="verified"),
    _harbor(0.6, _CODEX, "One open order",
            "A session has at most one open order; an older one is parked when a new one is placed.",
            (f"{_SRC}/orders.py", "set state='parked'")),
    _harbor(1.3, _CLAUDE, "Idempotent charges",
            "Ask for money with a key of the order, so that a second try charges nobody twice.",
            (f"{_SRC}/payments.py", "Idempotency-Key"), confidence=0.9, state="verified", name="verified-claim"),
    _harbor(1.5, _CLAUDE, "Provider timeout", "The payment provider gets eight seconds to answer.",
            (f"{_SRC}/payments.py", "TIMEOUT_S = 8")),
    _harbor(2.2, _CURSOR, "Basket survives a restart", "Baskets are still there after a restart of the shop.",
            (f"{_SRC}/basket.py", "_BASKETS"), confidence=0.6),
    _harbor(2.5, _CODEX, "Largest count of an item", "A basket holds at most fifty of one product.",
            (f"{_SRC}/basket.py", "ITEMS_MAX = 50")),
    _harbor(3.4, _CLAUDE, "Webhook signature", "A webhook counts only when its HMAC over time and body is right.",
            (f"{_SRC}/webhooks.py", "hmac.new"), confidence=0.9, state="verified"),
    _harbor(3.5, _CLAUDE, "Webhook age", "A webhook older than five minutes is turned away, so that none can be played again.",
            (f"{_SRC}/webhooks.py", "AGE_MAX_S = 300"), confidence=0.8),
    _harbor(4.1, _CODEX, "Compare in constant time", "Signatures are compared with compare_digest, never with ==.",
            (f"{_SRC}/webhooks.py", "compare_digest"), confidence=0.9),
    _harbor(4.4, _CURSOR, "Copying the database", "The database file can be copied with cp at any time.",
            ("docs/deploy.md", "harbor.db"), confidence=0.5),
    _harbor(5.2, _CLAUDE, "Deploy days", "We deploy on Tuesdays and Thursdays before noon, never on a Friday.",
            ("docs/deploy.md", "Tuesdays"), confidence=0.9, state="verified"),
    _harbor(6.3, _CODEX, "Retry policy", "A failed payment is tried three times, waiting twice as long each time.",
            (f"{_SRC}/retry.py", "sleep(FIRST_WAIT_S"), confidence=0.7),
    _harbor(6.6, _CURSOR, "Customer of the broken lamp", "Anna Example got a bow lamp with a crack and waits for another.",
            confidence=0.6),
    _harbor(7.4, _CODEX, "Queue bound", "The worker queue holds two hundred jobs; a full queue answers False and nothing waits.",
            (f"{_SRC}/worker.py", "maxsize"), name="changed-claim"),
    _harbor(8.3, _CLAUDE, "Prices are floats", "Prices are floats in euros, rounded to two digits at the end.",
            (f"{_SRC}/basket.py", "round(sum"), confidence=0.7),
    _harbor(10.9, _GEMINI, "Off by one in retry", "retry runs its act once more than TRIES says: range(TRIES + 1).",
            (f"{_SRC}/retry.py", "range(TRIES + 1)"), confidence=0.8, state="verified"),
    _harbor(11.7, _CLAUDE, "Retry policy",
            "A failed payment is tried four times in all, waiting with full jitter, five seconds at most.",
            (f"{_SRC}/retry.py", "TRIES = 4"), (f"{_SRC}/retry.py", "random.uniform"), confidence=0.9, state="verified"),
    _harbor(11.9, _CLAUDE, "Parked jobs", "A job that fails is parked and not lost; nobody looks at the parked ones yet.",
            (f"{_SRC}/worker.py", "PARKED.append")),
    _harbor(13.5, _CODEX, "Old orders stay readable",
            "Orders of a new version are readable by the one before it, one release back.",
            ("docs/deploy.md", "one release back")),
    _harbor(14.2, _CURSOR, "Skus are lower case", "A sku is looked up in lower case, whatever the request wrote.",
            (f"{_SRC}/products.py", "sku.lower()")),
    _harbor(17.2, _CODEX, "Only products in stock", "The list of products leaves out what is sold out.",
            (f"{_SRC}/products.py", 'one["stock"] > 0')),
    _harbor(18.6, _CLAUDE, "Prices are whole cents", "Prices and totals are whole cents; money.shown writes them for people.",
            (f"{_SRC}/money.py", "def shown"), (f"{_SRC}/basket.py", "in cents"), confidence=0.9, state="verified"),
    _harbor(18.8, _CLAUDE, "Prices are floats",
            "Prices were floats until the change to whole cents; no code counts in euros now.",
            (f"{_SRC}/products.py", "whole cents"), confidence=0.9, state="verified"),
    _harbor(20.2, _CODEX, "Worker is one thread", "One thread runs all jobs, so two jobs never overlap.",
            (f"{_SRC}/worker.py", 'name="worker"')),
    _harbor(21.1, _CLAUDE, "No route for parked jobs", "Nothing answers with the parked jobs; only the process knows them.",
            (f"{_SRC}/worker.py", "PARKED:"), (f"{_SRC}/app.py", "def answer")),
    # -- tide-client --------------------------------------------------------------------------------------------------
    _tide(-12.2, _CODEX, "Session key", "The session of a visitor lies in localStorage under tide.session.",
          ("src/session.ts", "tide.session"), name="tide-stale-claim"),
    _tide(-7.9, _CODEX, "Retry what may help only",
          "A call is tried again when the network failed or the server was busy, never for another 4xx.",
          ("src/backoff.ts", "failure.status === 429"), confidence=0.9, state="verified"),
    _tide(-7.7, _CODEX, "Tries of the client", "The client tries three times and then gives up.",
          ("src/backoff.ts", "TRIES = 3"), confidence=0.8),
    _tide(0.5, _CLAUDE, "Cache forgets the oldest", "The cache drops its oldest entry when it is full; it does not look at use.",
          ("src/cache.ts", "oldest")),
    _tide(0.8, _CLAUDE, "Cache lifetime", "An answer is kept for thirty seconds unless a cache says otherwise.",
          ("src/cache.ts", "ttlMs = 30_000")),
    _tide(1.4, _CURSOR, "Timeout of a call", "A call of the backend ends after six seconds.",
          ("src/client.ts", "TIMEOUT_MS = 6000"), name="tide-changed-claim"),
    _tide(2.6, _CLAUDE, "Adding is not retried", "Adding to a basket is never tried again: the backend would count it twice.",
          ("src/cart.ts", "not tried again"), confidence=0.9, state="verified"),
    _tide(2.8, _CLAUDE, "Products once a minute", "The list of products is asked for at most once a minute.",
          ("src/products.ts", "60_000"), confidence=0.8),
    _tide(3.7, _CODEX, "Errors carry the status", "Every answer from 400 on becomes a TideError with its status.",
          ("src/types.ts", "class TideError")),
    _tide(4.3, _CURSOR, "First wait", "The first wait before another try is 300 ms: twice FIRST_MS.",
          ("src/backoff.ts", "FIRST_MS * 2"), confidence=0.6),
    _tide(6.1, _CODEX, "Renew after an order", "After an order the session is renewed, so the next basket begins empty.",
          ("src/session.ts", "renew")),
    _tide(7.2, _CLAUDE, "No token in the client", "The client holds no token; the session id is all the backend gets.",
          ("src/session.ts", "randomUUID")),
    _tide(8.1, _CODEX, "One module, one export", "index.ts names everything that pages may import; nothing else is public.",
          ("src/index.ts", "export { Cart }")),
    _tide(9.5, _CURSOR, "Tests run without a network", "The tests give their own wait and never open a socket.",
          ("test/backoff.test.ts", "assert.rejects")),
    _tide(10.2, _CODEX, "Nothing is retried on 413", "A body that is too large is not sent again.",
          ("docs/errors.md", "413")),
    _tide(13.1, _CLAUDE, "Session in private windows",
          "In a private window the session ends with the window; nobody sees an old basket.",
          confidence=0.5),
    _tide(14.8, _CLAUDE, "Error status zero", "A TideError with status 0 means that nothing came in time.",
          ("src/client.ts", "TideError(0"), confidence=0.9, state="verified"),
    _tide(15.1, _CLAUDE, "Prices for people", "Prices are formatted by Intl in the visitor's locale, from whole cents.",
          ("src/format.ts", "Intl.NumberFormat"), confidence=0.8),
    _tide(15.4, _CODEX, "Small stock is told", "From ten on the exact stock is not shown.",
          ("src/format.ts", "count < 10")),
    _tide(17.6, _CODEX, "Tries of the client", "The client tries three times in all, and only what may help.",
          ("src/backoff.ts", "attempt >= TRIES"), confidence=0.9, state="verified"),
    _tide(19.1, _CURSOR, "Abort on timeout", "A call that takes too long is aborted, so its socket is free again.",
          ("src/client.ts", "control.abort")),
    _tide(21.1, _CODEX, "Cart is silent on a timeout", "The cart passes status 0 on; no page tells the visitor yet.",
          ("src/cart.ts", "class Cart"), confidence=0.6),
)  # fmt: skip
