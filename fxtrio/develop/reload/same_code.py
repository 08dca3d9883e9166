"""Whether two versions of a function say the same, wherever in their files they stand."""

from __future__ import annotations

from types import CodeType


def is_same(one: object, other: object) -> bool:
    """Return whether both are functions of the same text, or the same object.

    What they call may be other than before: that is not looked at.
    """
    if one is other:
        return True
    inner = getattr(one, "__wrapped__", None), getattr(other, "__wrapped__", None)
    if inner != (None, None) and not is_same(*inner):
        return False
    codes = getattr(one, "__code__", None), getattr(other, "__code__", None)
    if not (isinstance(codes[0], CodeType) and isinstance(codes[1], CodeType)):
        return False
    same_defaults = all(
        repr(getattr(one, name, None)) == repr(getattr(other, name, None))
        for name in ("__defaults__", "__kwdefaults__")
    )
    return same_defaults and _bare(codes[0]) == _bare(codes[1])


def _bare(code: CodeType) -> CodeType:
    """Return code without its places, and that of the functions in it."""
    constants = (_bare(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(
        co_firstlineno=1, co_linetable=b"", co_filename="", co_consts=tuple(constants)
    )
