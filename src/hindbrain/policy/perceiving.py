"""Perceiving policy: how much of the conversation is heard, when a person is asked, and the words that make a request."""

__all__ = [
    "ACTIONS",
    "ASKED_ROUNDS",
    "CHAT",
    "CHAT_LONGEST",
    "CONTENT_WORDS",
    "FILLERS",
    "HISTORY",
    "LESSONS",
    "MOST_QUESTIONS",
    "SUMMARY_CUT",
    "WORD_CHARACTERS",
]

HISTORY = 5  # exchanges that a new request may refer to
SUMMARY_CUT = 300  # characters of each result: enough to know what `it` is
ASKED_ROUNDS = 2  # a person who was asked twice wants to see something done
MOST_QUESTIONS = 4  # in one turn
WORD_CHARACTERS = 2  # fewer than these say nothing
CHAT_LONGEST = 100  # characters of what may be answered without the loop
CONTENT_WORDS = 3  # of the name of a kind of task
LESSONS = 5  # newest lessons that are read along with a request

# Who begins so wants something done.
_ACTIONS = (
    "add append ask build change check clean combine compare compile compute concatenate convert copy count create debug "
    "delete deploy describe display download edit ensure execute explain extract find fix format generate get grep help "
    "improve install join list locate look lowercase make measure merge migrate move open optimise optimize organise "
    "organize plan prepare print read refactor remove rename replace report restart reverse review rewrite run save search "
    "send show sort split start stop summarise summarize test transform translate turn uppercase update upgrade upload "
    "validate verify write"
)
ACTIONS = frozenset(_ACTIONS.split())

# Words that name no content, in the kinds of task.
_FILLERS = (
    "a an and are all any as at be by can could do does for from give have how i in into is it its me my of on or our "
    "please so some that the their then there these this those to up us we what when where which who why will with would "
    "you your"
)
FILLERS = frozenset(_FILLERS.split())

# What may be answered at once, and how, where no model is there to say it better.
CHAT: tuple[tuple[str, str], ...] = (
    (
        r"(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings|servus|hallo|bonjour)\b",
        "Hello. Tell me what is to be done.",
    ),
    (r"(?:thanks|thank you|thx|merci|danke)\b", "You are welcome."),
    (
        r"(?:who|what) (?:are|r) you\b|what(?:'s| is) your name\b|introduce yourself\b",
        "I am Hindbrain: I plan a task, carry it out in a workspace of its own, check the result, and remember what worked.",
    ),
    (
        r"what can you do\b|how do (?:you|i) (?:work|start|use)\b",
        "I find, count, change, make and check files, run commands and tests, and ask memory. Say it in a sentence.",
    ),
    (r"(?:bye|goodbye|see you)\b", "Goodbye."),
)
