"""Manages the few processes that answer questions; one that takes too long, or ends, is replaced."""

from __future__ import annotations

import json
import os
import queue
import time
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from threading import Thread
from typing import Any

from matcalc.page.worker import work

SECONDS = 15.0
STARTING = 60.0
LEAST = 2.0
"""The least seconds for a question, even if nobody waits for it any more: a new process takes as long to start."""
Answer = Mapping[str, Any]


def as_error(message: str) -> Answer:
    return {"error": {"message": message}}


class Worker:
    """One process, and the connection to it."""

    def __init__(self, seconds: float) -> None:
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, seconds), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False

    def ask(self, question: bytes, seconds: float, is_gone: Callable[[], bool]) -> Answer | None:
        """Return the answer; None if it does not come in time, or nobody waits for it any more.

        Raises: EOFError, OSError for a process that ended.
        """
        if not self.is_ready:
            if not self.line.poll(STARTING):
                return None
            self.line.recv_bytes()
            self.is_ready = True
        self.line.send_bytes(question)
        until = time.monotonic() + seconds
        waited = min(LEAST, seconds)
        while not self.line.poll(waited):
            if time.monotonic() > until or is_gone():
                return None
            waited = 0.2
        answer: Answer = json.loads(self.line.recv_bytes())
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


class Pool:
    """A few workers; `ask` waits for an idle one."""

    def __init__(self, size: int = 2, seconds: float = SECONDS) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self.seconds = seconds
        self.workers = [Worker(seconds) for _ in range(size)]
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)

    def ask(self, question: bytes, is_gone: Callable[[], bool] = lambda: False) -> Answer:
        """Return the answer to a question, or an error message if it takes too long or needs too much memory.

        The question is stopped if `is_gone` returns true: then nobody waits for the answer.
        """
        try:
            worker = self.idle.get(timeout=self.seconds)
        except queue.Empty:
            return as_error("The page is busy with earlier questions. Try again in a moment.")
        if is_gone():
            self.idle.put(worker)
            return as_error("")
        try:
            answer = worker.ask(question, self.seconds, is_gone)
        except (EOFError, OSError):
            answer = as_error("This took more than the page can give, and was stopped. A shorter formula may do.")
        else:
            if answer is not None:
                self.idle.put(worker)
                return answer
            limit = f"{self.seconds:g} seconds"
            answer = as_error(f"This took longer than {limit}, and was stopped. The command line has no such limit.")
        Thread(target=self._replace, args=(worker,), daemon=True).start()
        return answer

    def _replace(self, worker: Worker) -> None:
        worker.stop()
        self.workers.remove(worker)
        new = Worker(self.seconds)
        self.workers.append(new)
        self.idle.put(new)

    def close(self) -> None:
        for worker in self.workers:
            worker.stop()
