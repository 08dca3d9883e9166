"""What makes a run the same each time: the scheduler, threads, time, randomness and rejections.

Begin with `scheduler`. Whatever is private of Trio is in `trio_internals` and `timers`.
"""
