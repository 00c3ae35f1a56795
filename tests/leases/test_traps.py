#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that diverge from their recording still get correct results.

Each case runs a program plainly, has the daemon learn another run of it, and runs it with a lease of that other run:
its output must be the same. The stand-in refuses what a mistake would cause: a page in two queues, a wrong state, an
unknown handle.
"""

import shutil
import subprocess

from support import bed, cases

RC = "move:init,all move:rtr,rts,all traffic"
UD = "qp:ud move:init,rtr,rts"
DCT, DCI = "qp:dct,srq move:init,rtr", "qp:dci move:init,rtr,rts"
END = "destroy:qps destroy:cqs"

# name: what it does, what it did when it was recorded (None: the same), how many words fail without warmverbs.
COURSES = {
    # The user index, which the device writes into completions, is the provider's lowest free one.
    "uidx_same": (f"open pd cq qp:rc,n=3 qp:ud {RC} {END}", None),
    "uidx_other_order": (f"open pd cq qp:ud qp:rc,n=3 {RC} {END}", "open pd cq qp:rc,n=3 qp:ud move:init,all"),
    "uidx_freed": (f"open pd cq qp:rc,n=3 destroy:qp=1 qp:rc qp:rc {RC} {END}", None),
    "uidx_freed_otherwise": (f"open pd cq qp:rc,n=3 destroy:qp=0 qp:rc qp:rc {RC} {END}",
                             "open pd cq qp:rc,n=3 destroy:qp=1 qp:rc qp:rc move:init,all"),
    # Doorbell records are the lowest free slots of a page.
    "doorbell_same": (f"open pd cq cq:depth=200 srq qp:rc,srq {RC} {END}", None),
    "doorbell_one_less": (f"open pd cq:depth=200 qp:rc {RC} {END}", "open pd cq cq:depth=200 qp:rc move:init"),
    "doorbell_one_more": (f"open pd cq cq:depth=200 qp:rc {RC} {END}", "open pd cq:depth=200 qp:rc move:init"),
    "doorbell_more_than_a_page": (f"open pd {'cq:depth=10 ' * 30} qp:rc,n=32 {RC}:rounds=2 {END}", None),
    # Which UAR page a queue pair gets depends on those before it.
    "uar_same": (f"open pd cq qp:rc,n=12 {RC}:rounds=2 {END}", None),
    "uar_fewer": (f"open pd cq qp:rc,n=3 {RC} {END}", "open pd cq qp:rc,n=8 move:init,all"),
    "uar_more": (f"open pd cq qp:rc,n=9 {RC}:rounds=2 {END}", "open pd cq qp:rc,n=3 move:init,all"),
    "uar_other_kinds_between": (f"open pd cq srq qp:rc qp:dci qp:rc qp:ud,n=3 {RC} {END}",
                                "open pd cq srq qp:rc qp:rc qp:ud,n=3 move:init,all"),
    # The address of a queue of no bytes means nothing.
    "size_0": (f"open pd cq srq qp:rc,srq,deaf qp:rc move:init,all move:rtr,rts,qp=0,peer=1"
               f" move:rtr,rts,qp=1,peer=0 traffic:from=1,to=0 {END}", None),
    "size_0_otherwise": (f"open pd cq srq qp:rc qp:rc,srq,deaf move:init,rtr,rts,qp=0,peer=1"
                         f" move:init,rtr,rts,qp=1,peer=0 traffic:from=0,to=1 {END}",
                         "open pd cq srq qp:rc,srq,deaf qp:rc move:init,all"),
    # Queues that wrap several times, in memory that the provider has cleared again.
    "wrapped": (f"open pd cq:depth=10 srq:depth=8 qp:rc,send=4,recv=4 qp:rc,srq,send=4 qp:uc,send=4,recv=4"
                f" qp:ud,send=4,recv=4 {RC}:rounds=300 {END}", None),
    "wrapped_dc": (f"open pd cq:depth=10,ex srq:depth=8 {DCT} qp:dci,send=4 move:init,rtr,rts traffic:dc,rounds=300"
                   f" {END}", None),
    # Equal sizes: the new queue is in the memory of an unadopted object, which must be destroyed first.
    "second_pin_cq": (f"open channel pd cq:channel,vector=1 qp:rc {RC} {END}",
                      "open channel pd cq:channel,vector=0 qp:rc move:init"),
    "second_pin_qp": (f"open pd cq qp:uc {RC} {END}", "open pd cq qp:rc move:init"),
    "second_pin_qps": (f"open pd cq qp:uc qp:rc qp:rc {RC} {END}", "open pd cq qp:rc,n=3 move:init,all"),
    "second_pin_srq": (f"open pd cq srq:depth=60 srq qp:rc,srq {RC} {END}",
                       "open pd cq srq srq qp:rc,srq move:init"),
    # Objects of another size, then of equal size.
    "create_diverges": (f"open pd cq:depth=3000 cq cq:depth=500 srq qp:rc,srq qp:ud {RC} {END}",
                        "open pd cq cq:depth=500 srq qp:rc,srq qp:ud move:init,all"),
    "create_diverges_last": (f"open pd cq qp:rc qp:rc,send=100 {RC} {END}", "open pd cq qp:rc qp:rc move:init,all"),
    "create_fewer": (f"open pd cq {END}", "open pd cq cq srq qp:rc,n=4 move:init,all"),
    "create_nothing": ("open close", "open pd cq srq qp:rc move:init"),
    "create_ex_for_plain": (f"open pd cq:ex qp:rc,ex {RC} {END}", "open pd cq qp:rc move:init"),
    # Moves.
    "ud_init": (f"open pd cq qp:ud query move:init,rtr,rts,qkey=0x1111 query traffic {END}",
                "open pd cq qp:ud move:init,rtr,rts,qkey=0x2222"),
    "ud_rts": (f"open pd cq qp:ud move:init,rtr query move:rts,psn=77 query traffic {END}", f"open pd cq {UD}"),
    "ud_stays_in_init": (f"open pd cq qp:ud move:init query {END}", f"open pd cq {UD}"),
    "ud_back_to_reset": (f"open pd cq {UD} move:reset query move:init,rtr,rts traffic {END}", f"open pd cq {UD}"),
    "ud_reset_early": (f"open pd cq qp:ud move:init move:reset query move:init,rtr,rts traffic {END}",
                       f"open pd cq {UD}"),
    "ud_error_early": (f"open pd cq qp:ud move:init move:err query {END}", f"open pd cq {UD}"),
    "dci_rtr": (f"open pd cq srq {DCT} qp:dci move:init,rtr,rts,mtu=2 query traffic:dc {END}",
                f"open pd cq srq {DCT} {DCI}"),
    "dci_rts": (f"open pd cq srq {DCT} qp:dci move:init query move:rtr query move:rts,timeout=10 query traffic:dc"
                f" {END}", f"open pd cq srq {DCT} {DCI}"),
    "dct_init": (f"open pd cq srq qp:dct,srq move:init,rtr,access=0 query {DCI} traffic:dc {END}",
                 f"open pd cq srq {DCT} {DCI}"),
    "dct_gid": (f"open pd cq srq qp:dct,srq move:init,rtr,gid=3 query {DCI} traffic:dc {END}",
                f"open pd cq srq {DCT} {DCI}"),
    "dct_mtu": (f"open pd cq srq {DCI} qp:dct,srq move:init query move:rtr,mtu=2 query traffic:dc {END}",
                f"open pd cq srq {DCI} {DCT}", 1),
    "dct_last_of_three": (f"open pd cq srq {DCT} qp:dct,srq move:init,rtr,gid=3 qp:rc {DCI} traffic:dc {END}",
                          f"open pd cq srq {DCT} {DCT} qp:rc {DCI}"),
    # Made again, it must get its old handle, though a lower one is free.
    "dct_above_a_hole": (f"open pd cq cq:depth=500 srq destroy:cq=1 qp:dct,srq,cq=0 move:init,rtr,gid=3 qp:dci,cq=0"
                         f" move:init,rtr,rts traffic:dc {END}",
                         "open pd cq cq:depth=500 srq qp:dct,srq,cq=0 move:init,rtr"),
    "rc_init": (f"open pd cq qp:rc move:init,access=0 query move:rtr,rts traffic {END}",
                "open pd cq qp:rc move:init,access=2"),
    # A query must answer the state that the program knows; for a DC target before RTR the kernel
    # answers none.
    "query_rc": (f"open pd cq qp:rc query move:init query move:rtr query move:rts query traffic {END}", None),
    "query_ud": (f"open pd cq qp:ud query move:init query move:rtr query move:rts query traffic {END}",
                 f"open pd cq {UD}"),
    "query_dci": (f"open pd cq qp:dci query move:init query move:rtr query move:rts query {END}",
                  f"open pd cq {DCI}"),
    "query_dct": (f"open pd cq srq qp:dct,srq move:init query move:rtr query {DCI} traffic:dc {END}",
                  f"open pd cq srq {DCT} {DCI}", 1),
    "query_dci_at_the_end": (f"open pd cq {DCI} query {END}", f"open pd cq {DCI}"),
    # Refused by the kernel in any case.
    "rtr_without_init_rc": (f"open pd cq qp:rc move:rtr {RC} {END}", "open pd cq qp:rc move:init", 1),
    "rtr_without_init_ud": (f"open pd cq qp:ud move:rtr query move:init,rtr,rts traffic {END}", f"open pd cq {UD}", 1),
    "rts_without_rtr_ud": (f"open pd cq qp:ud move:init move:rts query {END}", f"open pd cq {UD}", 1),
    "rtr_without_init_dct": (f"open pd cq srq qp:dct,srq move:rtr move:init,rtr {DCI} traffic:dc {END}",
                             f"open pd cq srq {DCT} {DCI}", 1),
    # Destroyed in another order, or too early.
    "destroy_cq_in_use": (f"open pd cq qp:rc destroy:cqs {RC} {END} destroy:pd close", "open pd cq qp:rc move:init",
                          1),
    "destroy_reversed": (f"open pd cq cq:depth=500 qp:rc,n=4 {RC} destroy:qp=3 destroy:qp=1 destroy:qp=0 destroy:qp=2"
                         " destroy:cq=0 destroy:cq=1 destroy:pd close",
                         "open pd cq cq:depth=500 qp:rc,n=4 move:init,all destroy:qps destroy:cqs destroy:pd close"),
    "destroy_before_use": ("open pd cq srq destroy:srq destroy:cqs destroy:pd close",
                           "open pd cq srq qp:rc,srq move:init"),
    "destroy_and_again": (f"open pd cq destroy:cqs cq destroy:cqs cq qp:rc destroy:qps qp:rc {RC} {END}",
                          "open pd cq qp:rc move:init"),
    # Commands that are not recorded.
    "resize_cq": (f"open pd cq qp:rc resize:depth=300 {RC} {END}", None, 1),
    "resize_cq_to_the_next": (f"open pd cq resize:depth=300 cq:depth=300 qp:rc {RC} {END}",
                              "open pd cq cq:depth=300 qp:rc move:init", 1),
    "mr_before": (f"open pd mr cq qp:rc {RC} destroy:mr {END} destroy:pd close", "open pd cq qp:rc move:init"),
    "mr_between": (f"open pd cq mr qp:rc destroy:mr {RC} {END} destroy:pd close",
                   "open pd mr cq qp:rc move:init"),
    "mr_recorded": (f"open pd mr cq qp:rc {RC} destroy:mr {END}", None),
    # Queues in memory that the program allocates.
    "own_allocators": (f"open allocators pd cq srq qp:rc,srq {RC} {END} allocators:say", None),
    "own_allocators_this_time": (f"open allocators pd cq srq qp:rc,srq {RC} {END} allocators:say",
                                 "open pd cq srq qp:rc,srq move:init"),
    "own_allocators_last_time": (f"open pd cq srq qp:rc,srq {RC} {END}",
                                 "open allocators pd cq srq qp:rc,srq move:init"),
    "own_allocators_late": (f"open pd cq allocators srq qp:rc,srq {RC} {END} allocators:say",
                            "open pd cq srq qp:rc,srq move:init"),
    "parent_domain": (f"open pd parent cq:ex srq qp:rc {RC} {END} allocators:say", None),
    "parent_domain_this_time": (f"open pd parent cq:ex srq qp:rc {RC} {END} allocators:say",
                                "open pd cq:ex srq qp:rc move:init"),
}

# Environment variables that tell libmlx5 where to allocate queues.
CHOICES = {
    "MLX_QP_ALLOC_TYPE": ("HUGE", "CONTIG", "PREFER_HUGE", "PREFER_CONTIG", "ALL", "ANON"),
    "MLX_CQ_ALLOC_TYPE": ("PREFER_HUGE", "CONTIG"),
    "MLX_SRQ_ALLOC_TYPE": ("PREFER_HUGE",),
    "HUGE_QP": ("y",),
    "HUGE_CQ": ("y",),
}

# Environment variables that change sizes, flags or the number of UAR pages.
PROVIDER = {
    "MLX5_CQE_SIZE": "128",
    "MLX5_SCATTER_TO_CQE": "0",
    "MLX5_SHUT_UP_BF": "1",
    "MLX5_TOTAL_UUARS": "24",
    "MLX5_NUM_LOW_LAT_UUARS": "8",
    "MLX5_QP_SIGNATURE": "1",
    "MLX5_SRQ_SIGNATURE": "1",
    "MLX5_SINGLE_THREADED": "1",
    "RDMAV_FORK_SAFE": "1",
}


# These diverge without another create or modify command than recorded.
CALM = {"create_fewer", "create_nothing", "query_dci_at_the_end", "destroy_cq_in_use", "destroy_reversed",
        "mr_before", "mr_between"}
# Their queues are not in a lease's memory.
OWN_MEMORY = {"own_allocators", "parent_domain"}


class Courses(bed.Case):
    def check(self, name, words, learned, failures=0):
        warm = self.compare(words, learned, failures)
        given = warm.done(bed.trace.KERNEL)
        repairs = [e for e in warm.events if e.kind in (bed.trace.ROLLBACK, bed.trace.PURGE)]
        if name in OWN_MEMORY:
            self.assertTrue(given)
        elif learned is None or name in CALM:
            self.assertEqual(given, [])
        else:
            self.assertTrue(given or repairs, "as recorded")


class Library(bed.Case):
    def make_other(self):
        """Makes a copy of the provider with another build-id, as another build would have."""
        provider = bed.pathlib.Path(self.daemon.status()["devices"][0]["provider"])
        notes = subprocess.run(["readelf", "-n", provider], capture_output=True, text=True, check=True).stdout
        build_id = bytes.fromhex(notes.partition("Build ID: ")[2].split()[0])
        content = provider.read_bytes()
        self.assertEqual(content.count(build_id), 1)
        # Programs take the provider from the folder beside their libibverbs.
        beside = self.folder / "other-build"
        (beside / "libibverbs").mkdir(parents=True)
        shutil.copy(provider.parent.parent / "libibverbs.so.1", beside)
        copy = beside / "libibverbs" / provider.name
        copy.write_bytes(content.replace(build_id, bytes(byte ^ 0xff for byte in build_id)))
        return {"LD_LIBRARY_PATH": str(beside)}

    def test_other_build(self):
        """A lease fits only the build of the provider that was recorded."""
        program = shutil.which("ibv_devinfo")
        if not program:
            self.skipTest("ibv_devinfo is not installed")
        plain = self.run_plain("-v", program=program)
        self.learn("-v", program=program)
        self.run_leased("-v", program=program)
        before = {r["key"]["provider"] for r in self.daemon.recipes(self.name)}
        other = self.make_other()
        self.daemon.await_ready(self.name)
        hits = self.daemon.recipes(self.name)[0]["counters"]["hits"]
        warm = self.run_warm("-v", program=program, env=other)
        self.assertEqual((warm.leased, warm.shape()), (0, plain.shape()), warm.errors)
        self.assertGreater(self.daemon.recipes(self.name)[0]["counters"]["hits"], hits, "it was offered none")

        # After that it is recorded again, and has leases of its own.
        for _ in cases.attempts(free=1):
            if len(self.daemon.recipes(self.name)) > 1:
                break
            self.run_warm("-v", program=program, env=other)
        self.daemon.await_ready(self.name)
        leased = self.run_leased("-v", program=program, env=other)
        self.assertEqual(leased.shape(), plain.shape())
        self.assertNotEqual({r["key"]["provider"] for r in self.daemon.recipes(self.name)}, before)


    def test_longer_answers(self):
        """Each version of the provider asks for answers of its own length, and gets all of them."""
        words = "open at:opened attributes pd cq qp:rc move:init"
        longer = f"longer {words}"
        plain = {w: self.run_plain(w) for w in (words, longer)}
        asks = {"QUERY_ADAPTER": 1}
        for learned, run in ((words, longer), (longer, words)):
            with self.subTest(run=run):
                name = "from_" + learned.split()[0]
                self.learn(learned, name=name)
                warm = self.run_leased(run, name=name)
                self.assertEqual(warm.shape(), plain[run].shape())
                self.assertEqual({n: c for n, c in warm.marks["opened"].items() if n in asks}, asks)


class Memory(bed.Case):
    def test_contents_are_what_the_device_saw(self):
        """The provider clears queues that the device has already: their bytes must not change by this."""
        words = (f"open pd look cq:depth=300 cq:ex srq:depth=50 qp:rc,srq,n=2 qp:ud,recv=7 {DCI} {DCT} move:init,all"
                 " compare")
        self.learn(words)
        warm = self.run_leased(words)
        # The last "move" repeats the moves of two queue pairs, so it fails without warmverbs, too.
        self.assertEqual([line.split()[0] for line in warm.failures], ["move:init,all"], warm.lines)
        self.assertNotIn("create_cq", warm.done(bed.trace.KERNEL))
        self.assertNotIn("create_qp", warm.done(bed.trace.KERNEL))

    def test_async_event_and_its_acknowledgement(self):
        """The daemon's tokens in events become the program's objects, and destroy counts the events."""
        words = "open pd cq qp:rc,n=2 at:made async:qp=0 destroy:qps destroy:cqs destroy:pd close"
        self.learn("open pd cq qp:rc,n=2")
        program = self.start(words, True)
        program.reach("made")
        bed.ctl("event", program.remarks("qp")[0], 4)  # communication established
        warm = program.finish()
        self.assertEqual((warm.status, warm.failures, warm.leased), (0, [], 1), warm.errors)
        self.assertIn("async:qp=0 ok event 4 mine", warm.lines)

    def test_nothing_stays_when_a_program_ends(self):
        words = "open pd channel cq:channel srq qp:rc,srq,n=4 move:init,all at:ready"
        self.learn(words)
        for ending in ("exit", "kill", "close"):
            with self.subTest(ending):
                course = words + " destroy:qps destroy:cqs close" * (ending == "close")
                self.daemon.await_ready(self.name)
                program = self.start(course, True)
                program.reach("ready")
                leased = bed.ctl("objects")
                self.assertGreater(leased["uar"], 0)
                if ending == "kill":
                    program.process.kill()
                    program.process.wait()
                else:
                    self.assertEqual(program.finish().leased, 1)
                self.await_only_ready_leases()

    def await_only_ready_leases(self):
        """Waits until pooled leases hold all objects of the device."""
        def only_ready():
            before = self.daemon.status()["use"]["leases"]
            objects = bed.ctl("objects")
            after = self.daemon.status()["use"]["leases"]
            return objects["kept_by_mappings"] == 0 and before == after == objects["ufiles"] == objects["contexts"]
        bed.until(only_ready, f"no objects but of leases: {bed.ctl('objects')}")

    def await_rest(self):
        """Waits until the daemon builds no lease, of the recipes of other cases neither."""
        def at_rest():
            status = self.daemon.status()
            ready = sum(recipe["pool"]["ready"] for recipe in status["recipes"])
            return bed.pools.are_full(status["recipes"]) and status["use"]["leases"] == ready
        bed.until(at_rest, "all leases are built")

    def test_daemon_maps_nothing_of_the_device(self):
        """While it builds a lease, it maps the memory that it fills."""
        words = "open pd cq srq qp:rc,n=4"
        self.learn(words)
        self.await_rest()
        maps = bed.pathlib.Path(f"/proc/{self.daemon.pid}/maps").read_text(encoding="ascii", errors="replace")
        self.assertNotRegex(maps, "memfd:(warmverbs|standin)")


class Environment(bed.Case):
    words = "open pd cq srq qp:rc,srq qp:rc,n=5 qp:ud move:init,rtr,rts,all traffic destroy:qps destroy:cqs"

    def test_chosen_memory(self):
        """A lease would have other memory than the user chose, so the preload asks for none."""
        self.learn(self.words)
        self.daemon.await_ready(self.name)
        for variable, values in CHOICES.items():
            for value in values:
                with self.subTest(f"{variable}={value}"):
                    env = {variable: value}
                    accepted = self.daemon.status()["recipes"][0]["counters"]
                    plain = self.run_plain(self.words, env=env)
                    warm = self.run_warm(self.words, env=env)
                    self.assertEqual(warm.shape(), plain.shape(), warm.errors)
                    self.assertEqual((warm.leased, warm.adopted), (0, []))
                    self.assertEqual(self.daemon.status()["recipes"][0]["counters"], accepted)

    def test_provider_settings(self):
        """Leases are not chosen by them; commands that differ go to the kernel."""
        for variable, value in PROVIDER.items():
            with self.subTest(f"{variable}={value}"):
                env, name = {variable: value}, variable.lower()
                plain = self.run_plain(self.words, env=env)
                self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
                self.learn(self.words, name=name)
                warm = self.run_leased(self.words, env=env, name=name)
                self.assertEqual(warm.shape(), plain.shape(), warm.errors)
                self.assertEqual("get_context" in warm.done(bed.trace.KERNEL), "UUARS" in variable)
                # What the daemon learns from that run fits both.
                for other in (env, {}, env):
                    warm = self.run_warm(self.words, env=other, name=name)
                    self.assertEqual(warm.shape(), plain.shape(), warm.errors)


def case(*args):
    def run(self):
        self.check(*args)
    return run


def add_courses():
    for name, course in COURSES.items():
        setattr(Courses, f"test_{name}", case(name, *course))


add_courses()
if __name__ == "__main__":
    bed.main()
