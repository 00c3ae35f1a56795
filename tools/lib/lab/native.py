"""Runs a job on this machine itself, if it has an RDMA device or can make a software one."""

from .report import LabError


def run(job):
    raise LabError("--native is not there yet")
