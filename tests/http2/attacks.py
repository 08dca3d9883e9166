"""The attacks by name: those that take a moment, and those that wait for a limit to pass."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from . import exchanges, floods
from .servers import Target

Attack = Callable[[Target], Awaitable[list[str] | None]]


def _named(*attacks: Attack) -> dict[str, Attack]:
    return {attack.__name__: attack for attack in attacks}


QUICK = _named(
    floods.ping_flood,
    floods.settings_flood,
    floods.large_settings,
    floods.empty_data_flood,
    floods.priority_flood,
    floods.priority_chain,
    floods.priority_of_itself,
    floods.continuation_flood,
    floods.continuation_of_nothing,
    floods.header_bomb,
    floods.many_headers,
    floods.large_header,
    floods.bad_requests,
    floods.odd_requests,
    floods.frames_out_of_place,
    floods.truncated,
    exchanges.leaves_while_it_is_sent_to,
    exchanges.resets_while_it_is_sent_to,
    exchanges.leaves_while_it_is_waited_for,
    exchanges.resets_while_it_is_waited_for,
    exchanges.goodbye_within_a_request,
    exchanges.unread_bodies,
    exchanges.body_after_the_answer,
    exchanges.large_bodies,
    exchanges.mismatched_length,
    exchanges.thousand_streams,
    exchanges.thousand_requests,
    exchanges.failing_applications,
    exchanges.websockets,
    exchanges.messages_behind_a_rejection,
    exchanges.websockets_left,
    exchanges.websockets_with_garbage,
    exchanges.large_messages,
    floods.big_table,
    floods.odd_upgrades,
)
"""Made one after the other, so that a trace tells whose it is."""

PATIENT = _named(
    floods.rapid_reset,
    floods.silence,
    floods.pings_without_requests,
    exchanges.closed_windows,
    exchanges.unread,
    exchanges.slow_bodies,
    exchanges.unread_pongs,
    floods.shaken_hands,
)
"""Made together."""
