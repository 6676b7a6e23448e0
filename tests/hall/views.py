"""Every view of the Hall, in one table: what the checks for all views walk through, and what is kept as a screenshot."""

from dataclasses import dataclass

__all__ = ["SCRIPT_BYTES", "VIEWS", "View"]

SCRIPT_BYTES = 300_000  # that one page may load


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One view with something in it. Braces name a repository of the demonstration, for its brain, or one of its ids."""

    name: str  # of its screenshots
    route: str
    shows: str  # a selector of something that is there once the view has its data


VIEWS = (
    View(name="hall", route="#/", shows=".brain"),
    View(name="memory", route="#/b/{harbor-shop}/memory", shows=".memory-card"),
    View(name="claim", route="#/b/{harbor-shop}/memory/{revised-claim}", shows=".difference"),
    View(name="shared-claim", route="#/b/medulla/memory/{promoted-claim}", shows="#chain li"),
    View(name="evidence", route="#/b/{harbor-shop}/evidence", shows=".evidence-card"),
    View(name="evidence-row", route="#/b/{harbor-shop}/evidence/{conversation}", shows=".turn.here"),
    View(name="recall", route="#/b/{harbor-shop}/recall?task=retry+a+payment+that+failed", shows=".ranked-row"),
    View(name="ledger", route="#/b/{harbor-shop}/ledger", shows=".entry"),
    View(name="knowledge", route="#/b/{harbor-shop}/knowledge", shows=".tile"),
    View(name="card", route="#/b/{harbor-shop}/knowledge/{card-dao-tian}", shows=".piece"),
    View(name="review", route="#/b/{harbor-shop}/review", shows=".item"),
    View(name="missions", route="#/b/{harbor-shop}/missions", shows=".mission-card"),
    View(name="mission", route="#/b/{harbor-shop}/missions/{mission-running}", shows=".event"),
    View(name="tasks", route="#/b/{harbor-shop}/missions?show=tasks", shows=".task-card"),
    View(name="task", route="#/b/{harbor-shop}/missions/task/{task-steered}", shows=".lines li"),
    View(name="experience", route="#/b/{harbor-shop}/experience", shows=".detail .chart"),
    View(name="rule", route="#/b/{harbor-shop}/experience?rule={rule}", shows=".detail .blows"),
    View(name="doctor", route="#/doctor", shows=".section"),
    View(name="mail", route="#/mail", shows=".letter"),
    View(name="letter", route="#/mail/{letter-bug}", shows=".thread"),
    View(name="cowork", route="#/b/{harbor-shop}/cowork", shows=".agent"),
    View(name="deliveries", route="#/b/{harbor-shop}/cowork?tab=deliveries", shows="td"),
    View(name="graph", route="#/b/{harbor-shop}/graph?node=file%3A%3Asrc%2Fharbor%2Fretry.py", shows="canvas[data-settled=true]"),
)
