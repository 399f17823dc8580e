"""Plain TCP between nodes: `serve PORT` until killed, `send HOST PORT BYTES TIMES` until the
receiver has said after each transfer that it has all."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading

CHUNK = bytes(1 << 16)


def receive(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        while head := connection.recv(8, socket.MSG_WAITALL):
            (left,) = struct.unpack("<q", head)
            while left > 0:
                left -= len(connection.recv(min(left, 1 << 20)))
            connection.sendall(b"!")


def serve(port: int) -> None:
    with socket.create_server(("", port)) as server:
        print("ready", flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=receive, args=(connection,), daemon=True).start()


def send(host: str, port: int, size_bytes: int, times: int) -> None:
    with socket.create_connection((host, port)) as connection:
        for _ in range(times):
            connection.sendall(struct.pack("<q", size_bytes))
            for start in range(0, size_bytes, len(CHUNK)):
                connection.sendall(CHUNK[: size_bytes - start])
            assert connection.recv(1) == b"!"


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        send(sys.argv[2], *(int(word) for word in sys.argv[3:]))
