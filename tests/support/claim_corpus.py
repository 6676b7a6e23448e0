"""Claims over small files, each with the line it cites: true ones in ordinary words, and false and half-true ones."""

__all__ = ["FALSE", "FILES", "TRUE"]

# name -> path and text
FILES: dict[str, tuple[str, str]] = {
    "worker": (
        "src/worker.py",
        "RETRIES = 3\n"
        "DELAY = 9\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "def run(job):\n"
        "    for _ in range(RETRIES):\n"
        "        if job():\n"
        "            return True\n"
        "    return False\n",
    ),
    "calc": ("calc.py", "def add(a, b):\n    return a - b\n"),
    "worker2": (
        "src/worker.py",
        "def retry(job, times):\n"
        '    """Try a job at most so many times."""\n'
        "    for attempt in range(times + 1):\n"
        "        if job():\n"
        "            return attempt\n"
        "    return None\n",
    ),
    "a": ("src/a.py", "def close(row):\n    rows.remove(row)\n    return None\n"),
    "parse": (
        "p/parse.py",
        "import json\n"
        "\n"
        "\n"
        "def parse(name, limit=10):\n"
        "    if not name:\n"
        '        raise ValueError("name is empty")\n'
        "    if len(name) > limit:\n"
        '        raise ValueError("name is too long")\n'
        "    return name.strip().lower()\n",
    ),
    "total": ("src/total.py", "def total(prices):\n    return sum(prices[1:])\n"),
    "webhooks": (
        "src/webhooks.py",
        "AGE_MAX_S = 5 * 60\n"
        "\n"
        "\n"
        "def accepted(hook, now):\n"
        "    if now - hook.at > AGE_MAX_S:\n"
        "        raise TooOld(hook)\n"
        "    return True\n",
    ),
    "README": ("README.md", "# Shop\n\nThe queue lives in Redis. Workers never retry a paid order.\nThe port is 8080.\n"),
    "conf": ("conf.ini", '[server]\nport = 8080\ndebug = false\nhost = "localhost"\n'),
    "cache": (
        "cache.py",
        "class Cache:\n"
        "    def __init__(self, size=128):\n"
        "        self.size = size\n"
        "        self._items = {}\n"
        "\n"
        "    def get(self, key):\n"
        '        """The value of a key, or None."""\n'
        "        return self._items.get(key)\n"
        "\n"
        "    def put(self, key, value):\n"
        "        if len(self._items) >= self.size:\n"
        "            self._items.pop(next(iter(self._items)))\n"
        "        self._items[key] = value\n",
    ),
    "log": (
        "log.py",
        "import logging\n"
        "\n"
        "LEVEL = logging.WARNING\n"
        "\n"
        "\n"
        "def setup(path, rotate=True):\n"
        '    """Write logs to a file, rotated at 10 MB."""\n'
        "    handler = RotatingFileHandler(path, maxBytes=10_000_000, backupCount=5)\n"
        "    logging.getLogger().addHandler(handler)\n",
    ),
    "auth": (
        "auth.go",
        "func (s *Server) Login(w http.ResponseWriter, r *http.Request) {\n"
        '\tuser := s.users.Find(r.FormValue("name"))\n'
        "\tif user == nil {\n"
        '\t\thttp.Error(w, "unknown user", 401)\n'
        "\t\treturn\n"
        "\t}\n"
        '\tif !user.Check(r.FormValue("password")) {\n'
        "\t\ts.failures[user.ID]++\n"
        '\t\thttp.Error(w, "wrong password", 401)\n'
        "\t\treturn\n"
        "\t}\n"
        "\ts.session(w, user, 24*time.Hour)\n"
        "}\n",
    ),
    "d": (
        "d.js",
        "export function debounce(fn, wait = 250) {\n"
        "  let timer = null;\n"
        "  return (...args) => {\n"
        "    clearTimeout(timer);\n"
        "    timer = setTimeout(() => fn(...args), wait);\n"
        "  };\n"
        "}\n",
    ),
    "compose": (
        "compose.yaml",
        "services:\n"
        "  web:\n"
        "    image: nginx:1.25\n"
        "    ports:\n"
        '      - "8080:80"\n'
        "    restart: always\n"
        "  db:\n"
        "    image: postgres:16\n"
        "    environment:\n"
        "      POSTGRES_DB: shop\n",
    ),
    "s": (
        "s.sql",
        "create table orders (\n"
        "  id integer primary key,\n"
        "  total integer not null,\n"
        "  state text default 'open'\n"
        ");\n"
        "create index orders_state on orders (state);\n",
    ),
    "ops": (
        "ops.md",
        "# Operations\n"
        "\n"
        "Backups run every night at 02:00 and are kept for 30 days.\n"
        "Restores are not automatic: a person starts them.\n"
        "The service needs 512 MB of memory.\n",
    ),
}

