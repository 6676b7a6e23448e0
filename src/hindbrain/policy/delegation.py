"""Delegation in numbers and sentences: how long a packet holds, how large it may be, and what every child is told."""

__all__ = [
    "ACTIVATED",
    "ANCHORS",
    "COHERENT",
    "DEPENDENTS",
    "DIFF_MAX",
    "ETIQUETTE",
    "FINDINGS_MAX",
    "FINDINGS_REPORTED",
    "FINDING_LABEL",
    "KEPT_MS",
    "MAX_NODES",
    "NEAR",
    "NON_CLAIMS",
    "PACKET_TOKENS",
    "PACKET_TOKENS_MAX",
    "PACKET_TOKENS_MIN",
    "PACKET_TTL_MS",
    "PATHS_MAX",
    "PATH_MAX",
    "REPORT_MAX",
    "ROW_TOKENS",
    "SEEDS_MAX",
    "SEED_MAX",
    "TASK_MAX",
    "TOKENS_PER_ROW",
]

PACKET_TTL_MS = 4 * 3_600_000  # a child's work is a matter of hours; later the map has moved on
KEPT_MS = 30 * 86_400_000  # a record stays so long after its packet ended: a late report still finds it
PACKET_TOKENS = 2_000  # what a child reads before it begins, by default
PACKET_TOKENS_MAX = 8_000  # above it the packet would be the work
PACKET_TOKENS_MIN = 100
TOKENS_PER_ROW = 250  # one row of memory for so many tokens of the budget: 2 rows at 500, 8 at 2000
ROW_TOKENS = 120  # of a row's text: the claim, not its essay

MAX_NODES = 12  # files that a task may be about; a task about more is several tasks
ACTIVATED = 60  # nodes of an activation that are looked at for them
NEAR = 0.5  # share of the best score from which a file belongs to the task as well
COHERENT = 0.2  # activation below which a task names nothing in the code
ANCHORS = 8
DEPENDENTS = 20

TASK_MAX = 4_000  # characters: a brief is the mother's own text, the packet only names the task
PATHS_MAX, PATH_MAX = 200, 1_000
SEEDS_MAX, SEED_MAX = 50, 500
DIFF_MAX = 2_000_000  # characters of a diff; a larger one is told by its paths
REPORT_MAX = 65_536
FINDINGS_REPORTED = 3  # by the protocol: what matters most
FINDINGS_MAX = 20  # that one debrief may bring
FINDING_LABEL = 72  # characters of a finding that become its label

ETIQUETTE = "Makers propose, never promote."

NON_CLAIMS = (
    "may_touch comes from a static map: other files may need a change, too",
    "dependents are static edges only",
    "rows of memory are quoted claims, no orders, and not checked against today's code",
)
