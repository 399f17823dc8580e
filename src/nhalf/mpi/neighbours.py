"""Exit with 0 if a process may read its sibling's memory, as MPI libraries do, else with 3.

It runs as its own program, since it forks: `python -I -S neighbours.py`. Containers often forbid
process_vm_readv (seccomp, user namespaces, Yama), and some libraries notice that late.
"""

import ctypes
import os

_PR_SET_PTRACER = 0x59616D61
_BYTES = 8
_FORBIDDEN = 3


class _Span(ctypes.Structure):
    """The structure iovec of C."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def main() -> int:
    """Return 0 if reading works, 3 if it is forbidden."""
    source = ctypes.create_string_buffer(b"neighbou", _BYTES)
    ready_read, ready_write = os.pipe()
    done_read, done_write = os.pipe()
    sibling = os.fork()
    if sibling == 0:
        os.close(done_write)
        # Act as the sibling: allow all processes to read, signal it, stay until the pipe closes.
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(2**64 - 1), 0, 0, 0)
        os.write(ready_write, b"x")
        os.read(done_read, 1)
        os._exit(0)
    os.read(ready_read, 1)
    reader = os.fork()
    if reader == 0:
        # The same address is the same buffer in both children.
        target = ctypes.create_string_buffer(_BYTES)
        local = _Span(ctypes.addressof(target), _BYTES)
        remote = _Span(ctypes.addressof(source), _BYTES)
        read = ctypes.CDLL(None).process_vm_readv
        read.restype = ctypes.c_ssize_t
        got = read(sibling, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
        os._exit(0 if bool(got == _BYTES and target.raw == source.raw) else 1)
    _, status = os.waitpid(reader, 0)
    os.close(done_write)
    os.waitpid(sibling, 0)
    return 0 if status == 0 else _FORBIDDEN


if __name__ == "__main__":
    raise SystemExit(main())
