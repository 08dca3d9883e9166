"""The defects that `benchmarks.mutants` plants, and the simulations that find them."""

from __future__ import annotations

import attrs

JOBS = "test_invariants.test_jobs_that_were_accepted_run_or_are_named"
TRANSACTIONS = "test_invariants.test_acknowledged_transactions_are_in_the_database"
MEMBERS = "test_invariants.test_members_get_what_was_published_while_they_were_there_in_order"
CLOSED = "test_invariants.test_a_value_that_a_generator_yields_after_its_close_is_not_sent"
LEAVING = "test_invariants.test_a_member_that_leaves_waits_for_nothing"
TURNS = "test_invariants.test_each_transaction_has_its_turn"
KILLED = "test_channels.test_members_of_a_killed_process_leave_a_channel_that_continues"
SHARED = "test_accounts.test_a_session_that_several_use_is_over_for_all_of_them"
STREAMS = "test_invariants.test_streams_end_with_their_readers"
SLOW_READERS = "test_channels.test_a_slow_reader_misses_nothing_or_is_closed_with_1013"
CUT_OFF = "test_channels.test_no_message_is_lost_between_processes_that_are_cut_off"
PRESENCE = "test_channels.test_processes_agree_on_who_is_there"
CACHE = "test_cache.test_a_page_is_not_older_than_the_change_that_was_acknowledged"
STALE = "test_cache.test_a_stale_page_is_sent_and_revalidated"
OTHER_CACHE = "test_cache.test_other_processes_learn_of_a_change"
DURABLE = "test_jobs.test_jobs_of_acknowledged_orders_run"
TWO_WORKERS = "test_jobs.test_jobs_run_on_another_process"
SCHEDULE = "test_schedules.test_a_schedule_runs_once_each_time"
SESSIONS = "test_accounts.test_a_session_is_over_after_logout_and_after_another_password"
GUESSES = "test_accounts.test_guesses_at_the_same_time_gain_nothing"
RATES = "test_limits.test_no_more_requests_than_allowed_pass"
BODIES = "test_limits.test_bodies_keep_within_their_budget"


@attrs.frozen
class Mutant:
    """A defect."""

    name: str
    module: str
    """Below ``fxtrio``."""

    before: str
    """What is replaced, once in the module."""

    after: str
    test: str
    """The simulation that finds it, below ``tests.simulation.runtime``."""


