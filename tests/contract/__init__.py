"""The runtime API, rule by rule: `python -m tests.contract` prints which test shows which."""
