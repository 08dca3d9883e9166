"""`python -m fxtrio`: the `fx` command."""

from fxtrio.cli import main

if __name__ == "__main__":
    main()
