"""The demonstration. See `tools/demo --help`."""
