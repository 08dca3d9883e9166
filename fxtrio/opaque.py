"""Records whose repr has nothing of what they hold."""


class Opaque:
    """The first base of a record that holds much, or a secret: a whole site, documents, a nonce.

    Tracebacks with local variables, such as those of error trackers, contain the repr of each.
    """

    __slots__ = ()

    __repr__ = object.__repr__
