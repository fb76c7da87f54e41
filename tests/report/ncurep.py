# SPDX-License-Identifier: Apache-2.0
"""Composes report files of Nsight Compute, version 7, byte by byte; nothing here reads them.

A message is a list of fields: (number, value). An int is a varint, a float a fixed64 double, a
Float a fixed32 float, a str or bytes a text, a list a message. Raw bytes on the wire are Wire.
"""
import struct


class Float(float):
    """A 32-bit float."""


class Wire(bytes):
    """Bytes that stand as they are in place of a field's tag and value."""


ONE_BYTE = [bytes([number]) for number in range(0x80)]


def varint(number):
    if 0 <= number < 0x80:
        return ONE_BYTE[number]
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, Wire):
        return bytes(value)
    if isinstance(value, Float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = message(value) if isinstance(value, list) else \
        value.encode() if isinstance(value, str) else bytes(value)
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(fields):
    return b"".join(field(number, value) for number, value in fields)


def sized(data):
    return struct.pack("<I", len(data)) + data


# What a reader has to pass over: every wire type, also groups in groups.
UNKNOWN = [(900, 7), (901, 2.5), (902, Float(1)), (903, b"\xff\x00text"),
           (0, Wire(varint(904 << 3 | 3) + field(1, "in it") + varint(905 << 3 | 3) +
                    varint(905 << 3 | 4) + varint(904 << 3 | 4)))]


def value(kind, what):
    return [({"string": 1, "float": 2, "double": 3, "uint32": 4, "uint64": 5}[kind],
             Float(what) if kind == "float" else float(what) if kind == "double" else what)]


def metric(name_id, what=None, elements=()):
    fields = [(1, name_id)]
    if what is not None:
        fields.append((2, value(*what)))
    return fields + [(3, [(1, value(*an_id)), (2, value(*one))]) for an_id, one in elements]


PAYLOADS = {"uint64": 2, "int64": 3, "double": 4, "uint32": 5, "int32": 6, "float": 7}


def attributes(category=None, color=None, payload=None, text=None, handle=None):
    """`payload` is (kind, number); `handle` a registered message."""
    fields = [(1, 2)]
    if category is not None:
        fields.append((2, category))
    if color is not None:
        fields.append((3, [(1, 1), (2, color)]))
    if payload is not None:
        kind, number = payload
        number = Float(number) if kind == "float" else float(number) if kind == "double" else number
        fields.append((4, [(1, PAYLOADS[kind] - 1), (PAYLOADS[kind], number)]))
    if text is not None:
        fields.append((5, [(1, 1), (2, text)]))
    if handle is not None:
        fields.append((5, [(1, 3), (3, handle)]))
    return fields


def push(name=None, **more):
    fields = [(1, name)] if name is not None else []
    return fields + ([(2, attributes(**more))] if more else []) + [(3, 77)]


def start(an_id, name=None, tid=0, **more):
    fields = [(1, an_id)] + ([(2, name)] if name is not None else [])
    return fields + ([(3, attributes(**more))] if more else []) + [(4, 78), (5, tid)]


def domain(an_id, name=None, strings=()):
    return [(1, an_id)] + ([(2, name)] if name is not None else []) + \
        [(3, [(1, key), (2, text)]) for key, text in strings]


def state(domains=(), threads=(), start_end=(), default=0):
    """`threads`: (tid, [(domain, [push])]); `start_end`: (domain, [start])."""
    return [(1, one) for one in domains] + \
        [(2, [(1, tid)] + [(2, [(1, an_id)] + [(3, one) for one in ranges])
                           for an_id, ranges in piles]) for tid, piles in threads] + \
        [(3, [(1, an_id)] + [(3, one) for one in ranges]) for an_id, ranges in start_end] + \
        [(4, default)]


def result(name="kernel", tid=1, metrics=(), nvtx=None, context=1, stream=7, more=()):
    return [(1, tid), (4, 5), (5, "_Z" + name), (6, name), (7, name + "(int)")] + \
        [(13, one) for one in metrics] + [(14, 1234567890)] + \
        ([(21, nvtx)] if nvtx is not None else []) + [(22, context), (23, stream)] + list(more)


def block(results=(), sources=(), header=(), rest=b"", counts=None, size=None):
    payload = b"".join(sized(one) for one in sources) + \
        b"".join(sized(message(one)) for one in results) + rest
    counts = counts or (len(sources), len(results))
    head = [(1, counts[0]), (2, counts[1]), (5, len(payload) if size is None else size)]
    return sized(message(list(header) + head)) + payload


def session(pid=None, created=None, versions=()):
    return [(1, pid)] * (pid is not None) + [(2, created)] * (created is not None) + \
        [(8, [(1, provider), (2, version)]) for provider, version in versions]


def strings(*texts):
    return [(1, text) for text in texts]


def process(pid, host, name):
    return [(1, pid), (2, host), (3, name)]


def report(*blocks, version=7, magic=b"NVR\0", header=()):
    return magic + sized(message([(1, version)] + list(header))) + b"".join(blocks)
