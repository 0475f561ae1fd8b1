"""A model in a process of its own, so that it computes while this one does: threads of Python share one lock.

The two speak over a pipe. The child ends when this end of the pipe is gone, however that came about; when the child is
gone, the next text starts another one.
"""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_END_SECONDS = 5.0

_RUN = """
import runpy, sys
module, descriptor, *sys.path = sys.argv[1:]
sys.argv[1:] = [descriptor]
runpy.run_module(module, run_name="__main__")
"""
"""Runs a module as `python -m` does, with the path of this process: the child finds what its parent finds."""


class ChildModel:
    """A function from texts to unit vectors. For one thread.

    Blocks without holding the interpreter's lock.
    """

    def __init__(self, module: str) -> None:
        """Start the child, and wait until it has loaded its model.

        Args:
            module: Run as `python -m module N`; it calls `serve` with that number.

        Raises:
            RuntimeError: If it cannot load it.
        """
        self._module = module
        self._start()

    def __call__(self, texts: list[str]) -> Vectors:
        """Texts to (n, d) unit vectors, in order.

        Raises:
            RuntimeError: If the model fails, or no child can be had.
        """
        try:
            return self._asked(texts)
        except (EOFError, OSError):  # somebody ended it
            self.close()
            self._start()
        try:
            return self._asked(texts)
        except (EOFError, OSError) as error:
            raise RuntimeError("its process was ended again and again") from error

    def close(self) -> None:
        """End the child. Idempotent."""
        self._pipe.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, and a module of ours
                [sys.executable, "-c", _RUN, self._module, str(theirs.fileno()), *sys.path],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for this process, which then ends the other
            )
        try:
            self._received()
        except RuntimeError:
            self.close()
            raise
        except (EOFError, OSError):
            self.close()
            raise RuntimeError(f"its process ended with code {self._process.returncode}") from None

    def _asked(self, texts: list[str]) -> Vectors:
        self._pipe.send(texts)
        return self._received()

    def _received(self) -> Vectors:
        answer: Vectors | str = self._pipe.recv()
        if isinstance(answer, str):
            raise RuntimeError(answer)  # noqa: TRY004 - the type says that it failed, no type is wrong
        return answer


def serve(load: Callable[[], Callable[[list[str]], Vectors]], descriptor: int) -> None:
    """Load a model, and answer until the pipe is gone. Runs in the child."""
    with Connection(descriptor) as pipe, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            encode = load()
        except Exception as error:  # noqa: BLE001 - a boundary: whoever waits must hear of it
            pipe.send(str(error) or type(error).__name__)
            return
        pipe.send(np.empty((0, 0), np.float32))
        while True:
            pipe.send(_answer(encode, pipe.recv()))


def _answer(encode: Callable[[list[str]], Vectors], texts: list[str]) -> Vectors | str:
    try:
        return encode(texts)
    except Exception as error:  # noqa: BLE001 - likewise
        return str(error) or type(error).__name__
