# SPDX-License-Identifier: BSD-2-Clause
"""A server finds queue pairs made ahead, and serves as without them."""

import subprocess
import time

from support import keepers, trace, wire
from support.cases import attempts

from .lab import same
from .report import Case, Failure, require, require_equal

TOPIC = "spares"

# Threads, rounds of each, and the clients that it serves in a round (tests/programs/server.c).
SERVERS = [
    ("one thread", (1, 2, 40)),
    ("threads that fork", (4, 3, 12)),
]


def serves(threads, rounds, clients):
    def test(lab):
        words, options = [lab.build.program("server")], {"SERVER": f"{threads} {rounds} {clients}"}
        plain = lab.run(words, env=options)
        require(plain.status == 0, "the server fails without warmverbs")
        lab.start_daemon()
        lab.record(words, {"SERVER": "1 1 1"})
        for _ in attempts():  # a server that is faster than the thread that makes spares finds none
            [warm] = lab.run_leased(lambda: [lab.run(words, warm=True, env=options)])
            same(plain, warm, "exact")
            require(trace.opens(warm.events, trace.ADOPTED), "there was no lease")
            if trace.made(warm.events, trace.SPARE):
                return
        raise Failure("there were no spares")
    return test


class Words:
    """A program that does the words that it is told (tests/programs/words)."""

    def __init__(self, lab, words, env):
        self._process = subprocess.Popen([lab.build.program("words"), *words.split(), "listen"], env=env, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.qp_num = self.finish()

    def finish(self):
        """Returns the number of the queue pair that was made last, if any was."""
        self.said = []
        for line in self._process.stdout:
            if line == "@listening\n":
                break
            self.said.append(line.strip())
        require(not any(" failed" in line for line in self.said), f"{self.said}")
        numbers = [int(line.split()[2]) for line in self.said if line.startswith("# qp ")]
        return numbers[-1] if numbers else None

    def begin(self, words):
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()

    def do(self, words):
        self.begin(words)
        return self.finish()

    def end(self):
        self._process.communicate("\n", timeout=60)


MAKE = "qp:rc move:init"
EARLY_S = 0.2
PSN, PEER_PSN = 0xfffffe, 0x123456  # of a pair: the first that the server sends, and that the client does


def start_server(lab, fake):
    """A server whose daemon is @fake, and the keeper that knows how it connects its queue pairs."""
    for _ in attempts():
        server = Words(lab, "open pd cq", {**lab.environment(True), "WARMVERBS_SOCKET": str(fake.socket)})
        for _ in range(8):
            server.do(f"{MAKE} move:rtr,rts")
        if fake.has_keeper():
            keeper = fake.keeper()
            for _ in range(8):
                server.do(f"{MAKE} move:rtr,rts")
                if keeper.connected:
                    return server, keeper
        server.end()
    raise Failure("the server says nothing of its connections")


def make_pair(server, keeper, client):
    """Returns the number of the server's end, which the server's program has now."""
    known = keeper.connected[0]
    keeper.say(keepers.ASK, pair=1, shape=known.shape, gid=known.gid, peer_gid=known.gid, qp_num=client.qp_num, psn=PSN,
               peer_psn=PEER_PSN)
    made = keeper.hear()
    require_equal(made.word, keepers.MADE, f"no pair: {made}")
    client.do(f"move:rtr,rts,dest={made.qp_num},rq={PSN},psn={PEER_PSN}")
    keeper.say(keepers.CLAIMED, pair=1)
    keeper.say(keepers.DROP, pair=99)  # It has heard that, too, once it answers this.
    keeper.hear()
    require_equal(server.do(MAKE), made.qp_num, "the queue pair is another one")
    return made.qp_num


def talk(server, client):
    """Three messages arrive, for which receives were posted before the server's queue pair was put back."""
    for fill in (1, 2, 3):
        client.do(f"push:fill={fill}")
    server.do("pull:n=3")
    require_equal(server.said, ["pull:n=3 ok 1 2 3"], "messages")


def to_partner(more):
    def test(_lab, server, client, _peer):
        server.do(f"receives:n=3 move:rtr,rts,dest={client.qp_num},psn=7,rq=9{more}")
        talk(server, client)
    return test


def to_another(lab, server, _client, peer):
    other = Words(lab, f"open pd cq {MAKE}", lab.environment(False))
    server.do(f"receives:n=3 move:rtr,rts,dest={other.qp_num},psn=7,rq=9")
    other.do(f"move:rtr,rts,dest={peer},psn=9,rq=7")
    talk(server, other)
    other.end()


def early(_lab, server, client, _peer):
    """What is sent before the server accepts it is sent again, and arrives then, whatever the server asks for."""
    server.do("receives:n=3")
    client.begin("push:fill=1 push:fill=2 push:fill=3")
    time.sleep(EARLY_S)
    server.do(f"move:rtr,rts,dest={client.qp_num},psn=7,rq=9,mtu=2")
    client.finish()
    server.do("pull:n=3")
    require_equal(server.said, ["pull:n=3 ok 1 2 3"], "messages")


PAIRS = [
    ("as it is connected ahead", to_partner("")),
    ("put back for other attributes", to_partner(",mtu=2")),
    ("put back for another peer", to_another),
    ("messages come before it is connected", early),
]


def paired(test):
    def run(lab):
        lab.start_daemon()
        folder = lab.folder / "fake"
        folder.mkdir()
        fake = keepers.Daemon(folder, (lab.socket.parent / "providers").read_text(), wire.PAIRS)
        server, keeper = start_server(lab, fake)
        client = Words(lab, f"open pd cq {MAKE}", lab.environment(False))
        test(lab, server, client, make_pair(server, keeper, client))
        client.end()
        server.end()
        fake.stop()
    return run


def cases():
    yield from (Case(TOPIC, name, serves(*options)) for name, options in SERVERS)
    yield from (Case(TOPIC, f"pair, {name}", paired(test)) for name, test in PAIRS)
