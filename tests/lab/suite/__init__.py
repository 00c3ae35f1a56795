"""The lab suite: real programs and programs of our own, with and without warmverbs."""
