"""A process of subscribers: ``python -m tests.outages.audience URL COUNT``.

It prints ``joined``, and at the end of its standard input what each subscriber got, as a
line of JSON: a list of messages (``[publisher, number]``) and of losses that were reported to it
(``null``), in order.
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack

import trio

from fxtrio.config import RealtimeConfig
from fxtrio.realtime import channel
from fxtrio.realtime.open import open_broker
from tests.realtime.client import Client, make_app

CHANNEL = "outages"


async def main(url: str, count: int) -> None:
    async with AsyncExitStack() as stack:
        settings = RealtimeConfig(broker=url)
        app = make_app(await stack.enter_async_context(open_broker(settings)))
        clients = [Client(app, raw=True, query=b"fx-missed") for _ in range(count)]
        for client in clients:
            await stack.enter_async_context(channel(await client.open(), CHANNEL))
        print("joined", flush=True)
        stream = trio.lowlevel.FdStream(0)
        await stream.receive_some()
        for client in clients:
            heard = [json.loads(text) for text in client.received]
            print(json.dumps([one if isinstance(one, list) else None for one in heard]))
        sys.stdout.flush()


if __name__ == "__main__":
    trio.run(main, sys.argv[1], int(sys.argv[2]))
