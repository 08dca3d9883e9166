"""Imports a project in a process of its own, so that nothing it does reaches the caller.

A task is a module with a function ``answer(order, write)``: it imports the project and writes
bytes. Begin with `process`, which waits for the answer. `start` begins a process for a task,
`child` is what runs in it, and `fork_server` forks a process for each order from one that stays.
"""
