"""Tests on soft-RoCE: real programs and those of tests/programs, with and without warmverbs."""
