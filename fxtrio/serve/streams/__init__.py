"""`@stream`: values of an async generator that a page, or any `EventSource`, reads by GET.

Begin with `endpoint`, which finds a stream and applies its guards; `sending` runs it.
"""
