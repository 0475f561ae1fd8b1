"""Measures the running service over HTTP. `make bench`; docs/performance.md explains the figures."""
