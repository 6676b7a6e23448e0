"""The house: all services of one process, put together once."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from hindbrain.domain.caller import FINISHER
from hindbrain.engines.auditing import Numbers
from hindbrain.policy.control import Params
from hindbrain.services.adoption import Adoption
from hindbrain.services.audience import Audience
from hindbrain.services.authority import Authority
from hindbrain.services.backfill import Backfill
from hindbrain.services.bell import Bell
from hindbrain.services.boot import Boot
from hindbrain.services.brains import Brains, OpenBrain, StoreOpener
from hindbrain.services.card_arrival import Arrivals
from hindbrain.services.card_books import CardBooks
from hindbrain.services.card_erasure import CardErasure
from hindbrain.services.card_evidence import CardEvidence
from hindbrain.services.card_exchange import CardExchange
from hindbrain.services.card_links import CardLinks
from hindbrain.services.card_making import CardMaking
from hindbrain.services.card_moves import CardMoves
from hindbrain.services.card_publishing import CardPublishing
from hindbrain.services.card_retrieval import CardRetrieval
from hindbrain.services.cards import Cards
from hindbrain.services.claim_list import ClaimList
from hindbrain.services.claim_removal import ClaimRemoval
from hindbrain.services.claims import Claims
from hindbrain.services.confirmation import Confirmation
from hindbrain.services.consolidation import Consolidation
from hindbrain.services.context import Context
from hindbrain.services.contract import Contract
from hindbrain.services.control.audits import Audits
from hindbrain.services.control.lines import Lines
from hindbrain.services.control.model_plan import ModelPlan
from hindbrain.services.control.model_report import ModelReport
from hindbrain.services.control.params import Parameters, configured
from hindbrain.services.control.tuning import Tuning
from hindbrain.services.counters import Counters, Refusals
from hindbrain.services.defaults import Defaults
from hindbrain.services.doctor import Doctor
from hindbrain.services.elsewhere import Elsewhere
from hindbrain.services.embedder import Embedder
from hindbrain.services.embedding import Embedding
from hindbrain.services.environment import Environment
from hindbrain.services.erasure import Erasure
from hindbrain.services.events import Events
from hindbrain.services.evidence import Observations
from hindbrain.services.evidence_anchor import Anchors
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_erasure import EvidenceErasure
from hindbrain.services.evidence_exchange import EvidenceExchange
from hindbrain.services.evidence_faults import EvidenceFaults
from hindbrain.services.evidence_ingest import Ingest
from hindbrain.services.evidence_list import EvidenceList
from hindbrain.services.evidence_reindex import Reindex
from hindbrain.services.evidence_search import EvidenceSearch
from hindbrain.services.exchange import Exchange
from hindbrain.services.experience.erasing import ExperienceErasure
from hindbrain.services.experience.exchange import ExperienceExchange
from hindbrain.services.experience.instincts import Instincts
from hindbrain.services.experience.proposing import Proposing
from hindbrain.services.experience.room import ExperienceRoom, rules_of
from hindbrain.services.experience.survey import Survey
from hindbrain.services.experience.telling import Telling
from hindbrain.services.fanout import Fanout
from hindbrain.services.feeds import Feeds
from hindbrain.services.file_erasure import CaseErasure, CopyErasure, ExportErasure
from hindbrain.services.foreign_evidence import ForeignEvidence
from hindbrain.services.forgetting import Forgetting
from hindbrain.services.gateway import Gateway
from hindbrain.services.glances import Glances
from hindbrain.services.grades import Grades
from hindbrain.services.graphs import Graphs
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.home_files import HomeFiles
from hindbrain.services.hygiene_scan import HygieneScan
from hindbrain.services.ingests import Ingests
from hindbrain.services.late_rooms import LateRooms
from hindbrain.services.ledgers import Ledgers
from hindbrain.services.maintenance import Maintenance
from hindbrain.services.memory_import import MemoryImport
from hindbrain.services.migration import Migration
from hindbrain.services.missions.desk import Desk
from hindbrain.services.missions.erasing import MissionErasure
from hindbrain.services.missions.files import MissionFiles
from hindbrain.services.missions.graph import HouseGraph
from hindbrain.services.missions.guard import Guard
from hindbrain.services.missions.log import MissionLog
from hindbrain.services.missions.observing import Observing
from hindbrain.services.model import Model
from hindbrain.services.north import North
from hindbrain.services.outcome_arrival import OutcomeArrivals
from hindbrain.services.overview import Overview
from hindbrain.services.packs import Packs
from hindbrain.services.parsing import workers
from hindbrain.services.projects import Projects
from hindbrain.services.promotion import Promotion
from hindbrain.services.reason_erasure import ReasonErasure
from hindbrain.services.recall import Recall
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.recovery import Recovery
from hindbrain.services.registered_places import RegisteredPlaces
from hindbrain.services.release import ReleaseCheck
from hindbrain.services.relocation import Relocation
from hindbrain.services.repairs import Repairs
from hindbrain.services.research import Research
from hindbrain.services.retrieval import Retrieval
from hindbrain.services.review import Review
from hindbrain.services.routing import Router
from hindbrain.services.rows import RowMaker
from hindbrain.services.standing import Standing
from hindbrain.services.story import Story
from hindbrain.services.verify import Verify
from hindbrain.services.wake import Wake
from hindbrain.services.watching import Watching
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

__all__ = ["House"]


def _unwatched(done: int, total: int, text: str) -> None:
    """Nobody waits for what is done beside the calls."""


class House(LateRooms):
    """One of each. Operations reach everything from here."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        clock: Callable[[], int],
        open_store: StoreOpener,
        bound_root: str | None,
        resident: bool,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.home = home
        self.settings = settings
        self._resident = resident
        self.clock = clock
        self.environ: Mapping[str, str] = environ or {}
        self.events = Events()
        self.bell = Bell(self.events)
        self.registered_places = RegisteredPlaces(home)
        self.confirmation = Confirmation(home, clock)
        self.brains = Brains(home, settings, open_store, self._on_open, bound_root)
        self.brains.committed = self.bell.committed
        self.router = Router(self.brains, self.registered_places, clock)
        self.audience = Audience(self.brains, wide=settings.flag("all_brains"))
        self.events.owner_of = self.audience.owner_of
        self.authority = Authority(home, self.brains, self.router, self.registered_places.covers)
        self.counters = Counters(self.brains, clock)
        self.refusals = Refusals(self.brains, self.router, home, clock)
        self.contract = Contract(home, self.brains, self.router)
        self.gateway = Gateway(clock)
        self.lines = Lines(self.gateway, clock)
        self.audits = Audits(self.brains, self.router, self.lines, self._numbers)
        self.reconciler = Reconciler(self.gateway, settings, clock)
        self.embedder = Embedder(home, settings)
        self.embedding = Embedding(self.brains, self.embedder, self.events, resident=resident)
        self.retrieval = Retrieval(self.embedder, self.embedding)
        self.maker = RowMaker(home, settings.number("stale_after_days"))
        self.feeds = Feeds(self.reconciler, self.maker, self.retrieval, clock, patient=not resident)
        books = CardBooks()
        self.fanout = Fanout(self.brains, self.feeds, self.retrieval, books, settings, clock)
        self.recall = Recall(self.brains, self.feeds, self.retrieval, settings, clock)
        self.claims = Claims(self.brains, self.router, self.gateway, self.reconciler, self.maker, clock)
        self.claim_removal = ClaimRemoval(self.brains, self.router, self.gateway, self.reconciler)
        self.claim_list = ClaimList(self.brains, self.router, self.reconciler, self.maker, clock)
        self.promotion = Promotion(self.brains, self.gateway, self.reconciler, self.maker, clock)
        self.grades = Grades(self.brains, self.router, self.reconciler, clock)
        self.consolidation = Consolidation(self.brains, self.gateway, self.reconciler, clock)
        anchors, batches = Anchors(self.brains, self.router), Batches(clock)
        self.observations = Observations(self.brains, self.router, anchors, self.gateway, batches, clock)
        self.evidence_ingest = Ingest(self.brains, anchors, self.gateway, batches, clock)
        self.research = Research(self.brains, anchors, self.gateway, batches, clock)
        self.wake = Wake(home, self.brains, self.observations)
        self.evidence_reindex = Reindex(self.brains, self.router, self.evidence_ingest, self.authority)
        self.evidence_search = EvidenceSearch(self.brains, self.observations, self.retrieval)
        self.evidence_list = EvidenceList(self.brains, self.observations)
        cited = CardEvidence(self.brains, self.observations, self.gateway, batches, clock)
        self.cards = Cards(self.brains, self.observations)
        self.card_making = CardMaking(self.brains, anchors, self.cards, cited, self.gateway, clock)
        self.card_links = CardLinks(self.brains, self.cards, cited, self.gateway, clock)
        self.card_moves = CardMoves(self.brains, self.cards, cited, self.card_links)
        self.card_publishing = CardPublishing(self.brains, anchors, self.cards, cited, self.card_links, self.gateway, clock)
        self.mission_log = MissionLog(clock, redact_external=settings.flag("flight.redact_external"))
        self.mission_files = MissionFiles(self.mission_log)
        self.mission_log.mirrors.append(self.mission_files.mirror)
        undone = MissionErasure(self.gateway, self.mission_files, clock)
        forgetting = Forgetting(
            self.gateway,
            (
                lambda: erased,
                lambda: unlearned,
                lambda: unlived,
                lambda: self.boot,
                lambda: self.mailbox.erasure,
                lambda: self.cowork.erasure,
                lambda: CaseErasure(home),
                lambda: ExportErasure(home),
                CopyErasure,
                lambda: ReasonErasure(clock),
            ),
        )
        unlearned = CardErasure(self.brains, self.gateway, undone, forgetting, clock)
        unlived = ExperienceErasure(self.gateway, clock)
        reach = (undone, forgetting, clock)
        erased = EvidenceErasure(self.brains, self.gateway, self.observations, batches, unlearned, *reach)
        self.erasure = Erasure(self.brains, self.router, self.gateway, self.reconciler, erased, unlearned, unlived, *reach)
        self.experience = ExperienceRoom(self.brains, self.router, self.gateway, clock, rules_of(settings))
        self.lines.depositing = lambda opened, journal: self.experience.of(opened, journal).heard
        self.telling = Telling(self.brains, self.router, clock)
        self.survey = Survey(self.brains, self.router, clock)
        self.experience_exchange = ExperienceExchange(self.brains, self.router, self.experience, clock)
        self.proposing = Proposing(self.brains, self.router, self.observations, self.card_making, clock)
        recording = settings.flag("adoption")
        self.adoption = Adoption(self.brains, self.router, self.gateway, clock, enabled=recording)
        self.defaults = Defaults(self.brains, self.router, self.gateway, self.adoption, clock)
        self.context = Context(self.brains, self.observations, anchors, self.retrieval, books, self.defaults)
        instincts = Instincts(self.brains, clock)
        self.north = North(self.router, self.recall, self.fanout, self.context, self.contract, self.counters, instincts)
        self.card_retrieval = CardRetrieval(self.brains, self.observations, books, self.context)
        self.boot = Boot(self.brains, self.router, self.gateway, self.maker, clock)
        self.graphs = Graphs(str(home.path), clock, self.brains.bindings.holds)
        self.verify = Verify(str(home.path), self.graphs)
        self.watching = Watching(self.brains, self.graphs, self.events, enabled=resident and settings.flag("watch"))
        self.brains.before_close = self._before_close
        self.ingests = Ingests(home, self.graphs, self.reconciler, clock)
        self.relocation = Relocation(home, self.brains, self.graphs, clock)
        self.watching.rebuild = lambda opened: self.ingests.rebuild(FINISHER, opened, _unwatched)
        self.projects = Projects(home, self.brains, self.router, self.reconciler, self.ingests, self.relocation, clock)
        carried = EvidenceExchange(self.gateway, batches, clock)
        arrivals, foreign = Arrivals(self.brains, cited, self.gateway, clock), ForeignEvidence(self.gateway, batches, clock)
        outcomes = OutcomeArrivals(self.gateway, clock)
        self.exchange = Exchange(
            self.brains,
            self.router,
            self.gateway,
            self.reconciler,
            carried,
            CardExchange(arrivals, outcomes, foreign, clock),
            self._settle,
            clock,
        )
        self.memory_import = MemoryImport(self.brains, foreign, arrivals, outcomes, clock)
        self.backfill = Backfill(self.brains, self.observations, arrivals, clock)
        self.migration = Migration(self.brains, self.router, self.gateway, self.reconciler, clock)
        self.tuning = Tuning(home, self.brains, self.router, self.gateway, clock, base=lambda: configured(settings))
        self.ledgers = Ledgers(self.brains, self.router)
        self.story = Story(self.brains, self.router, self.observations, self.ledgers)
        self.review = Review(self.brains, self.observations, clock)
        self.standing = Standing(
            self.brains,
            self.router,
            self.contract,
            self.counters,
            clock,
            letters=lambda brain: self.letters.reading.open_count(brain),
        )
        self.glances = Glances(self.brains)
        self.elsewhere = Elsewhere(self.brains, self.glances, self.bell)
        self.overview = Overview(
            self.brains,
            self.router,
            self.glances,
            self.counters,
            letters=lambda brains: self.letters.reading.open_counts(brains),
            present=lambda: self.cowork.attending.by_brain(),
            running=lambda: runs.by_brain() if (runs := self.started_runs) is not None else Counter(),
        )
        taken = HouseGraph(
            self.brains, self.router, self.graphs, self.projects, room=lambda: self.graph, finding=lambda: self.finding
        )
        self.guard = Guard(home, self.router, taken, self.authority, clock)
        # A notice may be the first that this process hears of missions: they are put together for it.
        self.guard.rechecks.append(lambda caller: self.missions.recheck(caller))
        self.handshakes = Handshakes(home, clock)
        self.recovery = Recovery(home, self.brains, self.router, self.contract, self.environ, self.handshakes)
        files = HomeFiles(home, self.mission_files, self.embedder)
        faults = EvidenceFaults(self.gateway, batches, clock)
        self.repairs = Repairs(
            home, self.brains, self.reconciler, self.embedding, self.graphs, self.ingests, clock, files, faults, self.audience
        )
        served = bool(settings.text("store_url"))
        environment = Environment(home, self.brains, self.router, self.environ, served=served)
        self.maintenance = Maintenance(
            self.brains, self.observations, agents=lambda caller: self.cowork.checking.agent_count(caller)
        )
        self.release = ReleaseCheck(environment)
        self.packs = Packs(home, self.brains, self.router, clock)
        self.doctor = Doctor(
            home,
            self.brains,
            self.router,
            self.contract,
            self.counters,
            self.reconciler,
            self.recovery,
            self.embedding,
            self.graphs,
            environment,
            clock,
            letters=lambda caller, weeks: self.letters.numbers.told(caller, weeks),
            cowork=lambda caller: self.cowork.checking.section(caller),
            files=files,
            faults=faults,
            scan=HygieneScan(home, self.brains, roots=lambda: self.mailbox.room.known()),
            audience=self.audience,
        )
        self.model = Model(self.brains, self.router, self.embedder, self.embedding)
        self.model_report = ModelReport(self.brains, self.router, self._model_plan, self.environ, clock)
        self.observing = Observing(self.brains, self.router, self.mission_log, self.handshakes)
        self.mission_desk = Desk(brains=self.brains, router=self.router, gateway=self.gateway, log=self.mission_log)
        self._ticking = threading.Lock()

    def _model_plan(self) -> ModelPlan:
        """What is set about models. Refused where it cannot hold, by whoever needs it: memory needs no model."""
        return ModelPlan.read(self.settings)

    @property
    def running(self) -> int:
        """How many tasks are on their way in this process."""
        return runs.active if (runs := self.started_runs) is not None else 0

    def _numbers(self, opened: OpenBrain) -> Numbers:
        """The numbers by which tasks of a brain are steered, as its auditor asks for them."""
        parameters = Parameters(configured(self.settings), opened.store)

        def numbers(task_class: str, task_id: str) -> Params:
            given = runs.budget(task_id) if (runs := self.started_runs) is not None else None
            found = parameters.of_print(task_class)
            return replace(found, time_budget_ms=given) if given else found

        return numbers

    def _settle(self, opened: OpenBrain) -> None:
        """Write what this process still holds of a brain in memory."""
        self.lines.settle(opened)
        self.counters.flush_one(opened)

    def _on_open(self, opened: OpenBrain) -> None:
        """A brain that wakes first finishes what a dead process left, then takes in what came while it slept."""
        self.exchange.finish(opened)
        for place in opened.places:
            place.sweep()
        if opened.store.intents():
            self.promotion.finish(opened)
            self.card_publishing.finish(opened)
        self.reconciler.take_up(opened)
        self.embedding.wake(opened)
        if self._resident:
            self.experience.woke(opened)

    def _before_close(self, opened: OpenBrain) -> None:
        self.watching.forget(opened)
        self.audits.forget(opened)
        self.mission_log.forget(opened)
        self.lines.settle(opened)
        self.experience.rest(opened)  # what it dreams of is written, and a model it asks still has its ledger
        self.lines.close(opened)
        self.counters.flush_one(opened)

    def tick(self) -> None:
        """What the owner does beside the calls: write counters, take in files that were edited in place."""
        if not self._ticking.acquire(blocking=False):
            return
        try:
            self.counters.flush()
            workers().rest()
            self.watching.look()
            for opened in self.brains.each_warm():
                with self.brains.use(opened.brain) as held:
                    self.reconciler.sweep(held)
                    self.audits.look(held)
            self.embedding.wake()  # another process may have written
        finally:
            self._ticking.release()

    def close(self) -> None:
        if self.started_runs is not None:
            self.started_runs.close()
        self.watching.close()
        self.embedding.close()
        self.counters.flush()
        self.recall.close()
        self.retrieval.close()
        self.glances.close()
        self.brains.close()
