# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace as its trace processor does: the packets by perfetto.proto, and what they
mean. Everything that the format demands is checked on the way."""
import json
import os
import re
import struct

from lib import equal

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto.proto")
CLEARED, NEEDS_STATE = 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
NO_MERGING = 2
FLOW_IN = 1


def messages(path=SCHEMA):
    """{message: {number: (name, type, whether it repeats)}}"""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"message (\w+) \{(.*?)\n\}", file.read(), re.DOTALL)
    return {name: {int(number): (field, kind, label == "repeated") for label, kind, field, number in
                   re.findall(r"(optional|repeated) (\w+) (\w+) = (\d+);", body)}
            for name, body in found}


MESSAGES = messages()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            equal(byte != 0 or shift == 0, True, "no longer than it must be")
            return value, at
        shift += 7


def one_value(data, at, wire, kind):
    if wire == 1 and kind == "fixed64":
        return int.from_bytes(data[at:at + 8], "little"), at + 8
    if wire == 1:
        equal(kind, "double")
        return struct.unpack_from("<d", data, at)[0], at + 8
    value, at = varint(data, at)
    if wire == 2:
        end = at + value
        equal(end <= len(data), True, "inside of its message")
        part = data[at:end]
        return (part.decode() if kind == "string" else decode(part, kind)), end
    equal((wire, kind in ("uint64", "uint32", "int64", "int32", "bool")), (0, True))
    if kind in ("int64", "int32"):
        value -= (value >> 63) << 64
    return value == 1 if kind == "bool" else value, at


def decode(data, message):
    """{field: value}, a list for what repeats. Unknown fields and types are a fault."""
    fields, found, at = MESSAGES[message], {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind, repeats = fields[tag >> 3]
        value, at = one_value(data, at, tag & 7, kind)
        if repeats:
            found.setdefault(name, []).append(value)
        else:
            equal(name in found, False, name)
            found[name] = value
    return found


def packets(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):  # one after another: a trace may be large
        equal(data[at], 0x0A)
        length, at = varint(data, at + 1)
        yield decode(data[at:at + length], "TracePacket")
        at += length
    equal(at, len(data))


class Track:
    def __init__(self, description, tracks):
        self.name = description.get("name")
        self.uuid = description["uuid"]
        self.parent = tracks[description["parent_uuid"]] if "parent_uuid" in description else None
        self.process, self.thread = description.get("process"), description.get("thread")
        self.counter, self.domain = description.get("counter"), description.get("description")
        self.merging = description.get("sibling_merge_behavior")
        self.open = []

    def owner(self, what):
        """The process or the thread that it belongs to."""
        return getattr(self, what) or (self.parent.owner(what) if self.parent else None)


class Trace:
    """slices: (track, depth, name, start, end, category, arguments); instants, which have no depth
    and no end; samples: (track, time, value, category); flows: (name, name), from and to."""

    def __init__(self, path):
        self.tracks, self.slices, self.instants, self.samples = {}, [], [], []
        self.clocks, self.cleared, events = {}, 0, []
        self.flows, self.flow_begins = [], {}
        names = None
        for number, packet in enumerate(packets(path)):
            equal(packet["trusted_packet_sequence_id"], 1)
            equal(packet.get("first_packet_on_sequence", False), number == 0)
            if packet["sequence_flags"] & CLEARED:
                self.cleared += 1
                names = {name: {} for name, _, _ in MESSAGES["InternedData"].values()}
            for table, entries in packet.get("interned_data", {}).items():
                names[table].update((entry["iid"], entry["text"]) for entry in entries)
            for clock in packet.get("clock_snapshot", {}).get("clocks", ()):
                self.clocks[clock["clock_id"]] = clock["timestamp"]
            if "track_descriptor" in packet:
                track = Track(packet["track_descriptor"], self.tracks)
                equal(track.uuid in self.tracks, False, "described once")
                self.tracks[track.uuid] = track
            if "track_event" in packet:
                equal(packet["sequence_flags"], NEEDS_STATE)
                equal(packet["timestamp"] < 2 ** 63, True)
                events.append((packet["timestamp"], self.event(packet["track_event"], names)))
        self.ordered = all(a[0] <= b[0] for a, b in zip(events, events[1:]))
        for at, event in sorted(events, key=lambda pair: pair[0]):  # stable
            self.take(at, event)
        for track in self.tracks.values():
            equal(track.open, [], "every range ends")

    def event(self, event, names):
        category = [names["event_categories"][iid] for iid in event.get("category_iids", ())]
        name = names["event_names"][event["name_iid"]] if "name_iid" in event else None
        arguments = {names["debug_annotation_names"][argument["name_iid"]]:
                     self.argument(argument, names)
                     for argument in event.get("debug_annotations", ())}
        value = [event[field] for field in ("counter_value", "double_counter_value")
                 if field in event]
        return (event["type"], self.tracks[event["track_uuid"]], name, "".join(category), arguments,
                value, event.get("flow_ids", []), event.get("legacy_event"))

    def argument(self, argument, names):
        values = [field for field in argument if field != "name_iid"]
        equal(len(values), 1, argument)
        value = argument[values[0]]
        if values[0] == "dict_entries":
            return {names["debug_annotation_names"][entry["name_iid"]]: self.argument(entry, names)
                    for entry in value}
        if values[0] == "array_values":
            return [self.argument(entry, names) for entry in value]
        if values[0] == "string_value_iid":
            return names["debug_annotation_string_values"][value]
        return json.loads(value) if values[0] == "legacy_json_value" else value

    def take(self, at, event):
        kind, track, name, category, arguments, value, begun, coming = event
        if coming:
            equal((kind in (BEGIN, INSTANT), coming["flow_direction"]), (True, FLOW_IN))
            if coming["bind_id"] in self.flow_begins:
                self.flows.append((self.flow_begins[coming["bind_id"]], name))
        for flow in begun:
            equal((kind, flow in self.flow_begins), (BEGIN, False))
            self.flow_begins[flow] = name
        equal(len(value), int(kind == COUNTER))
        equal(track.counter is not None, kind == COUNTER)
        if kind == BEGIN:
            track.open.append((name, at, category, arguments))
        elif kind == END:
            name, start, category, arguments = track.open.pop()
            self.slices.append((track, len(track.open), name, start, at, category, arguments))
        elif kind == INSTANT:
            self.instants.append((track, name, at, category, arguments))
        else:
            self.samples.append((track, at, value[0], category))
