#!/usr/bin/env python3
"""Reads a Cairn archive and writes it as JSON. Made from the pages in Formats alone, and needs nothing but Python 3.

    cairn_archive.py FILE              the newest state as JSON (archive.md, section 12)
    cairn_archive.py --structure FILE  header, slots, trailer, footers and blocks as JSON
    cairn_archive.py --verify FILE     nothing, if all of the file is right, older states included

Everything that is read is verified first. A file that breaks a rule of the pages gives an error that names the
rule and the offset, and exit code 1. Numbers in brackets, such as ARC-12, are those of the pages.

Or, from Python: `cairn_archive.Archive(data).to_json()`, which raises `FormatError`.
"""
import base64
import binascii
import json
import struct
import sys
import zlib

MAGIC = b"\x89CRN\r\n\x1a\n"
HEADER_SIZE, SLOT_SIZE, TRAILER_SIZE, BLOCK_HEADER_SIZE = 80, 64, 64, 32
SLOTS = (80, 144)
FIRST_BLOCK = 208
SCHEMA, METADATA, COLUMN, FOOTER, BLOB = 1, 2, 3, 4, 5
BLOBS, ITEMS = 1, 2  # incompatible features
VERSIONS, KEYS = 0xFFFE, 0xFFFF
MAX_TEXT = 1 << 26
MAX_RAW = 1 << 30
MAX_ROWS = 1 << 24  # of this program: rows that are alike take no room in a file, but do in JSON
CHUNK_ROWS, GROUP_CHUNKS = 4096, 4
MAX_FOOTERS = 256
MAX_ENTITIES, MAX_LINEAGE, MAX_SLOTS = 8192, 64, 1 << 20
INT64 = range(-(1 << 63), 1 << 63)
RANGES = {
    "int16": range(-(1 << 15), 1 << 15), "int32": range(-(1 << 31), 1 << 31), "int64": INT64,
    "bool": range(0, 2), "key": range(1, 1 << 63)}
FLOATING = ("double", "date", "float")
TEXTS = ("string", "uri", "data", "transformable")
TYPES = set(RANGES) - {"key"} | set(FLOATING) | set(TEXTS) | {"decimal", "uuid"}


class FormatError(Exception):
    """A rule of the pages is broken: which, at which byte of the file, and how."""

    def __init__(self, rule, message, offset):
        super().__init__(f"[{rule}] at byte {offset}: {message}")
        self.rule, self.message, self.offset = rule, message, offset


def wrap(x):
    """A sum or product modulo 2^64 (ENC-13)."""
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


