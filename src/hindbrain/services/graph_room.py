"""The graph room: everything that is asked of graphs, put together when it is first needed, for it loads arrays and engines."""

from collections.abc import Callable

from hindbrain.services.authority import Authority
from hindbrain.services.brains import Brains
from hindbrain.services.federation import Federation
from hindbrain.services.graph_access import GraphAccess
from hindbrain.services.graph_history import GraphHistory
from hindbrain.services.graph_queries import GraphQueries
from hindbrain.services.graph_views import GraphViews
from hindbrain.services.graphs import Graphs
from hindbrain.services.learning import Learning
from hindbrain.services.routing import Router

__all__ = ["GraphRoom"]


class GraphRoom:
    """One of each."""

    def __init__(self, brains: Brains, router: Router, graphs: Graphs, authority: Authority, clock: Callable[[], int]) -> None:
        self.access = GraphAccess(brains, router, clock)
        self.learning = Learning(self.access, clock)
        self.queries = GraphQueries(self.access, self.learning)
        self.history = GraphHistory(self.access, clock)
        self.views = GraphViews(self.access)
        self.federation = Federation(brains, router, graphs, authority, clock)
