"""Errors: every way a call can fail, with a stable code, a message, a safe next step, an HTTP status and an exit code."""

from hindbrain.domain import agent_errors, person_errors, read_errors  # noqa: F401 - their kinds belong to the table at the end
from hindbrain.domain.error import HindbrainError, Refusal

__all__ = [
    "ERRORS",
    "AlreadyCovered",
    "BindRefused",
    "BodyTooLarge",
    "BoundaryViolation",
    "BrainlessRoot",
    "Busy",
    "CallerRootUnknown",
    "ClaimTooLarge",
    "ConfigInvalid",
    "FederationNeeded",
    "GateClosed",
    "HandoverBroken",
    "HindbrainError",
    "HostRefused",
    "HumanNeeded",
    "HygieneRefused",
    "IllegalMove",
    "InternalError",
    "InvalidLabel",
    "InvalidParams",
    "InvalidState",
    "LedgerBroken",
    "MedullaForbidsCode",
    "MethodRefused",
    "MigrationFailed",
    "MissionClosed",
    "MissionForeign",
    "MissionOpen",
    "ModelFailed",
    "ModelRefused",
    "ModelUnavailable",
    "NotAProjectBrain",
    "NotEvidence",
    "NotLive",
    "NotReady",
    "OriginRefused",
    "OwnerRunning",
    "OwnerUnreachable",
    "PathRefused",
    "Refusal",
    "Rejected",
    "RepositoryChanged",
    "RoundBlocked",
    "StaleWrite",
    "StoreBehind",
    "StoreDamaged",
    "StoreNewer",
    "StoreUnavailable",
    "SwitchedOff",
    "TableRefused",
    "TimedOut",
    "Unauthorized",
    "UnknownBrain",
    "UnknownCard",
    "UnknownClaim",
    "UnknownEvidence",
    "UnknownMegram",
    "UnknownMission",
    "UnknownOperation",
    "UnknownRound",
    "UnknownRoute",
    "UnknownTask",
    "UnsupportedMedia",
    "WouldDowngrade",
]


class BrainlessRoot(Refusal):
    """The caller's directory is known, but no brain covers it."""

    code = "brainless_root"


class RepositoryChanged(Refusal):
    """The directory of a brain holds another repository than the one the brain was made for."""

    code = "repository_changed"


class CallerRootUnknown(Refusal):
    """Nobody said from which project the write comes, and the medulla is never the fall-through."""

    code = "caller_root_unknown"


class HygieneRefused(Refusal):
    """The text holds something that must not be remembered: a secret or a merge-conflict marker."""

    code = "hygiene"
    http_status = 422


class Rejected(Refusal):
    """A human rejected this value; it does not come back in another dress."""

    code = "rejected_value"


class WouldDowngrade(Refusal):
    """A weaker version does not replace a stronger one."""

    code = "would_downgrade"


class HumanNeeded(Refusal):
    """Only the human channel may do this: a terminal or the Hall, never an argument."""

    code = "human_needed"
    http_status = 403


class AlreadyCovered(Refusal):
    """The directory already has a brain: the caller is home."""

    code = "already_covered"


class FederationNeeded(Refusal):
    """A second repository goes into a graph only when somebody says that both are meant."""

    code = "federation_needed"


class MedullaForbidsCode(Refusal):
    """The medulla belongs to no project and holds no code."""

    code = "medulla_forbids_code"


class TableRefused(Refusal):
    """The table of a migration does not name every live claim once, or names a place that cannot take one."""

    code = "table_refused"


class SwitchedOff(Refusal):
    """A person switched this off in the settings of the home."""

    code = "switched_off"


class InvalidParams(HindbrainError):
    """An argument is missing, unknown or of the wrong type."""

    code = "invalid_params"
    exit_code = 2


class InvalidLabel(HindbrainError):
    """The label gives no usable file name, or would forge structure."""

    code = "invalid_label"
    exit_code = 2


class InvalidState(HindbrainError):
    """A caller may say authored or verified, nothing else."""

    code = "invalid_state"
    exit_code = 2


class ClaimTooLarge(HindbrainError):
    """A claim is one belief; a document belongs into evidence."""

    code = "claim_too_large"
    http_status = 413


class UnknownOperation(HindbrainError):
    """No operation has this name."""

    code = "unknown_operation"
    http_status = 404
    exit_code = 2


class UnknownBrain(HindbrainError):
    """No brain is registered for this root."""

    code = "unknown_brain"
    http_status = 404


class UnknownClaim(HindbrainError):
    """No live claim has this slug in that brain."""

    code = "unknown_claim"
    http_status = 404


class UnknownEvidence(HindbrainError):
    """There is no such evidence in the brains this caller reads."""

    code = "unknown_evidence"
    http_status = 404


class UnknownCard(HindbrainError):
    """There is no such card in the brains this caller reads."""

    code = "unknown_card"
    http_status = 404


class UnknownMegram(HindbrainError):
    """There is no such experience in the brain this caller reads."""

    code = "unknown_megram"
    http_status = 404


class UnknownTask(HindbrainError):
    """There is no such task in the brain this caller reads."""

    code = "unknown_task"
    http_status = 404


class UnknownMission(HindbrainError):
    """There is no such mission, or no such hand-over, in the brain this caller reads."""

    code = "unknown_mission"
    http_status = 404


