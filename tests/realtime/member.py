"""A process that is a member of a channel, to be killed: ``python -m tests.realtime.member URL``.

It prints a line when it is there.
"""

from __future__ import annotations

import sys

import trio

from tests.realtime.stores import StoreUrl, joined, open_brokers


async def main(url: str) -> None:
    async with open_brokers(StoreUrl(url), 1) as [broker], joined(broker, member="ghost"):
        print("joined", flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, sys.argv[1])
