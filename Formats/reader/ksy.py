#!/usr/bin/env python3
"""Runs as much of Kaitai Struct's language as archive.ksy uses, so that the file is tested without Kaitai's compiler.

    ksy.py FILE    the headers of all blocks and trailers of an archive, as archive.ksy reads them

It needs PyYAML, which isn't in Python's standard library.
"""
import pathlib
import re
import struct
import sys
import types

import yaml

NUMBERS = {"u1": "<B", "u2": "<H", "u4": "<I", "u8": "<Q", "s8": "<q", "f8": "<d"}
ARCHIVE = pathlib.Path(__file__).resolve().parent.parent / "archive.ksy"


# All of Kaitai's keys that this program goes by, or may pass over. Another one in a description is an error here: what is
# tested is all that it says.
KEYS = {
    "type": {"seq", "params", "doc", "doc-ref"},
    "field": {"id", "type", "size", "size-eos", "contents", "enum", "valid", "if", "repeat", "repeat-expr", "doc",
              "doc-ref"},
    "switch": {"switch-on", "cases"},
    "valid": {"min", "max"},
    "root": {"meta", "doc-ref", "seq", "types", "enums"},
    "meta": {"id", "title", "file-extension", "endian", "license", "imports"}}


class Mismatch(Exception):
    """The bytes aren't as the description says."""


class Enumerated(int):
    """A number with the name that an enum gives it."""


class Description:
    def __init__(self, path=ARCHIVE):
        self.root = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.unread = {(name, field["id"]) for name, described in self.types() for field in described["seq"]}
        self.require()

    def types(self):
        yield None, {"seq": self.root["seq"]}
        yield from self.root["types"].items()

    def require(self):
        """Raises for what this program doesn't understand."""
        def only(kind, given):
            unknown = set(given) - KEYS[kind]
            if unknown:
                raise ValueError(f"the description has {sorted(unknown)} in a {kind}, which isn't understood")

        only("root", self.root)
        only("meta", self.root["meta"])
        if self.root["meta"]["endian"] != "le" or self.root["meta"]["imports"] != ["/common/vlq_base128_le"]:
            raise ValueError("the description is of another byte order, or imports what isn't there")
        for _, described in self.types():
            only("type", described)
            for field in described["seq"]:
                only("field", field)
                if isinstance(field.get("type"), dict):
                    only("switch", field["type"])
                if isinstance(field.get("valid"), dict):
                    only("valid", field["valid"])
                if field.get("repeat") not in (None, "eos", "expr"):
                    raise ValueError(f"{field['id']} repeats in a way that isn't understood")

    def parse(self, data, name=None, parameters=(), parent=None):
        """The object that the bytes are, and how many of them it takes."""
        stream = types.SimpleNamespace(data=data, place=0)
        return self.read_type(name, parameters, stream, parent), stream.place

    def read_type(self, name, parameters, stream, parent):
        if name in NUMBERS:
            return struct.unpack(NUMBERS[name], self.take(stream, struct.calcsize(NUMBERS[name])))[0]
        if name == "vlq_base128_le":
            return self.read_varint(stream)
        described = self.root if name is None else self.root["types"][name]
        made = types.SimpleNamespace(_parent=parent, _at=stream.place)
        for parameter, value in zip(described.get("params", []), parameters):
            setattr(made, parameter["id"], value)
        for field in described["seq"]:
            if "if" in field and not self.evaluate(field["if"], made):
                continue
            setattr(made, field["id"], self.read_repeated(field, stream, made))
            self.unread.discard((name, field["id"]))
        return made

    def read_repeated(self, field, stream, made):
        if field.get("repeat") == "eos":
            found = []
            while stream.place < len(stream.data):
                found.append(self.read_field(field, stream, made))
            return found
        if field.get("repeat") == "expr":
            count = self.evaluate(str(field["repeat-expr"]), made)
            return [self.read_field(field, stream, made) for _ in range(count)]
        return self.read_field(field, stream, made)

    def read_field(self, field, stream, made):
        if "contents" in field:
            parts = field["contents"] if isinstance(field["contents"], list) else [field["contents"]]
            wanted = b"".join(bytes([part]) if isinstance(part, int) else part.encode() for part in parts)
            if self.take(stream, len(wanted)) != wanted:
                raise Mismatch(f"{field['id']} isn't {wanted}")
            return wanted
        kind = field.get("type")
        if isinstance(kind, dict):
            kind = self.chosen(kind, made)
            if kind is None and "size" not in field:
                raise Mismatch(f"{field['id']} has no type here")
        if "size" in field or field.get("size-eos"):
            size = self.evaluate(str(field["size"]), made) if "size" in field else len(stream.data) - stream.place
            inner = types.SimpleNamespace(data=self.take(stream, size), place=0)
            return inner.data if kind is None else self.read_named(kind, inner, made)
        value = self.read_named(kind, stream, made)
        if "enum" in field:
            value = Enumerated(value)
            value.name = self.root["enums"][field["enum"]].get(value)
        self.check(field, value)
        return value

    def chosen(self, kind, made):
        value = self.evaluate(kind["switch-on"], made)
        for case, name in kind["cases"].items():
            if case.split("::")[1] == value.name:
                return name
        return None

    def read_named(self, kind, stream, made):
        name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?", kind).groups()
        parameters = [] if arguments is None else [self.evaluate(arguments, made)]
        return self.read_type(name, parameters, stream, made)

    @staticmethod
    def check(field, value):
        if "valid" not in field:
            return
        valid = field["valid"]
        valid = valid if isinstance(valid, dict) else {"min": valid, "max": valid}
        if not valid.get("min", value) <= value <= valid.get("max", value):
            raise Mismatch(f"{field['id']} is {value}")

    @staticmethod
    def evaluate(text, made):
        # Kaitai divides integers, and ranks operators as Python does.
        return eval(text.replace("/", "//"), {"__builtins__": {}}, vars(made))

    @staticmethod
    def take(stream, count):
        if count > len(stream.data) - stream.place:
            raise Mismatch(f"{count} bytes are wanted at {stream.place}")
        stream.place += count
        return stream.data[stream.place - count:stream.place]

    def read_varint(self, stream):
        value, shift = 0, 0
        while True:
            byte = self.take(stream, 1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return types.SimpleNamespace(value=value)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    data = pathlib.Path(arguments[0]).read_bytes()
    slots = Description().parse(data[:208])[0].slots
    end = max((slot.file_length for slot in slots if slot.magic == 0x31544D43), default=len(data))
    for item in Description().parse(data[:end])[0].items:
        if item.magic.name == "trailer":
            print(f"{item._at:8} trailer of commit {item.body.generation}")
        else:
            body = item.body
            print(f"{item._at:8} {body.kind.name}, table {body.table}, column {body.column}, group {body.group},"
                  f" {body.rows} rows, {body.stored_length} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
