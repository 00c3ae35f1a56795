#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tests/tools/test_lab.sh [--one-machine]
# Tests tools/lab itself: output, environment, exit statuses, signals, RDMA and systemd in its guest, and two machines.
# Takes some minutes under emulation; tools/test runs it with --one-machine, which leaves out what boots two.
# Exit status: 0 passed, 1 failed, 77 skipped.
# shellcheck disable=SC2016  # The scripts in single quotes are for the guest's shell.
set -u

source_root=$(cd "$(dirname "$0")/../.." && pwd)
lab=$source_root/tools/lab
folder=$(mktemp -d)
trap 'jobs -p | xargs -r kill; rm -rf "$folder"' EXIT
# Normally below the host's /tmp: the guest must see a folder there, too.
cd "$folder" || exit 1

number=0
failed=0

# is NAME EXPECTED ACTUAL: one test, a TAP line.
is() {
	number=$((number + 1))
	if [[ $2 == "$3" ]]; then
		echo "ok $number - $1"
	else
		failed=$((failed + 1))
		echo "not ok $number - $1"
		printf '%s\n' "expected: $2" "got: $3" "status of the last run: ${status-}" | sed 's/^/# /'
		tail -n 5 stderr | cut -c 1-200 | sed 's/^/# stderr: /'
	fi
}

# like NAME PATTERN TEXT: part of the text matches the shell pattern.
like() {
	local text=$3
	[[ $text == *$2* ]] && text=$2
	is "$1" "$2" "$text"
}

# in_lab [OPTION...] -- COMMAND...: sets $status and writes the files stdout and stderr. With one CPU an emulated
# machine boots faster; other runs below have as many as the lab gives.
in_lab() {
	"$lab" run --quiet --cpus 1 "$@" >stdout 2>stderr
	status=$?
}

# What the last run said on stderr, but for a boot that the lab began anew, as it may on a busy machine.
said() {
	if grep -q '; starting it anew$' stderr; then
		sed '/^lab: the end of console.log:/,/; starting it anew$/d' stderr
	else
		cat stderr
	fi
}

same() {
	cmp -s "$1" "$2" && echo same || echo different
}

wait_for() {
	local tries=0
	until "$@" || ((++tries > 1800)); do
		sleep 0.1
	done
}

test_status() {
	in_lab -- sh -c 'kill -TERM $$'
	is "death by a signal is 128 + its number" 143 "$status"
	is "a signal adds no output" "" "$(cat stdout; said)"
	in_lab -- no-such-command
	is "a missing command is 127" 127 "$status"
}

test_streams() {
	in_lab -- sh -c 'cat; echo to-out; echo to-err >&2; echo by-name >/dev/stderr; exit 42' <"$lab"
	is "exit status is passed on" 42 "$status"
	is "stdout has stdout only, and stdin is empty" to-out "$(cat stdout)"
	is "stderr has stderr only" $'to-err\nby-name' "$(said)"
	"$lab" run -- sh -c 'echo fine; echo lost >&2' >stdout <&- 2>&-
	is "stdin and stderr need not be open" "0 fine" "$? $(cat stdout)"
}

# What a command sees and leaves behind, in one boot.
test_surroundings() {
	head -c 1000000 /dev/urandom >random
	WARMVERBS_TEST="two  words" BENCH_RUNS=3 OTHER=x LAB=other in_lab --out results -- \
		sh -c 'cat random; cat random >&2; cat random >$LAB_OUT/copy
			echo new >new; { cat new; pwd; } >$LAB_OUT/folder
			echo "$(id -u) $(uname -n) $LAB $LAB_DEVICE $HOME
$WARMVERBS_TEST $BENCH_RUNS ${OTHER-unset}" >$LAB_OUT/names'
	is "1 MB of bytes arrives on stdout" same "$(same random stdout)"
	is "1 MB of bytes arrives on stderr" same "$(same random stderr)"
	is "a file in LAB_OUT stays" same "$(same random results/copy)"
	is "the caller's folder is there and writable" $'new\n'"$(pwd -P)" "$(cat results/folder)"
	is "a file written there does not stay" no "$(test -e new && echo yes || echo no)"
	is "the log of the console is kept" yes "$(test -s results/console.log && echo yes || echo no)"
	is "user, host name and environment" "0 lab vm rxe0 $HOME
two  words 3 unset" "$(cat results/names)"
}

# The TSC of an emulated CPU is at times measured wrongly while the guest boots.
test_clock() {
	grep -q "(emulated" first-stderr || return
	is "an emulated machine does not tell the time by its TSC" hpet "$(cat first-stdout)"
}

