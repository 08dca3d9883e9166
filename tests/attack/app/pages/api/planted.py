"""Deliberate mistakes for the tests of the attack; without ATTACK_PLANTED there are none."""

import logging
import os
import time

import watch


async def get(request):
    fault = request.query_params.get("fault") if "ATTACK_PLANTED" in os.environ else None
    if fault == "stall":
        end = time.thread_time() + 2 * watch.LONGEST
        while time.thread_time() < end:
            pass
    elif fault == "failure":
        raise LookupError("planted")
    elif fault == "error":
        logging.getLogger("fx.planted").error("planted")
    elif fault == "canary":
        return {"canary": watch.CANARY}
    elif fault == "breach":
        watch.seen_by(request, None)
    return {}
