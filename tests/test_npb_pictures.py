"""Pictures of what kernels communicate, drawn from what tests count."""

from __future__ import annotations

import npb_pictures


def test_neighbours_are_where_the_decomposition_puts_them() -> None:
    assert {peer for rank, peer in npb_pictures.sent_bytes("lu") if rank == 5} == {1, 4, 6, 9}
    assert {peer for rank, peer in npb_pictures.sent_bytes("cg") if rank == 1} == {0, 3, 4}
    assert len(npb_pictures.sent_bytes("ft")) == 16 * 15


def test_every_kernel_with_messages_has_a_picture() -> None:
    drawn = npb_pictures.figures()
    assert drawn.count("<svg") == len(npb_pictures.KERNELS) == 7
    assert "LU: rank 0 sends rank 1 192 KiB" in drawn
