"""What page files import. Every name here lives in `fxtrio`."""
