"""Runs plugins for the length of the app, and says which one failed."""

from __future__ import annotations

import inspect
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import trio

from fxtrio.app_handle import App
from fxtrio.errors import FxtrioError
from fxtrio.plugins.protocol import Plugin, PluginFailed


@asynccontextmanager
async def open_plugins(plugins: Sequence[Plugin[Any]], app: App) -> AsyncIterator[None]:
    """Open ``plugins`` in order, and close them in reverse when the block ends.

    Each one's service is at ``app.plugins[name]`` while it is open. Raises PluginFailed,
    with the cause, for a plugin that cannot start, cannot stop, or whose own tasks fail;
    the others are closed all the same.
    """
    async with AsyncExitStack() as stack:
        for plugin in plugins:
            await stack.enter_async_context(_open_one(plugin, app))
        yield


@asynccontextmanager
async def _open_one(plugin: Plugin[Any], app: App) -> AsyncIterator[None]:
    try:
        block = _block_of(plugin, app)
        service = await block.__aenter__()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # application code
        await trio.lowlevel.checkpoint_if_cancelled()
        if plugin.of_setting and isinstance(error, FxtrioError):
            raise  # which names the setting: nobody has named a plugin
        raise PluginFailed(plugin.name, "could not start", error) from error
    app.plugins[plugin.name] = service
    try:
        yield
    except BaseException as body:
        app.plugins.pop(plugin.name, None)
        try:
            swallowed = await block.__aexit__(*sys.exc_info())
        except BaseException as error:
            # Cancelled from inside its own nursery: the failure is the plugin's, not the app's.
            if _failure_in(body) is None and _failure_in(error) is not None:
                raise PluginFailed(plugin.name, "failed while it ran", error) from error
            raise
        if not swallowed:
            raise
    else:
        app.plugins.pop(plugin.name, None)
        try:
            await block.__aexit__(None, None, None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            await trio.lowlevel.checkpoint_if_cancelled()
            raise PluginFailed(plugin.name, "could not stop", error) from error


def _block_of(plugin: Plugin[Any], app: App) -> AbstractAsyncContextManager[Any]:
    """Return the plugin's block. Raises TypeError when its ``open`` makes none."""
    block = plugin.open(app)
    if isinstance(block, AbstractAsyncContextManager):
        return block
    if inspect.iscoroutine(block):
        block.close()
    raise TypeError("open() returns no async context manager; put @asynccontextmanager above it")


def _failure_in(error: BaseException) -> BaseException | None:
    """Return what of an error is no cancellation."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error
