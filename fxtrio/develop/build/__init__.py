"""The project during development: its pages, compiled and checked as they change."""
