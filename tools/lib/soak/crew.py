# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that run beside each other, each in a thread."""

import threading
import traceback

from .wrong import Wrong


class Crew:
    """wrong: [(action, text)]."""

    def __init__(self, at_once):
        self._at_once = at_once
        self.wrong = []
        self.forks = self.kills = self.done = 0
        self._running = {}  # job: thread
        self._lock = threading.Lock()

    def has_room(self):
        return len(self._running) < self._at_once

    def is_idle(self):
        return not self._running

    def give(self, job):
        thread = threading.Thread(target=self._run, args=(job,), daemon=True)
        with self._lock:
            self._running[job] = thread
        thread.start()

    def excuse_all(self):
        """The device goes: what runs now may fail."""
        for job in self._jobs():
            job.excused = True

    def kill_excused(self):
        """What uses objects that ended might wait for ever."""
        for job in self._jobs():
            if job.excused:
                job.abort()

    def abort(self):
        for job in self._jobs():
            job.abort()

    def _jobs(self):
        with self._lock:
            return list(self._running)

    def _run(self, job):
        text = None
        try:
            job.run()
        except Wrong as error:
            text = str(error)
        except Exception:  # of the soak itself: nothing may be overlooked
            text = traceback.format_exc()
        with self._lock:
            if text:
                self.wrong.append((job.action, text))
            self.forks += job.forks
            self.kills += job.kills
            self.done += 1
            del self._running[job]
