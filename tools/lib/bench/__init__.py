"""Benchmarks of warmverbs. See `tools/bench --help`."""
