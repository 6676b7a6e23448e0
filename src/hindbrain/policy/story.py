"""The story of a brain: each act of the ledger in words. What stands in braces comes from the entry."""

__all__ = ["LIMIT", "LIMIT_MOST", "REASON_MAX", "SENTENCES", "STATEMENT_SHOWN", "TOLD_OF_TASKS"]

LIMIT = 50
LIMIT_MOST = 5_000
STATEMENT_SHOWN = 100  # characters of a statement: enough to know which card it is
REASON_MAX = 120

# An act that is not here is told by its name. Numbers and names only: the ledger holds no words of anybody.
SENTENCES: dict[str, str] = {
    "evidence.record": "kept {rows} observation(s)",
    "evidence.ingest": "took in {rows} row(s) of evidence from a source",
    "evidence.research": "kept {rows} finding(s) of research as evidence",
    "evidence.import": "imported {rows} row(s) of evidence",
    "evidence.copied": "copied {rows} row(s) of evidence for a card that moved outward",
    "evidence.delete": "deleted {rows} row(s) of evidence",
    "evidence.restore": "brought {rows} deleted row(s) of evidence back",
    "evidence.purge": "erased {rows} deleted row(s) of evidence for good",
    "evidence.forget": "forgot {rows} row(s) of evidence",
    "evidence.reject": "cut a rejected value out of {rows} row(s) of evidence",
    "control.message": "{from} said {type} to {to} in a task",
    "control.conversation": "asked something that was no task",
    "control.model_call": "asked the model {model} for {role}",
    "control.model_answer": "got the answer of a model",
    "control.tuning_applied": "applied other numbers of the controller",
    "control.tuning_undone": "took applied numbers of the controller back",
    "megram.written": "kept an experience, {state}",
    "megram.forget": "forgot {megrams} experience(s)",
    "megram.import": "imported experience",
    "dream.cycle": "dreamt: hardened, distrusted and forgot experience",
    "card.created": "made a {tier} card, {to}",
    "card.promoted": "promoted a {tier} card, {from} -> {to}",
    "card.demoted": "demoted a {tier} card, {from} -> {to}",
    "card.retired": "retired a {tier} card, {from} -> {to}",
    "card.linked": "linked evidence to a {tier} card",
    "card.unlinked": "unlinked evidence from a {tier} card",
    "card.updated": "noted something on a {tier} card",
    "card.published_anchor": "published a {tier} card",
    "card.forgotten": "forgot a card",
    "card.held": "held back a card of another program",
    "adoption.recorded": "recorded an outcome: {signal} of {track}",
    "adoption.import": "imported outcomes",
    "adoption.forgotten": "forgot what outcomes said",
    "default.set": "switched cards in every context {switched}",
    "default.rolled_back": "took the default back: cards in every context {switched}",
    "claim.memorize": "remembered a claim",
    "claim.birth": "remembered doctrine",
    "claim.file": "took in a claim from its file",
    "claim.removed": "noticed that the file of a claim is gone",
    "claim.refused": "kept the file of a claim out",
    "claim.promote": "shared a claim",
    "claim.witness": "noted that a claim was shared",
    "claim.grade": "graded a claim",
    "claim.demote": "archived a shared claim",
    "claim.merge": "merged a claim into another one",
    "claim.withdraw": "withdrew a claim",
    "claim.reject": "rejected a value",
    "claim.lift": "lifted a rejection",
    "claim.forget": "forgot a claim",
    "claim.import": "imported a claim",
    "claim.migrate": "moved a claim out of a mixed medulla",
    "claim.rollback": "put a moved claim back",
    "brain.create": "made the brain",
    "brain.init": "gave the repository its brain",
    "brain.uninit": "took the brain's files out of the repository",
    "brain.move": "moved the brain",
    "brain.import": "imported into the brain",
    "graph.ingest": "took in the code",
    "index.rebuild": "made an index anew",
    "boot.set": "set a key of the boot memory",
    "boot.delete": "deleted a key of the boot memory",
}

# Of what is said in a task a story tells its beginning and its end; `control watch` tells all of it.
TOLD_OF_TASKS = ("TaskSpec", "FinalResult")
