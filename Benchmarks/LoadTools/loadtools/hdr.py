"""The histograms in a result of errand bench: HdrHistogram V2, compressed, in Base64."""

import base64
import struct
import zlib

COMPRESSED, PLAIN = 0x1C849304, 0x1C849303


def decode(text):
    """The counts of a histogram by index."""
    data = base64.b64decode(text)
    cookie, size = struct.unpack_from(">iI", data)
    # Bits 4 to 7 are the size of a count. This format has no such size.
    if cookie & ~0xF0 != COMPRESSED:
        raise ValueError(f"the cookie is {cookie:#x}")
    data = zlib.decompress(data[8:8 + size])
    cookie, length = struct.unpack_from(">ii", data)
    if cookie & ~0xF0 != PLAIN:
        raise ValueError(f"the cookie within is {cookie:#x}")
    # After the header of 40 bytes come counts. A negative number stands for that many zeros.
    counts, index, place, end = {}, 0, 40, 40 + length
    while place < end:
        value, place = _number(data, place)
        if value < 0:
            index -= value
            continue
        if value:
            counts[index] = value
        index += 1
    return counts


def _number(data, place):
    """A ZigZag LEB128 number of at most 9 bytes."""
    value = 0
    for position in range(9):
        byte = data[place + position]
        if position == 8:
            value |= byte << 56
            break
        value |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            break
    return (value >> 1) ^ -(value & 1), place + position + 1


def add(histograms):
    out = {}
    for histogram in histograms:
        for index, count in histogram.items():
            out[index] = out.get(index, 0) + count
    return out