MUTANTS = (
    Mutant(
        "dropped jobs are not named",
        "tasks.queue",
        'log.warning("Dropped at shutdown before they could run: %s", dropped)',
        "pass",
        JOBS,
    ),
    Mutant(
        "dropped jobs are not counted",
        "tasks.queue",
        "self._cancelled += names.total()",
        "pass",
        JOBS,
    ),
    Mutant(
        "cancelled jobs are not named",
        "tasks.queue",
        'context.run(log.warning, "Job %s was cancelled: %s", name_of(func), reason)',
        "pass",
        JOBS,
    ),
    Mutant(
        "leaving a channel can be cancelled",
        "realtime.subscriptions",
        "        with trio.move_on_after(CLOSE_TIMEOUT, shield=True) as limit:\n",
        "        with trio.move_on_after(CLOSE_TIMEOUT) as limit:\n"
        "            await trio.lowlevel.checkpoint()\n",
        MEMBERS,
    ),
    Mutant(
        "the last member leaves its channel behind",
        "realtime.subscriptions",
        "            del self._topics[name]\n",
        "            pass\n",
        MEMBERS,
    ),
    Mutant(
        "a membership is noted after a wait",
        "realtime.subscriptions",
        "        self._joined = self._calling = True\n"
        "        try:\n"
        "            await self.broker.subscribe(self.name, self.subscriber)\n",
        "        try:\n"
        "            await self.broker.subscribe(self.name, self.subscriber)\n"
        "            await trio.lowlevel.checkpoint()\n"
        "            self._joined = self._calling = True\n",
        MEMBERS,
    ),
    Mutant(
        "the end of a channel does not wake its writer",
        "realtime.send_buffer",
        "                self._start = None  # which refers to this\n            self._wake()\n",
        "                self._start = None  # which refers to this\n",
        LEAVING,
    ),
    Mutant(
        "dropped messages still count as unsent",
        "realtime.send_buffer",
        "        while self._frames:\n            self._pop(self._frames.popleft())\n"
        "        self.finish(unsubscribed=unsubscribed)\n",
        "        self._frames.clear()\n        self.finish(unsubscribed=unsubscribed)\n",
        SLOW_READERS,
    ),
    Mutant(
        "a full outbox drops the message",
        "realtime.subscriptions",
        "                    one.deliver(frame)\n",
        "",
        SLOW_READERS,
    ),
    Mutant(
        "a message that finds no room at once is dropped",
        "realtime.subscriptions",
        "            await self.deliver_to_lagging(name, frame, lagging)\n",
        "            pass\n",
        SLOW_READERS,
    ),
    Mutant(
        "live messages overtake the backlog",
        "realtime.stores.store_broker",
        "            self._backlogs[name].append(frame)\n            return\n",
        "            pass\n",
        "test_channels.test_slow_readers_of_two_processes_get_messages_in_order",
    ),
    Mutant(
        "a message arrives live and from the log",
        "realtime.stores.subscription",
        "        elif ident > track.last:\n            track.last = ident\n",
        "        else:\n            track.last = ident\n",
        CUT_OFF,
    ),
    Mutant(
        "what was missed is not read",
        "realtime.stores.subscription",
        "        if reported or newest != track.last or track.seen > track.last:\n",
        "        if reported:\n",
        CUT_OFF,
    ),
    Mutant(
        "a lost connection leaves channels live",
        "realtime.stores.subscription",
        "        for track in self._tracks.values():\n            track.behind = True\n",
        "        pass\n",
        CUT_OFF,
    ),
    Mutant(
        "other processes are not told who has left",
        "realtime.stores.store_presence",
        "            await self._backend.notify(name, "
        "pack(News(False, RemoteMember(self._epoch, member))))\n",
        "",
        PRESENCE,
    ),
    Mutant(
        "members of killed processes stay",
        "realtime.stores.store_presence",
        "                await self._sweep()\n",
        "                pass\n",
        KILLED,
    ),
    Mutant(
        "outdated data is cached",
        "serve.cache.response_cache",
        "            if self._under_way.get(revalidation.key) is revalidation:\n"
        "                self._forget(revalidation)\n                self._settle(revalidation)\n",
        "            if True:\n"
        "                self._forget(revalidation)\n                self._settle(revalidation)\n",
        CACHE,
    ),
    Mutant(
        "those who wait for a page are not woken",
        "serve.cache.response_cache",
        "                self._settle(revalidation)\n            revalidation.finish()\n",
        "                self._settle(revalidation)\n",
        STALE,
    ),
    Mutant(
        "a stale page is never replaced",
        "serve.cache.response_cache",
        "            self._start(key, page, representation, background=True)\n",
        "            pass\n",
        STALE,
    ),
    Mutant(
        "changes are not announced at once",
        "serve.cache.invalidation",
        "            self._overflowed = True\n        self._wake.set()\n",
        "            self._overflowed = True\n            self._wake.set()\n",
        OTHER_CACHE,
    ),
    Mutant(
        "a failed transaction is committed",
        "db.transaction",
        "            if error is None:\n                await trio.lowlevel.checkpoint_if",
        "            if True:\n                await trio.lowlevel.checkpoint_if",
        TRANSACTIONS,
    ),
    Mutant(
        "an action has no transaction",
        "serve.actions.transact",
        "                async with attempt:\n"
        "                    result = checked(await _unredirected(run, draft))\n",
        "                result = checked(await _unredirected(run, draft))\n",
        TRANSACTIONS,
    ),
    Mutant(
        "a connection that is returned wakes nobody",
        "db.pool",
        "        if not (self._first.unpark() or self._queue.unpark()):\n"
        "            self._lent -= 1\n",
        "        self._lent -= 1\n",
        TURNS,
    ),
    Mutant(
        "an atomic job ends in a transaction of its own",
        "jobs.running.execution",
        "                await declared.function(*args, **kwargs)\n"
        "                # In its own transaction: what it wrote is committed with its end, "
        "or neither is.\n"
        "                if not await self.store.finish(job.worker, [job.id], self.now()):\n"
        "                    raise _ClaimLost\n",
        "                await declared.function(*args, **kwargs)\n"
        "            if not await self.store.finish(job.worker, [job.id], self.now()):\n"
        "                raise _ClaimLost\n",
        DURABLE,
    ),
    Mutant(
        "jobs of killed processes are not taken over",
        "jobs.running.workers",
        "            if dead or self.store.database.alone:",
        "            if self.store.database.alone:",
        DURABLE,
    ),
    Mutant(
        "a job is claimed whoever has it",
        "jobs.lanes",
        "        \" where one.state = 'waiting' and one.crashes < 2\"\n",
        "        \" where one.state in ('waiting', 'running') and one.crashes < 2\"\n",
        TWO_WORKERS,
    ),
    Mutant(
        "a job that fails is not tried again",
        "jobs.running.execution",
        "        again = job.attempts <= declared.retries\n        trimmed_error",
        "        again = False\n        trimmed_error",
        DURABLE,
    ),
    Mutant(
        "what a shutdown cuts short is not given back",
        "jobs.running.claims",
        '        self.counts["returned"] += await self.store.give_back(me, but=alive)\n',
        "",
        DURABLE,
    ),
    Mutant(
        "each process records each time of a schedule",
        "jobs.store",
        " where fx_ticks.tick < excluded.tick returning name",
        " returning name",
        SCHEDULE,
    ),
    Mutant(
        "sessions are cached after their end",
        "plugins.auth.accounts",
        "            self.session_cache.forget()\n            self.sockets.end(",
        "            self.sockets.end(",
        SESSIONS,
    ),
    Mutant(
        "a query that began before a logout is cached",
        "plugins.auth.sessions.session_cache",
        "        if looked_up is not None and forgotten == self._forgotten:",
        "        if looked_up is not None:",
        SHARED,
    ),
    Mutant(
        "two changes replace the same password",
        "plugins.auth.storage.sql_storage",
        '                " where id = $2 and password_hash = coalesce($3, password_hash)",\n',
        '                " where id = $2 and coalesce($3, $3) is $3",\n',
        SESSIONS,
    ),
    Mutant(
        "a session begins with the former password",
        "plugins.auth.storage.sql_storage",
        "            if await self.database.value(self._named(known), session.user_id) != proof:\n"
        "                return False\n",
        "",
        SESSIONS,
    ),
    Mutant(
        "guesses are counted after they were made",
        "plugins.auth.attempts",
        "            return verdict.marks, verdict.wait\n",
        "            return {}, verdict.wait\n",
        GUESSES,
    ),
    Mutant(
        "a rejected request counts as passed",
        "policy.rate_limit",
        "                if not found.passed:\n",
        "                if not found.passed and not found.remaining:\n"
        "                    continue\n"
        "                if not found.passed:\n",
        RATES,
    ),
    Mutant(
        "the bytes of a body are not returned",
        "serve.request.bodies.spool",
        "            self._bodies.release(self._claimed, self._share)\n",
        "            pass\n",
        BODIES,
    ),
    Mutant(
        "the budget of bodies is not looked at",
        "serve.request.bodies.spool",
        "        if self.used + size > self.capacity:\n            raise BodiesFull\n",
        "",
        BODIES,
    ),
    Mutant(
        "a stream outlives its reader",
        "serve.event_streams.open_streams",
        "        self._open.discard(self)\n",
        "        if not raised[0]:\n            self._open.discard(self)\n",
        STREAMS,
    ),
    Mutant(
        "the end of a generator does not wake its reader",
        "serve.event_streams.generated",
        "            step = None\n            self._wake_reader()\n",
        "            step = None\n",
        STREAMS,
    ),
    Mutant(
        "a value that was taken back is sent",
        "serve.event_streams.generated",
        "        self._wake_generator()\n        return batch\n",
        "        return batch\n",
        CLOSED,
    ),
)