class UnknownRound(HindbrainError):
    """There is no such round of the gym, or what is there is not one."""

    code = "unknown_round"
    http_status = 404


class RoundBlocked(Refusal):
    """A round of the gym cannot run: something it needs is missing, or its directory is not what it was."""

    code = "round_blocked"


class MissionClosed(Refusal):
    """The mission is over: nothing more happens in it."""

    code = "mission_closed"


class MissionForeign(Refusal):
    """The mission belongs to another agent; it changes hands by hand-over and resume only."""

    code = "mission_foreign"


class MissionOpen(Refusal):
    """A mission cannot be closed while something it requires is open."""

    code = "mission_open"


class HandoverBroken(Refusal):
    """A hand-over or a packet is not what was written."""

    code = "handover_broken"


class BoundaryViolation(Refusal):
    """A role said or asked something that is not its to say or ask."""

    code = "boundary_violation"
    http_status = 403


class NotEvidence(HindbrainError):
    """The id belongs to something else than an observation."""

    code = "not_evidence"


class GateClosed(Refusal):
    """The card does not have what its next status asks for."""

    code = "gate_closed"


class IllegalMove(Refusal):
    """A card cannot go from where it is to what was asked."""

    code = "illegal_move"


class NotAProjectBrain(HindbrainError):
    """The medulla cannot be the source of a promotion."""

    code = "not_a_project_brain"


class NotLive(HindbrainError):
    """The claim exists, but only as an outdated pointer."""

    code = "not_live"
    http_status = 409


class StaleWrite(HindbrainError):
    """Somebody else wrote first; the read this write was based on is out of date."""

    code = "stale_write"
    http_status = 409


class Busy(HindbrainError):
    """A lock could not be had in time."""

    code = "busy"
    http_status = 503


class TimedOut(HindbrainError):
    """The call took longer than its limit."""

    code = "timed_out"
    http_status = 504


class StoreNewer(HindbrainError):
    """The database was written by a newer release."""

    code = "store_newer"
    http_status = 500


class StoreBehind(HindbrainError):
    """The database was written by an older release, or is not there yet; a call that only looks leaves it so."""

    code = "store_behind"
    http_status = 503


class StoreUnavailable(HindbrainError):
    """The database or the disk does not answer."""

    code = "store_unavailable"
    http_status = 503


class StoreDamaged(StoreUnavailable):
    """A file is damaged, cut short or not what Hindbrain wrote. Derived files are rebuilt; others stay as they are."""

    code = "store_damaged"


class LedgerBroken(HindbrainError):
    """The hash chain of the ledger does not hold."""

    code = "ledger_broken"
    http_status = 500


class PathRefused(HindbrainError):
    """A path leaves its registered root or cannot be a path at all."""

    code = "path_refused"
    http_status = 403


class MigrationFailed(HindbrainError):
    """A migration could not be carried out as a whole, so it was taken back."""

    code = "migration_failed"
    http_status = 500


class ModelRefused(HindbrainError):
    """The weights are not the ones they should be, or not of a family that can be read."""

    code = "model_refused"
    http_status = 422


class ModelFailed(HindbrainError):
    """No provider gave a usable answer, and rules are not to stand in for it."""

    code = "model_failed"
    http_status = 502


class ModelUnavailable(HindbrainError):
    """The weights could not be had, so that memory is found by words only."""

    code = "model_unavailable"
    http_status = 503


class OwnerRunning(HindbrainError):
    """One home has one owner, and it is already up."""

    code = "owner_running"
    http_status = 409


class OwnerUnreachable(HindbrainError):
    """No owner answers and none could be started."""

    code = "owner_unreachable"
    http_status = 503


class ConfigInvalid(HindbrainError):
    """A setting has a value that nothing can read."""

    code = "config_invalid"
    exit_code = 2


class Unauthorized(HindbrainError):
    """The call has no token of this home."""

    code = "unauthorized"
    http_status = 401


class HostRefused(HindbrainError):
    """The request names another host than the owner, as a web page that rebinds its name would."""

    code = "host_refused"
    http_status = 403


class OriginRefused(HindbrainError):
    """The request comes from a web page of another origin."""

    code = "origin_refused"
    http_status = 403


class BindRefused(HindbrainError):
    """The owner listens on loopback only, unless a certificate protects the wire."""

    code = "bind_refused"
    exit_code = 2


class BodyTooLarge(HindbrainError):
    """The request body is larger than any operation takes."""

    code = "body_too_large"
    http_status = 413


class UnsupportedMedia(HindbrainError):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"
    http_status = 415


class UnknownRoute(HindbrainError):
    """The owner serves nothing at this address."""

    code = "unknown_route"
    http_status = 404
    exit_code = 2


class MethodRefused(HindbrainError):
    """The address exists, but not for this HTTP method."""

    code = "method_refused"
    http_status = 405
    exit_code = 2


class NotReady(HindbrainError):
    """This part of the owner is still starting."""

    code = "not_ready"
    http_status = 503


class InternalError(HindbrainError):
    """A defect in Hindbrain itself. The details are in the owner's log."""

    code = "internal"
    http_status = 500


def _family(base: type[HindbrainError]) -> list[type[HindbrainError]]:
    found: list[type[HindbrainError]] = []
    for child in base.__subclasses__():
        found += [child, *_family(child)]
    return found


ERRORS: dict[str, type[HindbrainError]] = {kind.code: kind for kind in _family(HindbrainError) if kind is not Refusal}