class Bytes:
    """A cursor over bytes of the file, or over a text or payload that was inflated from them.

    `at` is where the bytes are in the file, or the block that they were inflated from.
    """

    def __init__(self, data, at, inflated=False):
        self.data, self.place, self.at, self.inflated = data, 0, at, inflated

    def error(self, rule, message):
        if self.inflated:
            return FormatError(rule, f"{message}, at byte {self.place} of what the block inflates to", self.at)
        return FormatError(rule, message, self.at + self.place)

    @property
    def rest(self):
        return len(self.data) - self.place

    def take(self, count):
        if count > self.rest:
            raise self.error("ENC-4", f"{count} bytes are wanted, and {self.rest} left")
        self.place += count
        return self.data[self.place - count:self.place]

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return int.from_bytes(self.take(2), "little")

    def u32(self):
        return int.from_bytes(self.take(4), "little")

    def u64(self):
        return int.from_bytes(self.take(8), "little")

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.u8()
            if shift == 63 and byte > 1:
                break
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise self.error("ENC-10", "a number has more than 64 bits")

    def zigzag(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def count(self, least, most, rule="ENC-12"):
        value = self.varint()
        if not least <= value <= most:
            raise self.error(rule, f"the count {value} isn't in {least}...{most}")
        return value

    def number(self):
        return self.count(0, (1 << 63) - 1, "ARC-48")

    def things(self):
        return self.count(0, self.rest, "ARC-48")


def inflate(stored, raw_length, at):
    """The bytes of one raw deflate stream (ENC-2). Never makes more than `raw_length` bytes and one."""
    inflater = zlib.decompressobj(-15)
    try:
        raw = inflater.decompress(bytes(stored), raw_length + 1)
    except zlib.error as error:
        raise FormatError("ENC-2", f"the deflate stream is damaged: {error}", at) from None
    if not inflater.eof or inflater.unused_data or len(raw) != raw_length:
        raise FormatError("ENC-2", f"the deflate stream isn't one of {raw_length} bytes", at)
    return raw


# MARK: Payloads (encodings.md)

class Payload:
    """The values of one column, decoded from a payload.

    `sources` gives the type and the values of another slot for the same rows, or raises.
    """

    def __init__(self, source, kind, rows, sources=None):
        self.source, self.kind, self.rows, self.sources = source, kind, rows, sources
        self.length = len(source.data)

    def values(self):
        """A list with a value or None for each row."""
        source = self.source
        form = source.u8()
        if form == 16:
            return self.related()
        if form == 4 and self.kind in RANGES:
            null = source.zigzag()
            found = [None if x == null else x for x in self.stream(self.rows)]
            self.check_range(found)
            self.end()
            return found
        nulls = self.nulls(form)
        count = nulls.count(False)
        found = self.some(count) if count else []
        self.end()
        return spread(found, nulls)

    def nulls(self, form):
        source, n = self.source, self.rows
        if form == 0:
            return [False] * n
        if form == 1:
            return [True] * n
        if form == 2:
            bits = int.from_bytes(source.take((n + 7) // 8), "little")
            if bits >> n:
                raise source.error("ENC-20", "a bitmap has bits behind its last row")
            return [bool(bits >> i & 1) for i in range(n)]
        if form != 3:
            raise source.error("ENC-22", f"nulls have no form {form} here")
        lengths = self.indexes(source.count(1, n + 1), n + 1, "ENC-21")
        nulls = []
        for i, length in enumerate(lengths):
            if length > n - len(nulls):
                raise source.error("ENC-21", "runs of nulls are too long")
            nulls += [i % 2 == 1] * length
        if len(nulls) != n:
            raise source.error("ENC-21", "runs of nulls are too short")
        return nulls

    def end(self):
        if self.source.rest:
            raise self.source.error("ENC-4", f"{self.source.rest} bytes are left over")

    def check_range(self, values):
        allowed = RANGES[self.kind]
        for x in values:
            if x is not None and x not in allowed:
                raise self.source.error("ENC-40", f"{x} is no {self.kind}")

    def some(self, n):
        if self.kind in RANGES:
            found = self.stream(n)
            self.check_range(found)
            return found
        if self.kind in FLOATING:
            return self.floats(n)
        if self.kind == "decimal":
            return self.decimals(n)
        if self.kind == "uuid":
            return self.uuids(n)
        return self.texts(n)

    # Values that follow from other slots (section 7)

    def related(self):
        source, n = self.source, self.rows
        if self.sources is None:
            raise source.error("ENC-70", "values follow from other slots, and there are none")
        slots = [source.count(0, 65535, "ENC-70") for _ in range(source.count(1, 3, "ENC-71"))]
        kind, number = source.u8(), 0
        if kind == 3:
            number = source.u8()
            if not 1 <= number <= 6:
                raise source.error("ENC-71", f"no sum is {number}")
        elif kind in (4, 5):
            number = source.count(2, (1 << 63) - 1, "ENC-71")
        elif kind == 6:
            number = source.u8()
        elif kind not in (1, 2):
            raise source.error("ENC-71", f"no relation is {kind}")
        wanted = {3: 1 if number == 1 else 2, 4: 1, 5: 1, 6: 1}.get(kind, len(slots))
        fits = self.kind in TEXTS if kind == 6 else self.kind in RANGES or self.kind in FLOATING and kind <= 2
        if len(slots) != wanted or not fits:
            raise source.error("ENC-71", "a relation of other types or numbers of slots")
        others = [self.sources(slot) for slot in slots]
        for other, _ in others:
            fits = other in TEXTS if kind == 6 else (
                other in RANGES or kind <= 2 and other not in ("decimal", "uuid"))
            if not fits:
                raise source.error("ENC-71", f"{self.kind} doesn't follow from {other}")
        form = source.u8()
        if form == 5:
            nulls = [x is None for x in others[source.count(0, len(others) - 1, "ENC-72")][1]]
            for row in self.indexes(source.count(0, n, "ENC-72"), n, "ENC-72"):
                nulls[row] = not nulls[row]
        else:
            nulls = self.nulls(form)
        count = nulls.count(False)
        is_whole = False
        if count and self.kind in FLOATING:
            view = source.u8()
            if view > 1:
                raise source.error("ENC-73", f"no view is {view}")
            is_whole = view == 1
        rows = [row for row in range(n) if not nulls[row]]
        columns = []
        for other, values in others:
            null = b"" if other in TEXTS else 0
            columns.append([null if values[row] is None else values[row] for row in rows])
        if kind == 6:
            found = self.item_of(columns[0], number) if count else []
            self.end()
            return spread(found, nulls)
        if kind == 1:
            found = self.last_of_key(list(zip(*columns)))
        elif kind == 2:
            found = self.near_last_of_key(list(zip(*columns)))
        else:
            steps = self.stream(count)
            found = [wrap(predicted(kind, number, *of) + step) for of, step in zip(zip(*columns), steps)]
        if self.kind in RANGES:
            self.check_range(found)
        else:
            found = self.patterns(found, is_whole)
        self.end()
        return spread(found, nulls)

    def item_of(self, texts, joint):
        """Items of the texts, or what is listed instead (ENC-80)."""
        source = self.source
        numbers = self.stream(len(texts))
        zeros = numbers.count(0)
        listed = iter(self.list(zeros, source.u8()) if zeros else [])
        found, total = [], 0
        for text, number in zip(texts, numbers):
            items = bytes(text).split(bytes([joint]))
            if not 0 <= number <= len(items):
                raise source.error("ENC-80", f"there is no item {number}")
            found.append(items[number - 1] if number else bytes(next(listed)))
            total += len(found[-1])
            if total > 64 * self.length + 1024 * len(texts) + 65536:
                raise source.error("ENC-81", "items grow too long")
        return found

    def last_of_key(self, keys):
        met = [bool(earlier) for earlier in self.meetings(keys)]
        listed = iter(self.indexes(sum(met), 2, "ENC-74"))
        is_listed = [not was_met or next(listed) == 1 for was_met in met]
        values = iter(self.stream(sum(is_listed)))
        last, found = {}, []
        for key, takes in zip(keys, is_listed):
            if takes:
                last[key] = next(values)
            found.append(last[key])
        return found

    def near_last_of_key(self, keys):
        met = self.meetings(keys)
        steps = iter(self.stream(sum(met)))
        values = iter(self.stream(len(met) - sum(met)))
        last, found = {}, []
        for key, was_met in zip(keys, met):
            last[key] = wrap(last[key] + next(steps)) if was_met else next(values)
            found.append(last[key])
        return found

    @staticmethod
    def meetings(keys):
        """Whether each key was there before."""
        known, met = set(), []
        for key in keys:
            met.append(key in known)
            known.add(key)
        return met

    def patterns(self, found, is_whole):
        is_float = self.kind == "float"
        if is_whole:
            return [pattern_of(float(x), is_float) & (1 << 64) - 1 for x in found]
        return self.checked_patterns(found)

    # Streams (section 4)

    def stream(self, n, depth=1):
        if n == 0:
            return []
        source = self.source
        kind = source.u8()
        if depth > 5:
            raise source.error("ENC-32", "streams are nested too deep")
        if kind == 1:
            return [source.zigzag()] * n
        if kind == 2:
            base, width = source.zigzag(), source.count(1, 8)
            data = source.take(n * width)
            return [
                wrap(base + int.from_bytes(data[i:i + width], "little")) for i in range(0, n * width, width)]
        if kind == 3:
            base, width = source.zigzag(), source.count(2, 8)
            planes = [source.take(n) for _ in range(width)]
            return [
                wrap(base + sum(plane[i] << 8 * k for k, plane in enumerate(planes))) for i in range(n)]
        if kind == 4:
            base, width = source.zigzag(), source.count(1, 56)
            data = source.take((n * width + 7) // 8)
            mask = (1 << width) - 1
            found = []
            for i in range(n):
                bit = i * width
                window = int.from_bytes(data[bit >> 3:(bit >> 3) + 8], "little")
                found.append(wrap(base + (window >> (bit & 7) & mask)))
            return found
        if kind == 5:
            return [source.zigzag() for _ in range(n)]
        if kind == 6:
            found = [source.zigzag()]
            for step in self.stream(n - 1, depth + 1):
                found.append(wrap(found[-1] + step))
            return found
        if kind == 7:
            count = source.count(1, n)
            values = self.stream(count, depth + 1)
            found = []
            for value, more in zip(values, self.stream(count, depth + 1)):
                if not 0 <= more < n - len(found):
                    raise source.error("ENC-33", "runs are too long")
                found += [value] * (more + 1)
            if len(found) != n:
                raise source.error("ENC-33", "runs are too short")
            return found
        if kind == 8:
            count = source.count(1, n)
            entries = self.stream(count, depth + 1)
            return [entries[i] for i in self.indexes(n, count, "ENC-34", depth + 1)]
        if kind == 9:
            base, factor = source.zigzag(), source.varint()
            return [wrap(base + factor * x) for x in self.stream(n, depth + 1)]
        if kind == 10:
            count = source.count(1, n)
            rows = self.indexes(count, n, "ENC-35", depth + 1)
            values = self.stream(count, depth + 1)
            found = self.stream(n, depth + 1)
            for row, value in zip(rows, values):
                found[row] = value
            return found
        raise source.error("ENC-31", f"no stream is of kind {kind}")

    def indexes(self, n, limit, rule, depth=1):
        """A stream of numbers from 0 up to but not including `limit`."""
        found = self.stream(n, depth)
        for x in found:
            if not 0 <= x < limit:
                raise self.source.error(rule, f"{x} isn't below {limit}")
        return found

    # Values (sections 5 and 6)

    def floats(self, n):
        """Bit patterns, as unsigned integers."""
        source, is_float = self.source, self.kind == "float"
        form = source.u8()
        if form == 1:
            patterns = self.stream(n)
        elif form == 2:
            exponent = source.u8()
            if exponent > 15:
                raise source.error("ENC-43", f"10^{exponent} is no scale")
            count = source.count(0, n)
            rows = self.indexes(count, n, "ENC-43")
            exact = self.stream(count)
            power = float(10 ** exponent)
            patterns = [pattern_of(float(x) / power, is_float) for x in self.stream(n)]
            for row, pattern in zip(rows, exact):
                patterns[row] = pattern
        else:
            raise source.error("ENC-41", f"numbers with a point have no form {form}")
        return self.checked_patterns(patterns)

    def checked_patterns(self, patterns):
        if self.kind != "float":
            return [x & (1 << 64) - 1 for x in patterns]
        for x in patterns:
            if not 0 <= x < 1 << 32:
                raise self.source.error("ENC-42", "a float has more than 32 bits")
        return patterns

    def decimals(self, n):
        """Texts as in archive.md, section 12."""
        source = self.source
        exponents = self.stream(n)
        flags = self.indexes(n, 64, "ENC-44")
        low, high = self.stream(n), self.stream(n)
        found = []
        for exponent, flag, a, b in zip(exponents, flags, low, high):
            words = flag & 15
            if words > 8 or exponent not in range(-128, 128):
                raise source.error("ENC-44", "a value is no decimal")
            significand = (a & (1 << 64) - 1 | (b & (1 << 64) - 1) << 64) & (1 << 16 * words) - 1
            found.append(decimal_text(significand, exponent, words, bool(flag & 16)))
        return found

    def uuids(self, n):
        source = self.source
        form = source.u8()
        if form == 1:
            data = source.take(16 * n)
            return [data[i:i + 16] for i in range(0, 16 * n, 16)]
        if form == 2:
            first, last = self.stream(n), self.stream(n)
            return [struct.pack(">qq", a, b) for a, b in zip(first, last)]
        if form == 3:
            count = source.count(1, n)
            data = source.take(16 * count)
            return [data[16 * i:16 * i + 16] for i in self.indexes(n, count, "ENC-45")]
        raise source.error("ENC-45", f"UUIDs have no form {form}")

    def texts(self, n):
        form = self.source.u8()
        if form != 4:
            return self.list(n, form)
        count = self.source.count(1, n)
        entries = self.list(count, self.source.u8())
        return [entries[i] for i in self.indexes(n, count, "ENC-50")]

    def list(self, n, form, is_inner=False):
        source = self.source
        if form == 1:
            lengths = self.indexes(n, self.length + 1, "ENC-52")
            return [source.take(length) for length in lengths]
        if form == 2:
            separator = source.take(1)
            found = []
            for _ in range(n):
                end = source.data.find(separator, source.place)
                if end < 0:
                    raise source.error("ENC-53", "a separator is missing")
                found.append(source.take(end - source.place))
                source.take(1)
            return found
        if form == 5 and not is_inner:
            return self.items(n)
        if form == 3 and not is_inner:
            shared = self.stream(n)
            rest = self.list(n, source.u8(), is_inner=True)
            found, previous, total = [], b"", 0
            for common, tail in zip(shared, rest):
                if not 0 <= common <= len(previous):
                    raise source.error("ENC-54", "an entry shares more than the one before has")
                total += common + len(tail)
                if total > 64 * self.length + 65536:
                    raise source.error("ENC-55", "entries grow too long")
                previous = previous[:common] + tail
                found.append(previous)
            return found
        raise source.error("ENC-50", f"a list has no form {form} here")

    def items(self, n):
        source = self.source
        joint = source.take(1)
        counts = self.stream(n)
        if any(count < 1 for count in counts) or sum(counts) > self.length:
            raise source.error("ENC-56", "entries have no items, or more than there are bytes")
        class_count = source.count(1, 255, "ENC-56")
        classes = self.indexes(sum(counts), class_count, "ENC-56")
        sizes = [0] * class_count
        for number in classes:
            sizes[number] += 1
        lists = [iter(self.list(size, source.u8(), is_inner=True)) for size in sizes]
        items = iter([next(lists[number]) for number in classes])
        return [joint.join(next(items) for _ in range(count)) for count in counts]


def spread(values, nulls):
    rest = iter(values)
    return [None if is_null else next(rest) for is_null in nulls]


def divided(a, b):
    """Rounded towards 0."""
    return a // b if a >= 0 else -(-a // b)


def remainder(a, b):
    return a - b * divided(a, b)


def minutes(x):
    return wrap(divided(x, 100) * 60 + remainder(x, 100))


def clock(x):
    return wrap(divided(x, 60) * 100 + remainder(x, 60))


def predicted(kind, number, a, b=0):
    """What a relation predicts from the values of its sources (ENC-76)."""
    if kind == 4:
        return divided(a, number)
    if kind == 5:
        return remainder(a, number)
    return {
        1: lambda: a, 2: lambda: a + b, 3: lambda: a - b, 4: lambda: clock(wrap(minutes(a) + b)),
        5: lambda: clock(wrap(minutes(a) - b)), 6: lambda: minutes(a) - minutes(b)}[number]()


def pattern_of(x, is_float):
    if not is_float:
        return struct.unpack("<q", struct.pack("<d", x))[0]
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:  # beyond the range of binary32: infinity
        return 0xFF800000 if x < 0 else 0x7F800000


def decimal_text(significand, exponent, words, is_negative):
    if words == 0 and is_negative:
        return "NaN"
    digits = str(significand)
    if significand == 0:
        return "0"
    if exponent >= 0:
        text = digits + "0" * exponent
    else:
        digits = digits.rjust(1 - exponent, "0")
        text = (digits[:exponent] + "." + digits[exponent:]).rstrip("0").rstrip(".")
    return ("-" if is_negative else "") + text


# MARK: Schema (archive.md, section 7)

class Attribute:
    def __init__(self, name, kind, elements):
        self.name, self.kind, self.elements = name, kind, elements


class Relationship:
    def __init__(self, number, owner, fields):
        self.number, self.owner, self.name = number, owner, fields["name"]
        self.fields = fields
        self.to_one = fields["maxCount"] == 1
        self.ordered = fields["isOrdered"]
        self.destination = self.inverse = None
        self.slot = self.order = None  # if it has the key
        self.join = self.side = None  # if it has a join

    @property
    def has_key(self):
        if not self.to_one:
            return False
        back = self.inverse
        return back is None or not back.to_one or self.number <= back.number


class Entity:
    def __init__(self, number, fields):
        self.number, self.name, self.is_abstract = number, fields["name"], fields["isAbstract"]
        self.fields = fields
        self.superentity = None
        self.lineage = []  # from the root to itself
        self.own = []
        self.slots = None  # (name, type, what): what is "attribute", "key" or "order"

    @property
    def root(self):
        return self.lineage[0]

    def relationships(self):
        return [r for entity in self.lineage for r in entity.own]

    def relationship(self, name):
        return next((r for r in self.relationships() if r.name == name), None)


class Join:
    def __init__(self, number, source, target):
        self.number, self.source, self.target = number, source, target


JOIN_SLOTS = [("source", "key", "key"), ("target", "key", "key"), ("source order", "int64", "order"),
              ("target order", "int64", "order")]


class Schema:
    def __init__(self, text, at):
        self.at = at
        document = self.parse(text)
        self.model = self.optional(document, "model", str)
        self.entities = []
        for fields in self.field(document, "entities", list):
            self.field(fields, "name", str)
            self.field(fields, "isAbstract", bool)
            self.entities.append(Entity(len(self.entities), fields))
            if len(self.entities) > MAX_ENTITIES:
                raise self.error("there are too many entities", "ARC-84")
        self.by_name = {entity.name: entity for entity in self.entities}
        if len(self.by_name) != len(self.entities) or "" in self.by_name:
            raise self.error("two entities have one name, or one has none")
        for entity in self.entities:
            parent = self.optional(entity.fields, "superentity", str)
            entity.superentity = None if parent is None else self.named(parent)
        for entity in self.entities:
            entity.lineage = self.lineage(entity)
        self.relationships = []
        for entity in self.entities:
            for fields in self.field(entity.fields, "relationships", list):
                self.check_relationship(fields)
                relationship = Relationship(len(self.relationships), entity, fields)
                self.relationships.append(relationship)
                entity.own.append(relationship)
        for relationship in self.relationships:
            self.resolve(relationship)
        for relationship in self.relationships:
            self.check_inverse(relationship)
        self.check_size()
        for entity in self.entities:
            self.lay_out(entity)
        for entity in self.entities:
            self.check_names(entity)
            self.check_paths(entity)
        self.joins = []
        for relationship in self.relationships:
            self.place(relationship)
        if len(self.entities) + len(self.joins) > 65536:
            raise self.error("there are too many tables", "ARC-83")

    def error(self, message, rule="ARC-80"):
        return FormatError(rule, f"the schema: {message}", self.at)

    def parse(self, text):
        try:
            return json.loads(text.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise self.error(f"it is no JSON: {error}") from None

    def field(self, fields, name, kind):
        if not isinstance(fields, dict):
            raise self.error("an object is wanted")
        value = fields.get(name)
        if not isinstance(value, kind) or kind is int and isinstance(value, bool):
            raise self.error(f"the field {name} is missing, or isn't of the right type")
        return value

    def optional(self, fields, name, kind):
        if isinstance(fields, dict) and fields.get(name) is None:
            return None
        return self.field(fields, name, kind)

    def named(self, name):
        if name not in self.by_name:
            raise self.error(f"there is no entity {name!r}")
        return self.by_name[name]

    def lineage(self, entity):
        chain = []
        while entity is not None:
            if entity in chain:
                raise self.error(f"{entity.name!r} inherits from itself")
            if len(chain) >= MAX_LINEAGE:
                raise self.error("too many entities inherit from each other", "ARC-84")
            chain.append(entity)
            entity = entity.superentity
        return chain[::-1]

    def check_relationship(self, fields):
        for name in ("name", "destination"):
            self.field(fields, name, str)
        for name in ("minCount", "maxCount", "deleteRule"):
            self.field(fields, name, int)
        for name in ("isOrdered", "isOptional"):
            self.field(fields, name, bool)
        if fields["maxCount"] == 1 and fields["isOrdered"]:
            raise self.error(f"{fields['name']!r} is to-one and ordered")
        if fields["minCount"] < 0 or fields["maxCount"] < 0 or 0 < fields["maxCount"] < fields["minCount"]:
            raise self.error(f"the counts of {fields['name']!r} are no range")
        if not 0 <= fields["deleteRule"] <= 3:
            raise self.error(f"{fields['name']!r} has no delete rule")

    def resolve(self, relationship):
        relationship.destination = self.named(relationship.fields["destination"])
        name = self.optional(relationship.fields, "inverse", str)
        if name is not None:
            relationship.inverse = relationship.destination.relationship(name)
            if relationship.inverse is None:
                raise self.error(f"the inverse {name!r} isn't there")

    def check_inverse(self, relationship):
        back = relationship.inverse
        if back is not None and back.inverse is not relationship:
            raise self.error(f"the inverse of {relationship.name!r} has another inverse", "ARC-81")

    def check_size(self):
        def leaves(attributes, depth):
            if depth > MAX_LINEAGE:
                raise self.error("composite attributes are nested too deep", "ARC-82")
            return sum(
                1 if self.optional(fields, "elements", list) is None
                else leaves(fields["elements"], depth + 1) for fields in attributes)

        own = [leaves(self.field(e.fields, "attributes", list), 0) + 2 * len(e.own) for e in self.entities]
        if sum(own[ancestor.number] for e in self.entities for ancestor in e.lineage) > MAX_SLOTS:
            raise self.error("the entities have too many slots together", "ARC-84")

    def lay_out(self, entity):
        if entity.slots is not None:
            return
        if entity.superentity is not None:
            # Not by recursion, which a long lineage would exhaust.
            for ancestor in entity.lineage[:-1]:
                self.lay_out_own(ancestor)
        self.lay_out_own(entity)

    def lay_out_own(self, entity):
        if entity.slots is not None:
            return
        slots = list(entity.superentity.slots) if entity.superentity else []
        for fields in self.field(entity.fields, "attributes", list):
            self.add_attribute(fields, "", slots, 0)
        for relationship in entity.own:
            if relationship.has_key:
                relationship.slot = len(slots)
                slots.append((relationship.name, "key", "key"))
                if relationship.inverse is not None and relationship.inverse.ordered:
                    relationship.order = len(slots)
                    slots.append((relationship.name + ".#order", "int64", "order"))
        if len(slots) > 65534:
            raise self.error(f"{entity.name!r} has too many slots", "ARC-83")
        entity.slots = slots

    def add_attribute(self, fields, path, slots, depth):
        name = self.field(fields, "name", str)
        self.field(fields, "isOptional", bool)
        if not name or "." in name:
            raise self.error(f"{name!r} is no name")
        elements = self.optional(fields, "elements", list)
        if elements is None:
            kind = self.field(fields, "type", str)
            if kind not in TYPES:
                raise self.error(f"there is no type {kind!r}")
            slots.append((path + name, kind, "attribute"))
            return
        if depth >= 32:
            raise self.error("composite attributes are nested too deep", "ARC-82")
        if not elements:
            raise self.error(f"{name!r} has no elements")
        for element in elements:
            self.add_attribute(element, path + name + ".", slots, depth + 1)

    def check_names(self, entity):
        names = [fields["name"] for e in entity.lineage for fields in e.fields["attributes"]]
        names += [r.name for r in entity.relationships()]
        names = names + [""] if any("." in r.name or not r.name for r in entity.own) else names
        paths = [name for name, _, _ in entity.slots]
        if len(set(names)) != len(names) or "" in names or len(set(paths)) != len(paths):
            raise self.error(f"two properties of {entity.name!r} have one name, or one has none")

    def check_paths(self, entity):
        paths = {name for name, _, what in entity.slots if what != "order"}
        lists = list(self.field(entity.fields, "uniquenessConstraints", list))
        for index in self.field(entity.fields, "indexes", list):
            self.field(index, "name", str)
            lists.append(self.field(index, "properties", list))
        for names in lists:
            if not isinstance(names, list) or not names or len(set(map(str, names))) != len(names):
                raise self.error(f"an index or constraint of {entity.name!r} has no properties, or one twice")
            for name in names:
                if name not in paths:
                    raise self.error(f"{entity.name!r} has no {name!r} to index")

    def place(self, relationship):
        back = relationship.inverse
        if relationship.has_key or back is not None and back.has_key or relationship.join is not None:
            return
        join = Join(len(self.joins), relationship, back)
        self.joins.append(join)
        relationship.join, relationship.side = join, 0
        if back is not None and back is not relationship:
            back.join, back.side = join, 1

    # Tables (ARC-47)

    @property
    def table_count(self):
        return len(self.entities) + len(self.joins)

    def is_stored(self, table):
        return table < self.table_count and (
            table >= len(self.entities) or not self.entities[table].is_abstract)

    def slots(self, table):
        return self.entities[table].slots if table < len(self.entities) else JOIN_SLOTS


# MARK: The file (archive.md)

class Block:
    """A column's block as a reference describes it."""

    def __init__(self, offset, length, table, column, group, kind, sources):
        self.offset, self.length, self.table, self.column = offset, length, table, column
        self.group, self.kind, self.sources = group, kind, sources
        self.integers = self.doubles = None
        self.may_hold_nan = False
        self.parts = self.blobs = self.blob_bytes = None


class Chunk:
    def __init__(self, rows, first, last, is_dense, deleted):
        self.rows, self.first, self.last, self.is_dense, self.deleted = rows, first, last, is_dense, deleted


class Group:
    def __init__(self, number, chunks, references):
        self.number, self.chunks = number, chunks
        # By column, the versions and the keys last: (block, first part, bytes of blobs by chunk) or None.
        self.references = references


class Footer:
    def __init__(self):
        self.previous = None
        self.splices = []


class Archive:
    """An archive that is open: header, slots, footer, schema and metadata are read and verified."""

    def __init__(self, data):
        self.data = data
        self.blocks = {}
        self.read_header()
        self.slot = self.newest()
        self.check_trailer()
        self.read_footers()
        self.read_metadata()

    def bytes(self, offset, count):
        return self.data[offset:offset + count]

    # Section 1

    def read_header(self):
        header = self.bytes(0, HEADER_SIZE)
        if not header.startswith(MAGIC):
            raise FormatError("ARC-1", "it doesn't begin as an archive does", 0)
        if len(header) < HEADER_SIZE:
            raise FormatError("ARC-2", "the header is cut off", len(header))
        if zlib.crc32(header[:76]) != int.from_bytes(header[76:], "little"):
            raise FormatError("ARC-2", "the header's checksum is wrong", 76)
        major, minor, size, compatible, for_reading, incompatible = struct.unpack_from("<HHIQQQ", header, 8)
        if major != 1:
            raise FormatError("ARC-3", f"version {major} of the format isn't known", 8)
        if size != HEADER_SIZE or any(header[64:76]):
            raise FormatError("ARC-4", "the header has another size, or isn't zero where it has to be", 12)
        unknown = incompatible & ~(BLOBS | ITEMS)
        if unknown:
            raise FormatError("ARC-5", f"features {unknown:#x} aren't known", 32)
        self.has_blobs = bool(incompatible & BLOBS)
        self.header = {
            "major": major, "minor": minor, "compatible": compatible, "compatibleForReading": for_reading,
            "incompatible": incompatible}
        self.uuid = header[40:56]
        self.created = int.from_bytes(header[56:64], "little", signed=True)

    # Section 2

    def read_slot(self, offset):
        data = self.bytes(offset, SLOT_SIZE)
        if len(data) < SLOT_SIZE:
            raise FormatError("ARC-13", "the file ends before its commit slots do", len(self.data))
        magic, zero, generation, length, footer, footer_length = struct.unpack_from("<4sIQQQI", data, 0)
        if magic != b"CMT1" or zero or any(data[36:60]):
            return None
        if zlib.crc32(data[:60]) != int.from_bytes(data[60:], "little"):
            return None
        return generation, length, footer, footer_length

    def read_trailer(self, end):
        if not FIRST_BLOCK + TRAILER_SIZE <= end <= len(self.data):
            return None
        data = self.bytes(end - TRAILER_SIZE, TRAILER_SIZE)
        magic, footer, footer_length, zero, generation, length, uuid, zero2, checksum = struct.unpack(
            "<8sQIIQQ16sII", data)
        if magic != b"\x89CRNTRL1" or zero or zero2 or checksum != zlib.crc32(data[:60]):
            return None
        if uuid != self.uuid or length != end:
            return None
        return generation, length, footer, footer_length

    def newest(self):
        slots = [self.read_slot(offset) for offset in SLOTS]
        found = [slot for slot in slots if slot]
        best = max(found, key=lambda slot: slot[0], default=None)
        if len(found) == 2:
            if found[0][0] == found[1][0] and found[0] != found[1]:
                raise FormatError("ARC-11", "the slots say different things of one commit", SLOTS[1])
            return best
        last = self.read_trailer(len(self.data))
        if last is None or best is not None and last[0] < best[0]:
            raise FormatError(
                "ARC-12", "a slot is damaged, and the end of the file doesn't say what it said",
                SLOTS[slots.index(None)])
        return last

    def check_trailer(self):
        _, length, footer, footer_length = self.slot
        if length > len(self.data):
            raise FormatError("ARC-13", f"the file was cut off: {length} bytes were written", len(self.data))
        if self.read_trailer(length) != self.slot:
            raise FormatError("ARC-14", "the trailer is damaged", max(length - TRAILER_SIZE, 0))
        if footer < FIRST_BLOCK or footer + footer_length != length - TRAILER_SIZE:
            raise FormatError("ARC-15", "the footer isn't where the slot says", min(footer, length))

    # Section 3

    def block(self, offset, length, kind):
        """The header's fields and the stored bytes of a block, verified."""
        if length <= BLOCK_HEADER_SIZE or offset + length > len(self.data):
            raise FormatError("ARC-20", f"a block of {length} bytes can't be here", offset)
        data = self.bytes(offset, length)
        magic, found, codec, encoding, flags, table, column, group, rows, raw, stored, checksum = (
            struct.unpack_from("<4sBBBBHHIIIII", data, 0))
        may_list = self.has_blobs and kind == COLUMN
        if magic != b"BLK1" or found != kind or codec > 1 or encoding > may_list or flags:
            raise FormatError("ARC-21", f"no block of kind {kind} is here", offset)
        if stored != length - BLOCK_HEADER_SIZE:
            raise FormatError("ARC-21", f"the block has {stored} bytes, not {length - 32}", offset)
        content = data[BLOCK_HEADER_SIZE:]
        if zlib.crc32(content, zlib.crc32(data[:28])) != checksum:
            raise FormatError("ARC-22", "the block's checksum is wrong", offset)
        return (codec, table, column, group, rows, raw), content, encoding, checksum

    def text(self, offset, length, kind):
        (codec, table, column, group, rows, raw), stored, _, _ = self.block(offset, length, kind)
        if table or column or group or rows:
            raise FormatError("ARC-26", "a text says that it has rows", offset)
        if raw > MAX_TEXT or raw > 64 * len(stored) + 65536:
            raise FormatError("ARC-27", f"a text of {raw} bytes is too long", offset)
        if codec == 1:
            return inflate(stored, raw, offset)
        if raw != len(stored):
            raise FormatError("ARC-25", "a text that isn't deflated has two lengths", offset)
        return stored

    def parts(self, block, group):
        """The values of each part of a column's block, None for null. `group` has those that it follows from."""
        if block.parts is not None:
            return block.parts
        (codec, table, column, home, rows, raw), stored, encoding, _ = self.block(
            block.offset, block.length, COLUMN)
        if (table, column, home) != (block.table, block.column, block.group):
            raise FormatError("ARC-31", "another block than this belongs here", block.offset)
        source = Bytes(stored, block.offset + BLOCK_HEADER_SIZE)
        count = source.u8()
        if not 1 <= count <= GROUP_CHUNKS:
            raise source.error("ARC-30", f"a block of {count} parts")
        counts = [source.u16() for _ in range(count)]
        if any(not 1 <= n <= CHUNK_ROWS for n in counts) or sum(counts) != rows:
            raise source.error("ARC-30", f"parts of {counts} rows in a block of {rows}")
        blobs = self.blob_list(source, block, rows) if encoding else {}
        at = source.at + source.place
        payload = stored[source.place:]
        if codec == 1:
            if raw > 1032 * len(payload) + 64 or raw > MAX_RAW:
                raise FormatError("ENC-3", f"{len(payload)} bytes can't inflate to {raw}", at)
            payload = inflate(payload, raw, at)
        elif raw != len(payload):
            raise FormatError("ENC-1", "a payload that isn't deflated has two lengths", at)

        def source_of(slot):
            if slot not in block.sources:
                raise FormatError("ARC-62", f"values follow from slot {slot}, which the footer doesn't say", at)
            other = group.references[slot][0]
            parts = self.parts(other, group)
            if other.group != block.group or [len(part) for part in parts] != counts:
                raise FormatError("ARC-62", f"values follow from slot {slot} of other rows", at)
            return other.kind, [value for part in parts for value in part]

        values = Payload(
            Bytes(payload, at, codec == 1), block.kind, rows, source_of if block.sources else None).values()
        for row, blob in blobs.items():
            if values[row] != b"":
                raise FormatError("ARC-93", f"row {row} has a value apart, and one in the column", block.offset)
            values[row] = self.blob(block, *blob)
        self.check_bounds(block, values)
        block.blobs = blobs
        block.parts, block.blob_bytes, start = [], [], 0
        for n in counts:
            block.parts.append(values[start:start + n])
            block.blob_bytes.append(sum(blobs[row][1] for row in range(start, start + n) if row in blobs))
            start += n
        self.check_keys(block)
        return block.parts

    # Section 3, values apart

    def blob_list(self, source, block, rows):
        """Where values that are blocks of their own are, by row: offset, length, size and checksum."""
        if block.kind not in ("data", "transformable"):
            raise FormatError("ARC-90", f"values of {block.kind} are kept apart", block.offset)
        found, following, last = {}, 0, 0
        for _ in range(source.count(1, min(rows, source.rest), "ARC-91")):
            row = following + source.count(0, rows, "ARC-91")
            if row >= rows:
                raise source.error("ARC-91", f"a value of row {row}, and there are {rows}")
            offset = (last + source.zigzag()) & (1 << 64) - 1
            length = source.varint()
            if offset < FIRST_BLOCK or length <= BLOCK_HEADER_SIZE or offset + length > block.offset:
                raise source.error("ARC-92", f"a value of {length} bytes at {offset}, where none can be")
            size = source.varint()
            if not 0 < size <= min(MAX_RAW, 1032 * (length - BLOCK_HEADER_SIZE) + 64):
                raise source.error("ARC-92", f"a value of {size} bytes in a block of {length}")
            found[row] = (offset, length, size, source.u32())
            following, last = row + 1, offset + length
        return found

    def blob(self, block, offset, length, size, wanted):
        """The value itself."""
        (codec, table, column, _, rows, raw), stored, _, checksum = self.block(offset, length, BLOB)
        if checksum != wanted:
            raise FormatError("ARC-94", "another block than the column's value is here", offset)
        if (table, column, rows, raw) != (block.table, block.column, 1, size):
            raise FormatError("ARC-94", "the block isn't the value that belongs here", offset)
        if codec == 1:
            return inflate(stored, size, offset)
        if len(stored) != size:
            raise FormatError("ARC-94", "a value that isn't deflated has two lengths", offset)
        return stored

    def check_bounds(self, block, values):
        for x in values:
            if x is None:
                continue
            if block.kind in RANGES:
                is_inside = block.integers and block.integers[0] <= x <= block.integers[1]
            elif block.kind in FLOATING:
                number = number_of(x, block.kind)
                if number != number:
                    is_inside = block.may_hold_nan
                else:
                    is_inside = block.doubles and block.doubles[0] <= number <= block.doubles[1]
            else:
                return
            if not is_inside:
                raise FormatError("ARC-59", "a value is outside of the footer's bounds", block.offset)

    def check_keys(self, block):
        is_link = block.table >= len(self.schema.entities) and block.column <= 1
        if not is_link and block.column not in (VERSIONS, KEYS):
            return
        rule = "ARC-89" if is_link else "ARC-71" if block.column == VERSIONS else "ARC-70"
        for part in block.parts:
            if any(x is None or x <= 0 for x in part):
                raise FormatError(rule, "a key or a version is null, or isn't positive", block.offset)
            if block.column == KEYS and any(a >= b for a, b in zip(part, part[1:])):
                raise FormatError("ARC-70", "keys don't ascend", block.offset)

    # Section 4

    def read_footers(self):
        generation, _, offset, length = self.slot
        self.footers, chain = [], []
        while True:
            footer = self.read_footer(offset, length, not chain)
            if not chain and footer.generation != generation:
                raise FormatError("ARC-41", f"the footer is of commit {footer.generation}", offset)
            if chain and footer.generation >= chain[-1].generation:
                raise FormatError("ARC-41", "a footer builds on one that isn't older", offset)
            chain.append(footer)
            self.footers.append((offset, length))
            if footer.previous is None:
                break
            if len(chain) >= MAX_FOOTERS:
                raise FormatError("ARC-42", "too many footers hang together", offset)
            offset, length = footer.previous
        self.footer = chain[0]
        self.tables = [[] for _ in range(self.schema.table_count)]
        for footer in reversed(chain):
            for table, start, removed, groups in footer.splices:
                if start + removed > len(self.tables[table]):
                    raise FormatError("ARC-44", "groups go that aren't there", footer.offset)
                self.tables[table][start:start + removed] = groups
        self.check_tables(chain[0])

    def check_tables(self, footer):
        entities = self.schema.entities
        for table, groups in enumerate(self.tables):
            last = 0
            for chunk in (chunk for group in groups for chunk in group.chunks):
                if chunk.first <= last:
                    raise FormatError("ARC-61", "the keys of a table don't ascend", footer.offset)
                last = chunk.last
            if table < len(entities):
                following = footer.next_keys[entities[table].root.number]
            else:
                following = footer.next_join_keys[table - len(entities)]
            if last >= following:
                raise FormatError("ARC-46", f"the key {last} isn't below {following}", footer.offset)

    def read_footer(self, offset, length, is_newest):
        source = Bytes(self.text(offset, length, FOOTER), offset, True)
        footer = Footer()
        footer.offset = offset
        if source.u8() != 1:
            raise source.error("ARC-40", "a footer of another form")
        kind = source.u8()
        if kind > 1:
            raise source.error("ARC-40", "a footer of another kind")
        if kind == 1:
            footer.previous = self.place(source, offset)
        footer.generation = source.number()
        footer.time = source.zigzag()
        footer.next_group = source.count(0, (1 << 32) - 1, "ARC-48")
        footer.schema = self.place(source, offset)
        footer.metadata = self.place(source, offset)
        if is_newest:
            self.schema = Schema(self.text(*footer.schema, SCHEMA), footer.schema[0])
        footer.next_keys = self.next_keys(source, len(self.schema.entities))
        footer.next_join_keys = self.next_keys(source, len(self.schema.joins))
        for _ in range(source.things()):
            table = source.number()
            if not self.schema.is_stored(table):
                raise source.error("ARC-47", f"table {table} can't have rows")
            start, removed = source.number(), source.number()
            context = {"id": 0, "key": 0, "end": 0}
            groups = [self.group(source, table, footer, context) for _ in range(source.things())]
            footer.splices.append((table, start, removed, groups))
        if source.rest:
            raise source.error("ARC-40", f"{source.rest} bytes are left over")
        return footer

    def next_keys(self, source, count):
        if source.things() != count:
            raise source.error("ARC-45", "there are next keys for other tables than the schema's")
        found = [source.number() for _ in range(count)]
        if 0 in found:
            raise source.error("ARC-45", "a next key is 0")
        return found

    def place(self, source, end):
        offset, length = source.varint(), source.varint()
        self.check_place(source, offset, length, end)
        return offset, length

    def check_place(self, source, offset, length, end):
        if offset < FIRST_BLOCK or length <= BLOCK_HEADER_SIZE or offset + length > end:
            raise source.error("ARC-20", f"a block of {length} bytes at {offset}, where none can be")

    # Section 5

    def group(self, source, table, footer, context):
        number = context["id"] = context["id"] + source.zigzag()
        if not 0 <= number < footer.next_group:
            raise source.error("ARC-50", f"group {number} isn't numbered yet")
        count = source.u8()
        if not 1 <= count <= GROUP_CHUNKS:
            raise source.error("ARC-51", f"a group of {count} chunks")
        chunks = [self.chunk(source, context) for _ in range(count)]
        slots = self.schema.slots(table)
        columns = list(range(len(slots))) + [VERSIONS, KEYS]
        references = []
        for column in columns:
            kind = slots[column][1] if column < VERSIONS else "int64"
            reference = self.reference(source, table, column, kind, number, count, footer, context)
            may_miss = column == VERSIONS or column == KEYS and all(chunk.is_dense for chunk in chunks)
            if reference is None and not may_miss:
                raise source.error("ARC-55", "a group without the block of a column")
            references.append(reference)
        self.check_depth(source, references)
        return Group(number, chunks, references)

    def check_depth(self, source, references):
        """A column that follows from others is one deeper than the deepest of them (ENC-78)."""
        level = {place for place, found in enumerate(references) if found and found[0].sources}
        for _ in range(3):
            level = {place for place in level if any(slot in level for slot in references[place][0].sources)}
        if level:
            raise source.error("ARC-62", "columns follow from each other in a circle, or a chain that is too long")

    def chunk(self, source, context):
        rows = source.count(1, CHUNK_ROWS, "ARC-51")
        step = source.number()
        first = context["key"] + step
        if step == 0:
            raise source.error("ARC-52", f"a chunk from the key {first} on")
        flags = source.u8()
        if flags > 3:
            raise source.error("ARC-51", f"flags {flags} of a chunk")
        span = rows - 1 if flags & 1 else source.number()
        last = context["key"] = first + span
        if span < rows - 1 or last not in INT64:
            raise source.error("ARC-52", f"{rows} rows with the keys {first}...{last}")
        deleted = 0
        if flags & 2:
            deleted = int.from_bytes(source.take((rows + 7) // 8), "little")
            if deleted >> rows or not 0 < bin(deleted).count("1") < rows:
                raise source.error("ARC-53", "all rows or none are deleted, or some behind the last")
        return Chunk(rows, first, last, bool(flags & 1), deleted)

    def reference(self, source, table, column, kind, group, chunk_count, footer, context):
        flags = source.u8()
        if flags == 0:
            return None
        if not flags & 1 or flags > (255 if self.has_blobs else 127):
            raise source.error("ARC-56", f"flags {flags} of a block")
        offset = (context["end"] + source.zigzag()) & (1 << 64) - 1
        length = source.varint()
        self.check_place(source, offset, length, footer.offset)
        context["end"] = offset + length
        part = source.u8() if flags & 16 else 0
        if part + chunk_count > GROUP_CHUNKS:
            raise source.error("ARC-57", f"part {part + chunk_count - 1} of a block")
        home = source.number() if flags & 32 else group
        if home >= footer.next_group:
            raise source.error("ARC-50", f"group {home} isn't numbered yet")
        sources = []
        if flags & 64:
            slots = len(self.schema.slots(table))
            sources = [source.number() for _ in range(source.u8())]
            if not 1 <= len(sources) <= 3 or column >= slots or any(s >= slots or s == column for s in sources):
                raise source.error("ARC-62", f"column {column} follows from the columns {sources}")
        integers = doubles = None
        if flags & 2:
            least = source.zigzag()
            integers = (least, wrap(least + source.varint()))
            if integers[1] < least:
                raise source.error("ARC-60", "bounds overflow")
        if flags & 4:
            doubles = struct.unpack("<dd", source.take(16))
            if not doubles[0] <= doubles[1]:
                raise source.error("ARC-60", "bounds don't ascend")
        blob_bytes = [source.number() for _ in range(chunk_count)] if flags & 128 else [0] * chunk_count
        block = self.blocks.get(offset)
        if block is None:
            block = self.blocks[offset] = Block(
                offset, length, table, column, home, kind, sources)
            block.integers, block.doubles, block.may_hold_nan = integers, doubles, bool(flags & 8)
        elif (block.length, block.table, block.column, block.group, block.sources) != (
                length, table, column, home, sources):
            raise source.error("ARC-58", f"two blocks at {offset}")
        return block, part, blob_bytes

    # Section 6

    def column(self, group, place, number):
        """The values of one column for chunk `number` of a group."""
        chunk = group.chunks[number]
        is_keys = place == len(group.references) - 1
        reference = group.references[place]
        if reference is None:
            return list(range(chunk.first, chunk.last + 1)) if is_keys else [1] * chunk.rows
        block, first, _ = reference
        parts = self.parts(block, group)
        if first + number >= len(parts) or len(parts[first + number]) != chunk.rows:
            raise FormatError("ARC-57", f"the block has no part of {chunk.rows} rows there", block.offset)
        values = parts[first + number]
        if is_keys and (values[0], values[-1]) != (chunk.first, chunk.last):
            raise FormatError("ARC-70", "the keys aren't those that the footer says", block.offset)
        return values

    def rows(self, table):
        """(key, version, values by slot) of each row, ascending by key."""
        for group in self.tables[table]:
            for number, chunk in enumerate(group.chunks):
                columns = [self.column(group, place, number) for place in range(len(group.references))]
                *slots, versions, keys = columns
                for row in range(chunk.rows):
                    if not chunk.deleted >> row & 1:
                        yield keys[row], versions[row], [slot[row] for slot in slots]

    def read_metadata(self):
        self.metadata = metadata_of(self.text(*self.footer.metadata, METADATA), self.uuid, self.footer.metadata[0])

    # Section 12

    def to_json(self):
        """Everything, as objects that `json.dumps` writes."""
        count = sum(chunk.rows for groups in self.tables for group in groups for chunk in group.chunks)
        if count > MAX_ROWS:
            raise FormatError("limit", f"this program writes {MAX_ROWS} rows at most, not {count}", 0)
        rows = [list(self.rows(table)) for table in range(self.schema.table_count)]
        links = [self.links(relationship, rows) for relationship in self.schema.relationships]
        return {
            "generation": self.footer.generation, "created": self.created, "saved": self.footer.time,
            "metadata": self.metadata, "model": self.schema.model,
            "entities": [self.entity_json(entity, rows[entity.number], links)
                         for entity in self.schema.entities]}

    def entity_json(self, entity, rows, links):
        attributes = [(i, name, kind) for i, (name, kind, what) in enumerate(entity.slots)
                      if what == "attribute"]
        result = {
            "name": entity.name, "superentity": entity.superentity and entity.superentity.name,
            "isAbstract": entity.is_abstract, "types": {name: kind for _, name, kind in attributes}, "rows": []}
        if entity.superentity is None:
            result["nextKey"] = self.footer.next_keys[entity.number]
        relationships = entity.relationships()
        for key, version, values in rows:
            result["rows"].append({
                "key": key, "version": version,
                "values": {name: json_value(values[i], kind) for i, name, kind in attributes},
                "relationships": {
                    r.name: self.related(r, key, values, links[r.number]) for r in relationships}})
        return result

    @staticmethod
    def related(relationship, key, values, links):
        if relationship.has_key:
            return values[relationship.slot]
        found = links.get(key, [])
        return (found[0] if found else None) if relationship.to_one else found

    def links(self, relationship, rows):
        """For a relationship without the key: the keys that it leads to, by the key of the source."""
        found = {}
        back = relationship.inverse
        if relationship.has_key:
            return found
        if relationship.join is not None:
            side = relationship.side
            for key, _, values in rows[len(self.schema.entities) + relationship.join.number]:
                order = (values[2 + side] or 0, key) if relationship.ordered else values[1 - side]
                found.setdefault(values[side], []).append((order, values[1 - side]))
        else:
            for entity in self.schema.entities:
                if relationship.destination not in entity.lineage or entity.is_abstract:
                    continue
                for key, _, values in rows[entity.number]:
                    owner = values[back.slot]
                    if owner is not None:
                        order = 0 if back.order is None else values[back.order] or 0
                        found.setdefault(owner, []).append(((order, key), key))
        return {key: [target for _, target in sorted(members)] for key, members in found.items()}

    def verify(self):
        """Reads every byte up to the end of the newest state (ARC-23), and all rows."""
        offset, end = FIRST_BLOCK, self.slot[1]
        while offset < end:
            if self.bytes(offset, 8) == b"\x89CRNTRL1":
                if self.read_trailer(offset + TRAILER_SIZE) is None:
                    raise FormatError("ARC-14", "a trailer is damaged", offset)
                offset += TRAILER_SIZE
                continue
            data = self.bytes(offset, BLOCK_HEADER_SIZE)
            if len(data) < BLOCK_HEADER_SIZE:
                raise FormatError("ARC-23", "neither a block nor a trailer is here", offset)
            length = BLOCK_HEADER_SIZE + int.from_bytes(data[24:28], "little")
            if offset + length > end:
                raise FormatError("ARC-23", "a block goes on behind the end", offset)
            self.block(offset, length, data[4])
            offset += length
        self.check_blob_bytes()
        for table in range(self.schema.table_count):
            for _ in self.rows(table):
                pass

    def check_blob_bytes(self):
        """Holds what footers say that blobs take against the columns (ARC-95)."""
        for groups in self.tables:
            for group in groups:
                for place, reference in enumerate(group.references):
                    if reference is None:
                        continue
                    block, first, said = reference
                    self.parts(block, group)
                    if block.blob_bytes[first:first + len(said)] != said:
                        raise FormatError(
                            "ARC-95", f"the values of column {place} that are kept apart don't take {said} bytes",
                            block.offset)

    def structure(self):
        """Where everything lies, for people who look at a file."""
        generation, length, footer, footer_length = self.slot
        blocks = [
            {"offset": b.offset, "length": b.length, "table": b.table, "column": b.column, "group": b.group}
            for _, b in sorted(self.blocks.items())]
        return {
            "header": self.header, "uuid": uuid_text(self.uuid), "generation": generation,
            "fileLength": length, "footers": self.footers, "schema": self.footer.schema,
            "metadata": self.footer.metadata, "columns": blocks}


# MARK: Metadata (archive.md, section 8)

def metadata_of(text, uuid, at):
    """The metadata that a text at an offset says, which has to name the UUID."""

    def error(message, rule="ARC-100"):
        return FormatError(rule, f"the metadata: {message}", at)

    try:
        document = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise error(f"they are no JSON: {problem}") from None
    wanted = {"uuid": str, "entries": dict, "versionHashes": dict, "versionIdentifiers": list}
    if not isinstance(document, dict) or any(
            not isinstance(document.get(name), kind) for name, kind in wanted.items()):
        raise error("a field is missing, or isn't of the right type")
    if uuid_bytes(document["uuid"]) != uuid:
        raise error("they are of another archive")
    if any(data_bytes(text) is None for text in document["versionHashes"].values()) or any(
            not isinstance(text, str) for text in document["versionIdentifiers"]):
        raise error("a version is no hash, or has no name")
    entries = {}
    for name, entry in document["entries"].items():
        if not isinstance(entry, dict) or any(
                not isinstance(entry.get(field), str) for field in ("type", "value")):
            raise error("an entry isn't of the right type")
        if not fits(entry["type"], entry["value"]):
            raise error(f"the entry {name!r} is no {entry['type']}: {entry['value']!r}", "ARC-101")
        entries[name] = {"type": entry["type"], "value": entry["value"]}
    metadata = {name: document[name] for name in wanted}
    metadata.update(entries=entries, uuid=uuid_text(uuid))
    return metadata


# MARK: Values

def number_of(pattern, kind):
    if kind == "float":
        return struct.unpack("<f", struct.pack("<I", pattern))[0]
    return struct.unpack("<d", struct.pack("<Q", pattern))[0]


def json_value(value, kind):
    if value is None:
        return None
    if kind in FLOATING:
        number = number_of(value, kind)
        if number - number == 0:
            return number
        return {"bits": f"{value:0{8 if kind == 'float' else 16}x}"}
    if kind == "bool":
        return value == 1
    if kind == "uuid":
        return uuid_text(value)
    if kind in ("string", "uri"):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            return {"bytes": base64.b64encode(value).decode("ascii")}
    if kind in ("data", "transformable"):
        return base64.b64encode(value).decode("ascii")
    return value


def uuid_text(data):
    digits = bytes(data).hex().upper()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def uuid_bytes(text):
    digits = text.replace("-", "")
    if len(text) != 36 or len(digits) != 32 or not is_hex(digits):
        return None
    return bytes.fromhex(digits) if uuid_text(bytes.fromhex(digits)) == text.upper() else None


def data_bytes(text):
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None


def is_hex(text):
    return bool(text) and all(c in "0123456789abcdefABCDEF" for c in text)


def is_digits(text):
    return bool(text) and all(c in "0123456789" for c in text)


def fits(kind, text):
    """Whether the text of a metadata entry is of its type (ARC-101)."""
    unsigned = text[1:] if text.startswith("-") else text
    if kind == "int64":
        return is_digits(unsigned) and len(unsigned) < 25 and int(text) in INT64
    if kind == "bool":
        return text in ("0", "1")
    if kind in ("double", "date", "float"):
        return len(text) == (8 if kind == "float" else 16) and is_hex(text)
    if kind == "decimal":
        whole, point, fraction = unsigned.partition(".")
        return text == "NaN" or is_digits(whole) and (not point or is_digits(fraction))
    if kind == "uuid":
        return uuid_bytes(text) is not None
    if kind == "data":
        return data_bytes(text) is not None
    return kind in ("string", "uri")


def main(arguments):
    options = {argument for argument in arguments if argument.startswith("--")}
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if len(paths) != 1 or options - {"--structure", "--verify"}:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(paths[0], "rb") as file:
            archive = Archive(file.read())
        if "--verify" in options:
            archive.verify()
            return 0
        result = archive.structure() if "--structure" in options else archive.to_json()
    except FormatError as error:
        print(f"{paths[0]}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    json.dump(result, sys.stdout, ensure_ascii=True, allow_nan=False, indent=None)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
