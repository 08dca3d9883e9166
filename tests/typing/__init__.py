"""What type checkers make of the public API: nothing here runs.

mypy and pyright read these modules (`nox -s types`). `assert_type` says what a call gives; a
comment that ignores an error says that there has to be one, since both report those in vain.
"""
