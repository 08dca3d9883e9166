"""Libraries that applications use, each cancelled in the middle of its work, many times."""
