"""Records of memory, made by hand."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.events import Event, memory

CPU = (0, -1)


#: `units/memory_curve_*`: time, device type, address, bytes, allocated, reserved
CURVE_RECORDS = [
    *[(1, 0, 1, 4, 4, 0), (2, 1, 11, 400, 400, 512), (20, 0, 1, -4, 0, 0), (22, 1, 11, -400, 0, 512)],
    *[(100, 0, 2, 8000, 8000, 0), (105, 1, 12, 5000, 5000, 10240), (106, 1, 13, 3000, 8000, 10240)],
    *[(200, 0, 2, -8000, 0, 0), (205, 1, 12, -5000, 3000, 10240), (300, 0, 3, 4, 4, 0), (400, 0, 4, 16, 20, 0)],
    *[(401, 1, 14, 1024, 4024, 10240), (499, 1, 15, 4, 4028, 10240), (500, 0, 5, 4000, 4020, 0)],
    *[(501, 1, 13, -3000, 1028, 10240), (502, 1, 15, -4, 1024, 10240), (600, 0, 4, -16, 4004, 0)],
    *[(700, 0, 7, 80, 4084, 0), (800, 0, 3, -4, 4080, 0), (900, 0, 7, -80, 4000, 0), (905, 0, 5, -4000, 0, 0)],
    *[(906, 1, 14, -1024, 0, 10240)],
]


def curve_events() -> list[Event]:
    return [
        memory(t, size, place, total, reserved, (kind, 0)) for t, kind, place, size, total, reserved in CURVE_RECORDS
    ]


records = st.lists(st.tuples(st.integers(0, 1), st.integers(-1, 3), st.integers(-2, 2)), max_size=40)
