"""The HTTP server alone, beside stock Hypercorn and uvicorn: ``python -m benchmarks.http``."""