# What the file shows.
TRUE: tuple[tuple[str, str, int | None], ...] = (
    ("RETRIES is 3", "worker", 1),
    ("the worker retries three times", "worker", 1),
    ("run loops over range(RETRIES)", "worker", 8),
    ("run returns True when the job succeeds", "worker", 10),
    ("DELAY is nine", "worker", 2),
    ("run() returns False after RETRIES attempts", "worker", 11),
    ("add subtracts", "calc", 2),
    ("add returns a - b", "calc", 2),
    ("calc.py subtracts b from a", "calc", 2),
    ("`add` returns `a - b` instead of `a + b`", "calc", 2),
    ("retry runs a job once too often", "worker2", 3),
    ("retry loops over `range(times + 1)`", "worker2", 3),
    ("retry returns the attempt", "worker2", 5),
    ("retry returns None when every attempt fails", "worker2", 6),
    ("close removes the row", "a", 2),
    ("close() removes the row from rows", "a", 2),
    ("a.py removes a row", "a", 2),
    ("parse raises ValueError for an empty name", "parse", 6),
    ("an empty name is refused", "parse", 6),
    ("parse strips the name and makes it lower case", "parse", 9),
    ("the default limit is 10", "parse", 4),
    ("names longer than the limit raise a ValueError", "parse", 8),
    ("the module imports json", "parse", 1),
    ("the sum leaves the first price out", "total", 2),
    ("total skips the first price", "total", 2),
    ("a webhook older than five minutes is turned away", "webhooks", 5),
    ("AGE_MAX_S is five minutes", "webhooks", 1),
    ("a hook older than AGE_MAX_S raises TooOld", "webhooks", 5),
    ("the queue lives in Redis", "README", 3),
    ("workers never retry a paid order", "README", 3),
    ("README.md says the port is 8080", "README", 4),
    ("the port is 8080", "conf", 2),
    ("debug is off", "conf", 3),
    ("the server listens on localhost", "conf", 4),
    ("the cache holds 128 items by default", "cache", 2),
    ("Cache.get returns None for an unknown key", "cache", 8),
    ("put pops an item when the cache is full", "cache", 12),
    ("put removes the first item when the size is reached", "cache", 12),
    ("the items are kept in a dict", "cache", 4),
    ("the log level is WARNING", "log", 3),
    ("logs are rotated at 10 MB", "log", 8),
    ("five backups are kept", "log", 8),
    ("setup adds a RotatingFileHandler", "log", 9),
    ("rotate is on by default", "log", 6),
    ("Login answers 401 for an unknown user", "auth", 4),
    ("a wrong password increments the failures of the user", "auth", 8),
    ("a session lasts 24 hours", "auth", 12),
    ("Login checks the password", "auth", 7),
    ("debounce waits 250 ms by default", "d", 1),
    ("debounce clears the timer before it sets a new one", "d", 4),
    ("debounce returns a function", "d", 3),
    ("web uses nginx 1.25", "compose", 3),
    ("port 8080 is mapped to 80", "compose", 5),
    ("the database is postgres:16", "compose", 8),
    ("web always restarts", "compose", 6),
    ("the total of an order must not be null", "s", 3),
    ("the default state is open", "s", 4),
    ("there is an index on the state of orders", "s", 6),
    ("backups run every night", "ops", 3),
    ("backups are kept for 30 days", "ops", 3),
    ("restores are not automatic", "ops", 4),
    ("the service needs 512 MB of memory", "ops", 5),
    ("a person starts restores", "ops", 4),
)

