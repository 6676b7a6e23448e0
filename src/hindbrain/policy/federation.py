"""Federation: how strongly what two repositories share binds their files, and where looking for it stops."""

from collections.abc import Mapping

__all__ = ["COMMON_NAMES", "COMMON_VARIABLES", "CROSSINGS", "MOST_BYTES", "MOST_FILES", "MOST_OF_A_KIND", "MOST_REPOSITORIES"]

# kind -> (weight, causal strength, goes both ways)
CROSSINGS: Mapping[str, tuple[float, float, bool]] = {
    "shared_config": (0.7, 0.8, True),  # who changes the variable changes both
    "api_contract": (0.8, 0.9, True),  # a route is a promise that two sides keep
    "package_dep": (0.8, 0.8, False),
    "shared_type": (0.5, 0.4, True),  # one name may still mean two things
    "deployment_dep": (0.6, 0.7, False),
    "mcp_contract": (0.7, 0.8, False),
}

# Variables every program reads and names every program uses: they say nothing about two repositories.
COMMON_VARIABLES = frozenset(
    {"HOME", "PATH", "USER", "SHELL", "TERM", "LANG", "TMPDIR", "PWD", "DEBUG", "PORT", "HOST", "NODE_ENV", "PYTHONPATH"}
    | {"LC_ALL", "EDITOR", "HOSTNAME", "LOG_LEVEL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "NO_COLOR"}
)
COMMON_NAMES = frozenset(
    {"Config", "Settings", "Options", "Client", "Server", "Result", "Response", "Request", "Handler", "Manager", "Service"}
    | {"Context", "Session", "Message", "Builder", "Factory", "Parser", "Logger", "Exception", "TestCase", "Element"}
)

MOST_FILES = 20_000  # of one repository that are read for what they share
MOST_BYTES = 400_000  # of one file: a larger one is data
MOST_OF_A_KIND = 2_000  # edges of one kind
MOST_REPOSITORIES = 32
