"""The lab: runs a command where RDMA exists. See `tools/lab --help`."""