test_rdma() {
	in_lab --out rdma -- sh -c '
		stat -c "%a %n" /dev/infiniband/* >$LAB_OUT/nodes
		modprobe nvme; echo $? >$LAB_OUT/modprobe
		ibv_rc_pingpong -d "$LAB_DEVICE" -g 1 -n 50 & server=$!
		until ss -ltn | grep -q :18515; do sleep 0.1; done
		ibv_rc_pingpong -d "$LAB_DEVICE" -g 1 -n 50 localhost && wait $server'
	is "ibv_rc_pingpong runs against itself" 0 "$status"
	like "over the IPv4 GID" "GID ::ffff:" "$(cat stdout)"
	is "all users may use the device" "666 /dev/infiniband/rdma_cm
666 /dev/infiniband/uverbs0" "$(cat rdma/nodes)"
	is "modprobe finds the kernel's other modules" 0 "$(cat rdma/modprobe)"
}

# In the guest, so that the test does not change the machine that it runs on.
test_native() {
	in_lab -- sh -c '$0 run --quiet --native -- sh -c '\''echo "$LAB $LAB_DEVICE"; exit 3'\''; echo $?
		ip link delete dummy0
		$0 run --native -- ibv_devices | grep -o rxe0
		ls /sys/class/infiniband
		ip -brief link | grep lab0' "$lab"
	is "--native uses the device that is there, or adds one and removes it again" "native rxe0
3
rxe0" "$(cat stdout)"
}

test_count() {
	in_lab --count-instructions -- nproc
	is "--count-instructions has one CPU" "0 1" "$status $(cat stdout)"
	in_lab --count-instructions --cpus 2 -- true
	is "--count-instructions refuses two CPUs" 125 "$status"
}

test_systemd() {
	in_lab --systemd -- sh -c 'ps -o comm= 1; systemctl is-system-running --wait; systemctl is-active multi-user.target
		systemctl show --value --property=Names "$(ps -o unit= $$)"; uname -n; ls /sys/class/infiniband
		systemctl list-units --type=service --state=running --plain --no-legend | cut -d " " -f 1
		journalctl --quiet --unit=lab.service --output=cat
		printf to-err >&2; exit 42'
	is "--systemd: exit status" 42 "$status"
	is "--systemd: stderr has stderr only" to-err "$(said)"
	is "--systemd: process 1, its state, the unit, the host name, the device, services, the journal" "systemd
running
active
lab.service
lab
rxe0
lab.service
systemd-journald.service
Started lab.service - Command of the lab." "$(cat stdout)"
	in_lab --systemd --native -- true
	is "--systemd refuses --native" 125 "$status"
}

# One boot for what COMMAND sees of two machines, since they take a while.
test_two_machines() {
	in_lab --nodes 2 --out two -- sh "$folder/two.sh"
	is "two machines: exit status" 42 "$status"
	is "two machines: what lab-peer passes on" "lab 10.77.0.1 10.77.0.2
peer 10.77.0.2 10.77.0.1
status 7
missing 127
terminated 9
killed
several 1 2 3
partitioned yes, up 1, healed
paused: silent, resumed 0
off 125
rebooted: peer" "$(cat stdout)"
	is "two machines: stderr of the second" to-err "$(head -n 1 stderr)"
	is "two machines: the second one's file in LAB_OUT stays" there "$(cat two/file)"
	is "two machines: both consoles are kept" yes \
		"$(test -s two/console.log -a -s two/console-peer.log && echo yes || echo no)"
	is "two machines: none is left" no "$(machine_of two && echo yes || echo no)"
	in_lab --nodes 3 -- true
	is "--nodes 3 is refused" 125 "$status"
	in_lab --nodes 2 --native -- true
	is "--nodes 2 refuses --native" 125 "$status"
	in_lab --nodes 2 --count-instructions -- true
	is "--nodes 2 refuses --count-instructions" 125 "$status"
}

# Runs in the first of two machines.
write_two_machines() {
	cat >two.sh <<-'END'
		lab-peer run sh -c 'echo to-err >&2; echo there >$LAB_OUT/file; exit 7' && exit 1
		status=$?
		names='echo $(uname -n) $LAB_ADDRESS $LAB_PEER_ADDRESS'
		sh -c "$names"
		lab-peer run sh -c "$names"
		echo "status $status"
		lab-peer run no-such-command 2>/dev/null
		echo "missing $?"

		lab-peer run sh -c 'trap "exit 9" TERM; touch $LAB_OUT/up; while :; do sleep 0.1; done' &
		until [ -e $LAB_OUT/up ]; do sleep 0.1; done
		kill $!
		wait $!
		echo "terminated $?"
		lab-peer run sh -c 'echo $$ >$LAB_OUT/pid; exec sleep 1000' &
		until [ -s $LAB_OUT/pid ]; do sleep 0.1; done
		kill -9 $!
		while lab-peer run kill -0 $(cat $LAB_OUT/pid) 2>/dev/null; do :; done
		echo killed
		for i in 3 2 1; do
			lab-peer run sh -c "sleep $i; echo $i >>\$LAB_OUT/order" &
			all="$all $!"
		done
		wait $all
		echo several $(sort $LAB_OUT/order)

		reach() {
			timeout 20 python3 -c 'import os, socket
		try: socket.create_connection((os.environ["LAB_PEER_ADDRESS"], 1), 4)
		except ConnectionRefusedError: pass' 2>/dev/null
		}
		lab-peer partition
		partitioned=yes
		! reach || partitioned=no
		lab-peer run true
		lab-peer heal
		until reach; do :; done
		echo "partitioned $partitioned, up $(cat /sys/class/net/eth0/carrier), healed"

		lab-peer run sh -c 'touch $LAB_OUT/$0; while [ ! -e $LAB_OUT/stop ]; do sleep 0.1; echo; done' begun >$LAB_OUT/beats &
		until [ -s $LAB_OUT/beats ]; do sleep 0.1; done
		lab-peer pause
		sleep 1
		before=$(stat -c %s $LAB_OUT/beats)
		sleep 2
		[ $before != $(stat -c %s $LAB_OUT/beats) ] || echo -n "paused: silent, "
		touch $LAB_OUT/stop
		lab-peer resume
		wait $!
		echo "resumed $?"

		lab-peer run sleep 1000 2>/dev/null &
		sleep 1
		lab-peer kill
		wait $!
		echo "off $?"
		lab-peer reboot
		echo "rebooted: $(lab-peer run uname -n)"
		exit 42
	END
}

test_timeout() {
	in_lab --timeout 20 -- sh -c 'echo started; sleep 1000'
	is "a command that takes too long is 124" 124 "$status"
	is "its output until then is there" started "$(cat stdout)"
	in_lab --timeout 2 -- yes
	is "also if it prints for ever" 124 "$status"
}

test_panic() {
	in_lab -- sh -c 'echo c >/proc/sysrq-trigger'
	is "a guest that panics is 125" 125 "$status"
	like "the panic is shown" "Kernel panic" "$(cat stderr)"
}

# The log's path in its arguments identifies the machine of a run.
machine_of() {
	pgrep -f "path=$folder/$1/console" >/dev/null
}

started() {
	grep -q started "$1"
}

test_signal() {
	local name=$1 expected=$2 pid
	"$lab" run --quiet --out "$name" "${@:3}" -- sh -c 'echo started; sleep 1000' >started-"$name" 2>stderr &
	pid=$!
	wait_for started started-"$name"
	is "$name: the machine runs before" yes "$(machine_of "$name" && echo yes || echo no)"
	kill -s "$name" "$pid"
	wait "$pid" 2>/dev/null
	is "$name: exit status" "$expected" $?
	# After SIGKILL the kernel ends the machine, a moment later.
	wait_for eval '! machine_of "$name"'
	is "$name: no machine is left" no "$(machine_of "$name" && echo yes || echo no)"
}

test_waiting() {
	local first
	"$lab" run --quiet -- sh -c 'echo started; sleep 5' >started-first 2>&1 &
	first=$!
	wait_for started started-first
	"$lab" run -- echo second >stdout 2>stderr
	is "a second run waits for the first" "0 second" "$? $(cat stdout)"
	like "it names the process that it waits for" "process $first" "$(cat stderr)"
	wait "$first"
	is "the first run is not disturbed" 0 $?
}

if ! command -v qemu-system-x86_64 >/dev/null; then
	echo "1..0 # SKIP qemu-system-x86_64 is not installed; run tools/install-deps"
	exit 77
fi
clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
if ! "$lab" run -- cat "$clock" >first-stdout 2> >(tee first-stderr >&2); then
	echo "Bail out! the lab cannot run anything"
	exit 1
fi

test_status
test_streams
test_surroundings
test_clock
test_rdma
test_native
test_count
test_systemd
test_timeout
test_panic
test_signal INT 130
test_signal TERM 143
test_waiting
if [[ ${1-} != --one-machine ]]; then
	write_two_machines
	test_two_machines
	test_signal KILL 137 --nodes 2
fi
echo "1..$number"
((failed == 0))
