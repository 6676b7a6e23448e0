"""The MCP server: the handlers behind every transport, generated from the registry. One per application."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError

from hindbrain.domain.errors import BodyTooLarge, HindbrainError
from hindbrain.surfaces.mcp_callers import Context, Peer
from hindbrain.surfaces.mcp_greetings import Greetings
from hindbrain.surfaces.mcp_progress import progress_to
from hindbrain.surfaces.mcp_subscriptions import Subscriptions
from hindbrain.surfaces.mcp_texts import PROMPTS, listed_prompts, listed_resources, listed_templates, resource_at
from hindbrain.surfaces.mcp_tools import Catalog, resource_text, tool_result
from hindbrain.surfaces.runner import Activity, Progress, Runner, Served
from hindbrain.surfaces.wire import BODY_LIMIT, checked_root, decode_object

__all__ = ["server_for"]

# Lists change with a release of Hindbrain only; a client may keep them for this long without asking again.
_LISTS = CacheHint(ttl_ms=300_000, scope="private")

# Calls that ask where they are: only they are worth a question to the client.
_GUARDED = ("guard", "ask", "mission.")

_DESKS: "WeakKeyDictionary[Served, Desk]" = WeakKeyDictionary()


def server_for(app: Served, peer: Peer) -> Server[Peer]:
    """The server for one peer. All peers of an application share its tool list and its worker threads."""
    desk = _DESKS.get(app) or _DESKS.setdefault(app, Desk(app))
    return desk.server(peer)


class Desk:
    """Answers each kind of request, knowing the application and nothing of the transport."""

    def __init__(self, app: Served) -> None:
        manifest = app.manifest()
        self._catalog = Catalog(manifest)
        self._version: str = manifest["version"]
        self._instructions: str = manifest["instructions"]
        self._runner = Runner(app, Activity())
        self._greetings = Greetings(self._runner, self._catalog)
        self._subscriptions = Subscriptions(app, self._answer)

    def server(self, peer: Peer) -> Server[Peer]:
        @asynccontextmanager
        async def with_peer(_: Server[Peer]) -> AsyncIterator[Peer]:
            try:
                yield peer
            finally:
                if peer.only_session is not None:
                    self._subscriptions.end(peer.only_session)

        made: Server[Peer] = Server(
            "hindbrain",
            title="Hindbrain",
            version=self._version,
            instructions=self._instructions,
            cache_hints={
                "server/discover": _LISTS,
                "tools/list": _LISTS,
                "prompts/list": _LISTS,
                "resources/list": _LISTS,
                "resources/templates/list": _LISTS,
            },
            lifespan=with_peer,
            get_tool_input_schema=self._catalog.schema,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_subscriptions_listen=self._subscriptions.listen,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )
        # Clients of the sessions' era still send it; the constructor's own argument warns that a later era does not.
        made.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, self.roots_changed)
        made.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self._subscriptions.subscribe)
        made.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self._subscriptions.unsubscribe)
        made.middleware.append(self._greetings)
        return made

    async def roots_changed(self, ctx: Context, params: types.NotificationParams) -> None:
        """Other directories are open now: ask for them, and look again where missions of this session stand."""
        peer = ctx.lifespan_context
        peer.roots_changed(ctx)
        await self._runner.roots_changed(await peer.caller(ctx, roots=True))

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._catalog.listed(ctx.lifespan_context.profile(ctx)))

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        operation = self._catalog.operation(params.name)
        if operation is None:
            family = self._catalog.family(params.name)
            offered = f". Tools of this family: {', '.join(family)}" if family else ""
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name[:80]}{offered}")
        answer = await self._answer(ctx, operation, params.arguments or {})
        return tool_result(answer, ctx.protocol_version)

    async def list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=listed_resources())

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=listed_templates())

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = resource_at(str(params.uri))
        if found is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {str(params.uri)[:200]}")
        resource, arguments = found
        answer = await self._answer(ctx, resource.operation, arguments)
        if isinstance(error := answer.get("error"), Mapping):
            raise MCPError(code=types.INVALID_PARAMS, message=f"{error['code']}: {error['message']}", data=error)
        text = resource_text(answer, rendered=resource.mime_type.startswith("text/"))
        contents = types.TextResourceContents(uri=str(params.uri), mime_type=resource.mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=listed_prompts())

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        found = next((one for one in PROMPTS if one.name == params.name), None)
        if found is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name[:80]}")
        content = types.TextContent(type="text", text=found.filled(params.arguments or {}))
        return types.GetPromptResult(description=found.description, messages=[types.PromptMessage(role="user", content=content)])

    async def _answer(self, ctx: Context, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One call by whoever sent this request, with progress if it asked for it."""
        try:
            peer = ctx.lifespan_context
            known = await peer.caller(ctx, roots=operation.startswith(_GUARDED) or "caller_root" in arguments)
            listed = self._catalog.names(peer.profile(ctx))
            checked = _checked(arguments)
        except HindbrainError as refused:
            return refused.answer()

        async def run(progress: Progress | None) -> dict[str, Any]:
            return await self._runner.answer(operation, checked, lambda: replace(known(), listed_tools=listed), progress=progress)

        if not (ctx.meta and "progress_token" in ctx.meta):
            return await run(None)
        async with progress_to(ctx.session) as progress:
            return await run(progress)


def _checked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as every other surface would take them: same size, depth and characters, refused with the same codes."""
    raw = json.dumps(arguments).encode("ascii")
    if len(raw) > BODY_LIMIT:
        raise BodyTooLarge(
            f"the arguments have {len(raw)} bytes; an operation takes {BODY_LIMIT} at most", fix="send less in one call"
        )
    checked = decode_object(raw)
    if isinstance(root := checked.get("caller_root"), str):
        checked_root(root)
    return checked
