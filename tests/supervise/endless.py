"""A module whose import does not end."""

import sys
import time

print("the import has begun", file=sys.stderr, flush=True)
time.sleep(3600)
