#!/usr/bin/env python3
"""Serves the functions that `remotes-hub conformance --client` calls (protocol/README.md, "Conformance").

Run it as: remotes-hub conformance --client -- python3 test/conformance/python/conformance_client.py
"""

import asyncio
import os
import sys

from remotes_client import Client, HubError

counts = {"count": 0, "waiting": 0}


def echo(args, call):
    """Gives back `value`."""
    return args.get("value")


def fail(args, call):
    """Fails with `message`."""
    raise RuntimeError(args["message"])


async def wait(args, call):
    """Waits `ms` milliseconds."""
    counts["waiting"] += 1
    try:
        await asyncio.sleep(args["ms"] / 1000)
        return "waited"
    finally:
        counts["waiting"] -= 1


def waiting(args, call):
    """How many calls of `wait` run."""
    return counts["waiting"]


def count(args, call):
    """How often this function has run."""
    counts["count"] += 1
    return counts["count"]


async def progress(args, call):
    """Tells 1 to `steps` as progress."""
    for step in range(1, args["steps"] + 1):
        await call.progress(step)
    return args["steps"]


def repeat(args, call):
    """Gives `text`, `times` times."""
    return args["text"] * args["times"]


async def main():
    async def call(args, context):
        """Calls another function through the hub."""
        return await client.call(args["remotename"], args["function"], args["args"])

    functions = [echo, fail, wait, waiting, count, progress, call, repeat]
    remotes = {
        "conformance": {function.__name__: function for function in functions},
        "conformance#1": {},
    }
    for remotename, served in remotes.items():
        served["name"] = lambda args, context, remotename=remotename: remotename
    client = Client(os.environ["REMOTES_HUB_URL"], os.environ["REMOTES_HUB_TOKEN"], remotes)
    await client.run()


try:
    asyncio.run(main())
except HubError as error:
    sys.exit(f"{error} ({error.code})")
except KeyboardInterrupt:
    pass
