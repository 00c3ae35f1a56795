"""The lab: runs a command where RDMA exists, in a virtual machine or on this one. See `tools/lab --help`."""
