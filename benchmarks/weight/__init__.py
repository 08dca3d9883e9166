"""What a browser loads for a page, of fxtrio and of others: `python -m benchmarks.weight`."""