# What the file does not show: another value, the opposite, something more, or nothing of it.
FALSE: tuple[tuple[str, str, int | None], ...] = (
    ("RETRIES is 9", "worker", 1),
    ("the worker retries nine hundred times and deletes the job", "worker", 1),
    ("the worker retries three times and deletes the job", "worker", 1),
    ("the worker retries four times", "worker", 1),
    ("the worker deletes after three retries", "worker", 1),
    ("RETRIES is 9 and DELAY is 3", "worker", 1),
    ("run returns False when the job succeeds", "worker", 10),
    ("the worker never retries", "worker", 1),
    ("RETRIES is not 3", "worker", 1),
    ("README.md says the moon is cheese", "README", 3),
    ("the moon is cheese", "README", None),
    ("workers retry a paid order", "README", 3),
    ("workers retry a paid order", "README", None),
    ("the queue lives in Postgres", "README", 3),
    ("the queue never lives in Redis", "README", 3),
    ("the port is 8081", "README", 4),
    ("the port is 9090", "conf", 2),
    ("debug is on", "conf", 3),
    ("debug is enabled", "conf", 3),
    ("the host is example.com", "conf", 4),
    ("add adds", "calc", 2),
    ("add adds a and b", "calc", 2),
    ("add multiplies a and b", "calc", 2),
    ("add is right", "calc", 2),
    ("add returns a + b", "calc", 2),
    ("it works", "calc", 2),
    ("the code is correct", "calc", 2),
    ("retry runs a job once too few", "worker2", 3),
    ("retry never returns None", "worker2", 6),
    ("retry returns the job", "worker2", 5),
    ("retry raises an error when every attempt fails", "worker2", 6),
    ("close keeps the row", "a", 2),
    ("close does not remove the row", "a", 2),
    ("close returns the row", "a", 3),
    ("parse raises KeyError for an empty name", "parse", 6),
    ("parse accepts an empty name", "parse", 6),
    ("the default limit is 100", "parse", 4),
    ("names shorter than the limit raise a ValueError", "parse", 8),
    ("the module imports yaml", "parse", 1),
    ("parse makes the name upper case", "parse", 9),
    ("total counts all prices twice", "total", 2),
    ("total leaves the last price out", "total", 2),
    ("a webhook older than six minutes is turned away", "webhooks", 1),
    ("a hook younger than AGE_MAX_S raises TooOld", "webhooks", 5),
    ("AGE_MAX_S is ten minutes", "webhooks", 1),
    ("the cache holds 256 items by default", "cache", 2),
    ("Cache.get raises KeyError for an unknown key", "cache", 8),
    ("put removes the last item when the size is reached", "cache", 12),
    ("put always removes an item", "cache", 12),
    ("the cache is written to disk", "cache", 13),
    ("the log level is DEBUG", "log", 3),
    ("logs are rotated at 20 MB", "log", 8),
    ("six backups are kept", "log", 8),
    ("rotate is off by default", "log", 6),
    ("logs are compressed", "log", 8),
    ("Login answers 403 for an unknown user", "auth", 4),
    ("a wrong password locks the user", "auth", 8),
    ("a wrong password resets the failures of the user", "auth", 8),
    ("a session lasts 12 hours", "auth", 12),
    ("Login never checks the password", "auth", 7),
    ("debounce waits 500 ms by default", "d", 1),
    ("debounce calls the function at once", "d", 4),
    ("debounce returns the timer", "d", 3),
    ("web uses nginx 1.27", "compose", 3),
    ("web uses apache", "compose", 3),
    ("port 8081 is mapped to 80", "compose", 5),
    ("web never restarts", "compose", 6),
    ("the database is postgres:15", "compose", 8),
    ("the total of an order may be null", "s", 3),
    ("the default state is closed", "s", 4),
    ("there is no index on the state of orders", "s", 6),
    ("backups run every week", "ops", 3),
    ("backups are kept for 90 days", "ops", 3),
    ("restores are automatic", "ops", 4),
    ("the service needs 256 MB of memory", "ops", 5),
    ("backups are encrypted and kept for 30 days", "ops", 3),
    ("backups are never kept for 30 days", "ops", 3),
)
