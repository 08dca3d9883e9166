"""Responses that are a stream of events: values of async generators, sent as they are yielded.

Begin with `generated`, which runs a generator; `writer` writes `text/event-stream`. Streamed
actions consist of both (`fxtrio.serve.actions.streaming`).
"""
