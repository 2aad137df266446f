# SPDX-License-Identifier: GPL-3.0-or-later
"""bind_symbols_inside.py LIBRARY: sets DT_SYMBOLIC in an ELF library, in place.

The OpenBLAS that we ship exports some names without its prefix, and in a process that has another
LAPACK its own calls to them would go there. With DT_SYMBOLIC they stay inside.
"""

import struct
import sys
from pathlib import Path

PT_DYNAMIC = 2
DT_NULL = 0
DT_SYMBOLIC = 16
DT_RELACOUNT = 0x6FFFFFF9  # only speeds up the loader: may be given up for another tag


def find_dynamic_section(image: bytes) -> tuple[int, int]:
    """Offset and number of entries of the dynamic section."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("not an ELF library for 64-bit little-endian machines")
    (header_offset,) = struct.unpack_from("<Q", image, 0x20)
    header_size, header_count = struct.unpack_from("<HH", image, 0x36)
    for index in range(header_count):
        start = header_offset + index * header_size
        (kind,) = struct.unpack_from("<I", image, start)
        if kind == PT_DYNAMIC:
            (offset,) = struct.unpack_from("<Q", image, start + 0x08)
            (size,) = struct.unpack_from("<Q", image, start + 0x20)
            return offset, size // 16
    raise SystemExit("no dynamic section")


def set_symbolic(image: bytearray) -> None:
    offset, count = find_dynamic_section(image)
    tags = [struct.unpack_from("<Q", image, offset + 16 * index)[0] for index in range(count)]
    end = tags.index(DT_NULL)
    if DT_SYMBOLIC in tags[:end]:
        return
    if end + 1 < count and tags[end + 1] == DT_NULL:
        place = end
    elif DT_RELACOUNT in tags[:end]:
        place = tags.index(DT_RELACOUNT)
    else:
        raise SystemExit("no room for DT_SYMBOLIC")
    struct.pack_into("<QQ", image, offset + 16 * place, DT_SYMBOLIC, 0)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    image = bytearray(path.read_bytes())
    set_symbolic(image)
    path.write_bytes(image)
