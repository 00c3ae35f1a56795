# SPDX-License-Identifier: BSD-2-Clause
"""Steps of Slurm: with the plugin their tasks do what they do without, and get leases."""

from support import slurm

from . import more_programs, resources
from .cases_programs import check_adopted, command, pingpong, warm_at_last
from .report import Case, Skip, require, require_equal

TOPIC = "slurm"
MPI = {"OMPI_MCA_pml": "ucx", "UCX_TLS": "rc,self", **more_programs.ENVIRONMENT}


def in_cluster(run, nodes=1):
    """The case run(lab, srun, names): the function srun starts a step, and each of the nodes has a slurmd."""
    def with_cluster(lab):
        plugin = lab.build.folder / "src/slurm/spank_warmverbs.so"
        if not plugin.exists():
            raise Skip("the plugin was not built: apt install libslurm-dev, then meson setup --reconfigure")
        if reason := slurm.why_not():
            raise Skip(reason)
        folder = lab.folder / "slurm"
        folder.mkdir()
        folder.chmod(0o755)
        cluster = slurm.Cluster(folder, f"required {plugin} library={lab.build.preload} socket={lab.socket}",
                                nodes)

        def srun(words, warm, *options, **environment):
            """The plugin, not the environment of srun, has the library preloaded."""
            step = [slurm.find("srun"), f"--warmverbs={'yes' if warm else 'no'}", *options, *words]
            return lab.start(step, warm, cluster.environment({"LD_PRELOAD": "", **environment}), words[0])
        try:
            run(lab, srun, cluster.nodes)
        finally:
            cluster.stop()
    return with_cluster


def pair(lab, srun, nodes):
    """Server and client are steps of their own, on the first node and on the last."""
    programs = pingpong("rc")

    def run(warm):
        server = srun(command(programs.server), warm, f"--nodelist={nodes[0]}")
        require(resources.until(lambda: programs.ready(server) or server.process.poll() is not None, 20),
                "the server does not listen")
        client = srun(command(programs.client), warm, f"--nodelist={nodes[-1]}")
        return [server.wait(), client.wait()]

    warm_at_last(lab, run, [0, 0], programs.kernel)


def mpi(lab, srun, _):
    """Two ranks are the tasks of one step, on one node: on two, a third of the runs without warmverbs hang."""
    if reason := slurm.why_no_mpi():
        raise Skip(reason)

    def run(warm):
        words = command(["NPopenmpi", "-u", "64", "-n", "5", "-o", "/dev/null"])
        return [srun(words, warm, "--ntasks=2", "--mpi=pmix", **MPI).wait()]

    def outcome(results):
        """The ranks print side by side."""
        status, lines = results[0].shape()
        return status, sorted(lines)

    plain = outcome(run(False))
    require_equal(plain[0], 0, "exit status without warmverbs")
    lab.start_daemon()
    require_equal(outcome(lab.run_answered(lambda: run(True))), plain, "result of a recorded step")
    results = lab.run_leased(lambda: run(True))
    require_equal(outcome(results), plain, "result of a step with leases")
    check_adopted(results, {})


def cases():
    return [Case(TOPIC, "ibv_rc_pingpong, each a step", in_cluster(pair)),
            Case(TOPIC, "ibv_rc_pingpong, each a step, on two nodes", in_cluster(pair, nodes=2)),
            Case(TOPIC, "NPopenmpi, two tasks of a step", in_cluster(mpi))]
