"""Brokers over several processes and machines: a shared store, Redis or PostgreSQL."""
