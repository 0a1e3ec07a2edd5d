"""The processes that answer, a few: one that takes too long, or ends, is replaced."""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Mapping
from multiprocessing import get_context
from threading import Thread
from typing import Any

from matcalc.page.worker import work

SECONDS = 15.0
STARTING = 60.0
Answer = Mapping[str, Any]


def in_words(message: str) -> Answer:
    return {"error": {"message": message}}


class Worker:
    """One process, and the line to it."""

    def __init__(self, seconds: float) -> None:
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, seconds), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False

    def ask(self, question: bytes, seconds: float) -> Answer | None:
        """Return the answer; None where it does not come in time.

        Raises: EOFError, OSError for a process that ended.
        """
        if not self.is_ready:
            if not self.line.poll(STARTING):
                return None
            self.line.recv_bytes()
            self.is_ready = True
        self.line.send_bytes(question)
        if not self.line.poll(seconds):
            return None
        answer: Answer = json.loads(self.line.recv_bytes())
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


class Pool:
    """A few workers; `ask` waits for one that is idle."""

    def __init__(self, size: int = 2, seconds: float = SECONDS) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self.seconds = seconds
        self.workers = [Worker(seconds) for _ in range(size)]
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self.idle.put(worker)

    def ask(self, question: bytes) -> Answer:
        """Return the answer to a question; in words, where it takes too long or too much."""
        try:
            worker = self.idle.get(timeout=self.seconds)
        except queue.Empty:
            return in_words("The page is busy with earlier questions. Try again in a moment.")
        try:
            answer = worker.ask(question, self.seconds)
        except (EOFError, OSError):
            answer = in_words("This took more than the page can give, and was stopped. A shorter formula may do.")
        else:
            if answer is not None:
                self.idle.put(worker)
                return answer
            limit = f"{self.seconds:g} seconds"
            answer = in_words(f"This took longer than {limit}, and was stopped. The command line has no such limit.")
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
