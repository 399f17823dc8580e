from nhalf.store.environment import flat


def test_lists_of_mappings_are_a_row_each() -> None:
    caches = [{"level": 1, "size_bytes": 49152, "ways": 12}, {"level": 2, "size_bytes": 2 << 20}]
    assert list(flat({"announced": caches, "cores": [0, 1]})) == [
        ("announced 1", "level 1, size 48 KiB, ways 12"),
        ("announced 2", "level 2, size 2 MiB"),
        ("cores", "0, 1"),
    ]
