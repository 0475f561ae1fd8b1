"""A keep-alive HTTP client that costs next to nothing: what is measured is the service."""

import socket
from types import TracebackType
from typing import Self

_READ_BYTES = 1 << 18


class Client:
    """One connection. Not for use by several threads."""

    def __init__(self, host: str, port: int, key: str) -> None:
        """Connect.

        Raises:
            OSError: If nobody listens.
        """
        self._socket = socket.create_connection((host, port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"Host: {host}\r\nAuthorization: Bearer {key}\r\n"

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body."""
        return self._exchange(f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body."""
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return self._exchange(f"POST {path} HTTP/1.1\r\n{self._head}{head}\r\n".encode() + body)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        self._socket.sendall(request)
        reply = b""
        while b"\r\n\r\n" not in reply:
            reply += self._receive()
        head, _, body = reply.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        while len(body) < length:
            body += self._receive()
        return int(head[9:12]), body

    def _receive(self) -> bytes:
        received = self._socket.recv(_READ_BYTES)
        if not received:
            raise ConnectionError("the service hung up")
        return received
