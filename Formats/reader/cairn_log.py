#!/usr/bin/env python3
"""Reads a Cairn log and writes it as JSON. Made from the pages in Formats alone, and needs nothing but Python 3.

    cairn_log.py DIRECTORY            the newest state and the commits as JSON (log.md, section 13)
    cairn_log.py --frames DIRECTORY   where the groups of frames are, up to the end or to what is wrong

Everything that is read is verified first, and nothing is written. A log that breaks a rule of the pages gives an error that
names the rule, the file and the offset, and exit code 1. Numbers in brackets, such as LOG-30, are those of the pages.

Or, from Python: `cairn_log.Log(files).to_json()`, with a dictionary of the directory's files by name, which raises
`FormatError`.
"""
import json
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cairn_archive import (
    FLOATING, JOIN_SLOTS, MAX_ROWS, RANGES, Archive, Bytes, Footer, FormatError, Payload, decimal_text, inflate,
    json_value, metadata_of)

MANIFEST = "MANIFEST"
MANIFEST_MAGIC, SEGMENT_MAGIC = b"\x89CRL\r\n\x1a\n", b"\x89CRS\r\n\x1a\n"
MANIFEST_HEAD, BASE_SIZE, ENTRY_SIZE, HEADER_SIZE, FRAME_HEADER = 96, 32, 64, 64, 36
LARGEST_PIECE, LARGEST_CONTENT = 1 << 20, 16 << 20
TRANSACTION, KEYS, CLOSE, IDLE = 1, 2, 3, 4
COMMIT, COMPRESSED, ANCILLARY = 1, 2, 4
BLOCK_ROWS = 16384
COST_BASE, COST_PER_BYTE = 1 << 28, 64
MAX = (1 << 63) - 1
CHANGES = {4: "add", 5: "remove", 6: "replace"}


class LogError(FormatError):
    """A rule that is broken in a file of the log."""

    def __init__(self, rule, message, file, offset):
        FormatError.__init__(self, rule, f"{file}: {message}", offset)
        self.file = file


class Base:
    def __init__(self, data):
        self.number, self.generation, self.first, self.length = struct.unpack("<QqQQ", data)
        self.name = f"base-{self.number}"


class Segment:
    def __init__(self, data):
        (self.number, self.salt, self.first, self.promised, self.length, self.generation, self.newest_time,
         self.sealed, self.zero) = struct.unpack("<QQQQQqqII", data)
        self.name = f"log-{self.number}"


class Frame:
    """The fields of a frame whose checksum is right."""

    def __init__(self, data, offset):
        self.sequence, self.generation, self.durable, self.kind, self.flags, self.zero = struct.unpack_from(
            "<QqQBBH", data, 8)
        self.payload = data[FRAME_HEADER:]
        self.offset, self.end = offset, offset + len(data)

    def fault(self):
        """What no writer makes (section 4)."""
        if self.kind == 0:
            return "LOG-31", "a frame of kind 0"
        if self.zero or self.flags > 7:
            return "LOG-32", "a frame with unknown flags"
        if self.durable >= self.sequence:
            return "LOG-33", "a frame that was durable before it was written"
        if self.generation < 0:
            return "LOG-33", f"a frame of commit {self.generation}"
        if self.kind > IDLE and not self.flags & ANCILLARY:
            return "LOG-31", f"a frame of kind {self.kind}"
        if self.sequence == (1 << 64) - 1:
            return "LOG-30", "a frame with the highest of all sequences"
        return None


class Group:
    def __init__(self, frames, payload):
        self.first, self.last = frames[0].sequence, frames[-1].sequence
        self.kind, self.generation = frames[0].kind, frames[0].generation
        self.offset, self.end = frames[0].offset, frames[-1].end
        self.payload = payload


class BlockPayload(Payload):
    """A payload in which no texts grow out of their fronts (LOG-55)."""

    def list(self, n, form, is_inner=False):
        if form == 3:
            raise self.source.error("LOG-55", "a list of common fronts")
        return super().list(n, form, is_inner)


class Changes:
    """What a transaction says (sections 5 and 6)."""

    def __init__(self, source, schema, at):
        self.source, self.schema, self.at = source, schema, at
        self.keys = read_keys(source, schema)
        self.time = source.u64()
        self.author, self.context = self.text(), self.text()
        self.length = source.rest
        self.cost = 0
        self.inserts, self.updates, self.deletes, self.links = [], [], [], []
        rank = 1
        while source.rest:
            byte = source.u8()
            kind, in_blocks = byte & ~16, bool(byte & 16)
            if not 1 <= kind <= 6 or in_blocks and kind > 3:
                raise source.error("LOG-50", f"there is no batch of kind {byte}")
            if min(kind, 4) < rank:
                raise source.error("LOG-50", "batches stand in another order")
            rank = min(kind, 4)
            if kind > 3:
                self.links.append(self.link(kind))
            else:
                (self.inserts, self.updates, self.deletes)[kind - 1].append(self.batch(kind, in_blocks))

    def text(self):
        length = self.source.count(0, self.source.rest, "LOG-45")
        if length == 0:
            return None
        try:
            return self.source.take(length - 1).decode("utf-8")
        except UnicodeDecodeError:
            raise self.source.error("LOG-45", "a text is no UTF-8") from None

    def charge(self, more):
        self.cost += more
        if self.cost > COST_BASE + COST_PER_BYTE * self.length:
            raise self.source.error("LOG-56", f"{self.length} bytes that grow to {self.cost} in memory")

    def entity(self, like=None):
        entities = self.schema.entities
        entity = entities[self.source.count(0, len(entities) - 1, "LOG-51")]
        if like is not None and entity.root is not like.root:
            raise self.source.error("LOG-57", f"a row of {entity.name!r} can't stand here")
        return entity

    def batch(self, kind, in_blocks):
        """(entity, keys, slots, a column for each slot)."""
        source = self.source
        entity = self.entity()
        if entity.is_abstract:
            raise source.error("LOG-51", f"{entity.name!r} is abstract and has no rows")
        rows = source.count(1, source.rest // 2 * BLOCK_ROWS if in_blocks else source.rest, "LOG-51")
        keys = None if in_blocks else self.plain_keys(rows)
        slots, nulls = [], set()
        count = len(entity.slots)
        if kind == 1:
            bits = int.from_bytes(source.take((count + 7) // 8), "little")
            if bits >> count:
                raise source.error("LOG-52", "a batch names slots that aren't there")
            slots = [slot for slot in range(count) if bits >> slot & 1]
        elif kind == 2:
            for _ in range(source.count(1, min(count, source.rest), "LOG-52")):
                code = source.count(0, 2 * count - 1, "LOG-52")
                if code >> 1 in slots:
                    raise source.error("LOG-52", f"a batch names slot {code >> 1} twice")
                slots.append(code >> 1)
                if code & 1:
                    nulls.add(code >> 1)
        self.charge(8 * rows * (1 + len(slots)))
        kinds = [entity.slots[slot][1] for slot in slots if slot not in nulls]
        if in_blocks:
            keys, columns = self.blocks(rows, kinds)
        else:
            columns = [self.plain(kind, rows) for kind in kinds]
        columns = iter(columns)
        return entity, keys, slots, [[None] * rows if slot in nulls else next(columns) for slot in slots]

    def plain_keys(self, rows):
        keys, least = [], 1
        for _ in range(rows):
            key = least + self.source.varint()
            if key > MAX:
                raise self.source.error("LOG-53", "a key is too great")
            keys.append(key)
            least = key + 1
        return keys

    def plain(self, kind, rows):
        source = self.source
        nulls = 0
        if rows > 1:
            form = source.u8()
            if form > 1:
                raise source.error("LOG-54", f"nulls have no form {form} here")
            if form == 1:
                nulls = int.from_bytes(source.take((rows + 7) // 8), "little")
                if nulls >> rows or not 0 < bin(nulls).count("1") < rows:
                    raise source.error("LOG-54", "a bitmap of all or none, or with bits behind the last row")
        return [None if nulls >> row & 1 else self.value(kind) for row in range(rows)]

    def value(self, kind):
        source = self.source
        if kind in RANGES:
            value = source.varint() if kind in ("bool", "key") else source.zigzag()
            if value not in RANGES[kind]:
                raise source.error("LOG-53", f"{value} is no {kind}")
            return value
        if kind in FLOATING:
            return source.u32() if kind == "float" else source.u64()
        if kind == "uuid":
            return source.take(16)
        if kind == "decimal":
            exponent, flags = struct.unpack("<bB", source.take(2))
            low, high = source.varint(), source.varint()
            words = flags & 15
            if flags > 63 or words > 8:
                raise source.error("LOG-53", "a value is no decimal")
            significand = (low | high << 64) & (1 << 16 * words) - 1
            return decimal_text(significand, exponent, words, bool(flags & 16))
        return source.take(source.count(0, source.rest, "LOG-53"))

    def blocks(self, rows, kinds):
        source = self.source
        groups = (rows + BLOCK_ROWS - 1) // BLOCK_ROWS
        if groups * (1 + len(kinds)) > source.rest // 2:
            raise source.error("LOG-55", f"there aren't blocks for {rows} rows")
        found = []
        for _ in range(groups * (1 + len(kinds))):
            code = source.count(0, (1 << 32) - 1, "LOG-55")
            raw = source.count(0, 1 << 30, "LOG-55") if code & 1 else code >> 1
            found.append((raw, code & 1, source.place, source.take(code >> 1)))
            self.charge(raw)
        columns = []
        for number, kind in enumerate(["int64"] + kinds):
            column = []
            for group in range(groups):
                raw, is_deflated, place, stored = found[number * groups + group]
                count = min(BLOCK_ROWS, rows - group * BLOCK_ROWS)
                if is_deflated:
                    if not stored or raw > 1032 * len(stored) + 64:
                        raise FormatError("ENC-3", f"{len(stored)} bytes can't inflate to {raw}", source.at + place)
                    stored = inflate(stored, raw, source.at + place)
                column += BlockPayload(Bytes(stored, source.at + place, True), kind, count).values()
            columns.append(column)
        last = 0
        for key in columns[0]:
            if key is None or key <= last:
                raise source.error("LOG-55", "keys are positive and ascend")
            last = key
        return columns[0], columns[1:]

    def link(self, kind):
        """(relationship, owner, change, members)."""
        source = self.source
        relationships = self.schema.relationships
        relationship = relationships[source.count(0, len(relationships) - 1, "LOG-57")]
        self.entity(like=relationship.owner)
        owner = source.zigzag()
        members = []
        while True:
            count = source.count(0, source.rest, "LOG-57")
            if count == 0:
                return relationship, owner, CHANGES[kind], members
            self.entity(like=relationship.destination)
            key = 0
            for _ in range(count):
                key = (key + source.zigzag() + (1 << 63)) % (1 << 64) - (1 << 63)
                members.append(key)

    def to_json(self, generation):
        def rows(batch):
            return {"entity": batch[0].name, "keys": batch[1]}

        return {
            "generation": generation, "time": json_value(self.time, "date"), "author": self.author,
            "contextName": self.context, "inserts": [rows(batch) for batch in self.inserts],
            "updates": [{**rows(batch), "slots": [batch[0].slots[slot][0] for slot in batch[2]]}
                        for batch in self.updates],
            "deletes": [rows(batch) for batch in self.deletes],
            "links": [{"relationship": f"{relationship.owner.name}.{relationship.name}", "owner": owner,
                       "change": change, "members": members}
                      for relationship, owner, change, members in self.links]}


def behind(place):
    """The next place in a list, which are 64-bit numbers: the least comes behind the greatest (LOG-61)."""
    return place + 1 if place < MAX else -MAX - 1


def read_keys(source, schema):
    """The next keys by root."""
    found, last = {}, -1
    for _ in range(source.count(0, len(schema.entities), "LOG-40")):
        root = source.count(0, len(schema.entities) - 1, "LOG-40")
        key = source.varint()
        if root <= last or schema.entities[root].root.number != root or not 1 <= key <= MAX:
            raise source.error("LOG-40", f"{key} as the next key of entity {root}")
        found[root] = key
        last = root
    return found


class State(Archive):
    """Rows in memory, on which transactions are made (section 7)."""

    def __init__(self, base):
        self.schema = base.schema
        self.footer = Footer()
        self.footer.generation = base.footer.generation
        self.footer.next_keys = list(base.footer.next_keys)
        self.next_join_keys = list(base.footer.next_join_keys)
        # By table: version and values, by key.
        self.content = [
            {key: [version, values] for key, version, values in base.rows(table)}
            for table in range(self.schema.table_count)]

    def rows(self, table):
        for key, (version, values) in sorted(self.content[table].items()):
            yield key, version, values

    def to_json(self):
        rows = [list(self.rows(table)) for table in range(self.schema.table_count)]
        links = [self.links(relationship, rows) for relationship in self.schema.relationships]
        return {
            "generation": self.footer.generation, "metadata": self.metadata, "model": self.schema.model,
            "entities": [self.entity_json(entity, rows[entity.number], links) for entity in self.schema.entities]}

    # Where rows are

    def family(self, entity):
        """The tables of an entity and all that inherit from it."""
        return [other.number for other in self.schema.entities if entity in other.lineage and not other.is_abstract]

    def find(self, entity, key):
        """The row with that key in the family of an entity."""
        return next((self.content[table][key] for table in self.family(entity) if key in self.content[table]), None)

    # Making a transaction

    def make(self, changes, error):
        for root, key in changes.keys.items():
            self.footer.next_keys[root] = max(self.footer.next_keys[root], key)
        self.check_rows(changes, error)
        self.before = [dict(rows) for rows in self.content]
        # Rows that change get lists of their own, so that those from before stay.
        self.places = {}
        deleted = {}
        for entity, keys, _, _ in changes.deletes:
            deleted.setdefault(entity.root, set()).update(keys)
            for key in keys:
                del self.content[entity.number][key]
        for batch in changes.updates:
            self.update(*batch)
        for batch in changes.inserts:
            self.insert(*batch)
        self.check_references(changes, error)
        for join in self.schema.joins:
            self.change_join(join, changes.links, deleted)
        for relationship, owner, change, members in changes.links:
            if relationship.join is None:
                self.set_places(relationship, owner, change, members)
        self.footer.generation += 1

    def check_rows(self, changes, error):
        seen = {}
        for number, batches in enumerate((changes.inserts, changes.updates, changes.deletes)):
            for entity, keys, _, _ in batches:
                known = seen.setdefault(entity.root, set())
                for key in keys:
                    if key in known:
                        raise error("LOG-60", f"row {key} of {entity.name!r} stands in two batches")
                    known.add(key)
                    if number == 0 and key >= self.footer.next_keys[entity.root.number]:
                        raise error("LOG-60", f"key {key} of {entity.name!r} isn't handed out yet")
                    if number == 0 and self.find(entity.root, key) is not None:
                        raise error("LOG-60", f"row {key} of {entity.name!r} is there already")
                    if number > 0 and key not in self.content[entity.number]:
                        raise error("LOG-60", f"row {key} of {entity.name!r} isn't there")

    def check_references(self, changes, error):
        for entity, _, slots, columns in changes.inserts + changes.updates:
            for slot, column in zip(slots, columns):
                if entity.slots[slot][2] != "key":
                    continue
                relationship = next(r for r in entity.relationships() if r.slot == slot)
                for key in column:
                    if key is not None and self.find(relationship.destination, key) is None:
                        raise error("LOG-60", f"key {key} leads to no {relationship.destination.name!r}")
        for relationship, owner, change, members in changes.links:
            wanted = [] if change == "remove" else [self.find(relationship.destination, key) for key in members]
            if self.find(relationship.owner, owner) is None or None in wanted:
                raise error("LOG-60", f"a link of {relationship.name!r} leads to no row")
            back = relationship.inverse
            is_list = relationship.join is None and back is not None and back.order is not None
            if relationship.join is None and not is_list or len(set(members)) < len(members):
                raise error("LOG-64", f"a link of {relationship.name!r}, which has none, or with a member twice")
            if is_list and (change == "remove" or any(row[1][back.slot] != owner for row in wanted)):
                raise error("LOG-63", f"a link of {relationship.name!r} to rows that aren't its members")

    # Places in lists whose keys stand in the rows (LOG-61)

    def orders(self, entity):
        """(slot of the key, slot of the place, relationship) of each list that rows of an entity are in."""
        return [(r.slot, r.order, r) for r in entity.relationships() if r.order is not None]

    @staticmethod
    def last_place(tables, key_slot, order_slot, owner):
        return max((
            values[order_slot] for rows in tables for _, values in rows.values()
            if values[key_slot] == owner and values[order_slot] is not None), default=0)

    def next_place(self, relationship, owner):
        known = (relationship, owner)
        if known not in self.places:
            tables = [self.before[table] for table in self.family(relationship.owner)]
            self.places[known] = max(0, self.last_place(tables, relationship.slot, relationship.order, owner))
        self.places[known] = behind(self.places[known])
        return self.places[known]

    def update(self, entity, keys, slots, columns):
        for row, key in enumerate(keys):
            version, old = self.content[entity.number][key]
            values = list(old)
            for slot, column in zip(slots, columns):
                values[slot] = column[row]
            self.content[entity.number][key] = [version + 1, values]
        for key_slot, order_slot, relationship in self.orders(entity):
            if key_slot not in slots:
                continue
            is_given = order_slot in slots
            for key in keys:
                values = self.content[entity.number][key][1]
                old = self.before[entity.number][key][1]
                if values[key_slot] is None:
                    values[order_slot] = None
                elif is_given and values[order_slot] is not None:
                    continue
                elif not is_given and old[key_slot] == values[key_slot] and old[order_slot] is not None:
                    values[order_slot] = old[order_slot]
                else:
                    values[order_slot] = self.next_place(relationship, values[key_slot])

    def insert(self, entity, keys, slots, columns):
        for row, key in enumerate(keys):
            values = [None] * len(entity.slots)
            for slot, column in zip(slots, columns):
                values[slot] = column[row]
            self.content[entity.number][key] = [1, values]
        for key_slot, order_slot, relationship in self.orders(entity):
            for key in keys:
                values = self.content[entity.number][key][1]
                if values[key_slot] is None:
                    values[order_slot] = None
                elif values[order_slot] is None:
                    values[order_slot] = self.next_place(relationship, values[key_slot])

    def set_places(self, relationship, owner, change, members):
        """LOG-63."""
        back = relationship.inverse
        place = 1
        family = self.family(relationship.destination)
        if change == "add":
            def was_member(key):
                return any(self.before[table].get(key, (0, {back.slot: None}))[1][back.slot] == owner for table in family)
            members = [key for key in members if not was_member(key)]
            place = behind(max(0, self.last_place(
                [self.content[table] for table in family], back.slot, back.order, owner)))
        for key in members:
            row = self.find(relationship.destination, key)
            row[1] = list(row[1])
            row[1][back.order] = place
            place = behind(place)

    # Joins (LOG-62)

    def change_join(self, join, links, deleted):
        table = len(self.schema.entities) + join.number
        rows = self.content[table]
        source = join.source
        is_symmetric = join.target is source
        ordered = (source.ordered, bool(join.target is not None and join.target.ordered and not is_symmetric))
        # By pair: row, whether it is a member, places.
        pairs = {(values[0], values[1]): [key, True, [values[2], values[3]]] for key, (_, values) in rows.items()}
        lasts = {}

        def next_place(side, owner):
            if (side, owner) not in lasts:
                lasts[side, owner] = max(0, self.last_place([rows], side, 2 + side, owner))
            lasts[side, owner] = behind(lasts[side, owner])
            return lasts[side, owner]

        def both(pair):
            return [pair, pair[::-1]] if is_symmetric else [pair]

        def add(pair):
            for one in both(pair):
                state = pairs.setdefault(one, [None, False, [None, None]])
                if not state[1]:
                    state[1] = True
                    for side in (0, 1):
                        if ordered[side]:
                            state[2][side] = next_place(side, one[side])

        def remove(pair):
            for one in both(pair):
                pairs.setdefault(one, [None, False, [None, None]])[1] = False

        for relationship, owner, change, members in links:
            if relationship.join is not join:
                continue
            side = relationship.side
            of_members = [(owner, member) if side == 0 else (member, owner) for member in members]
            if change == "add":
                for pair in of_members:
                    add(pair)
            elif change == "remove":
                for pair in of_members:
                    remove(pair)
            else:
                for pair in [pair for pair in pairs if pair[side] == owner and pair not in of_members]:
                    remove(pair)
                for place, pair in enumerate(of_members):
                    add(pair)
                    if ordered[side]:
                        pairs[pair][2][side] = place + 1
                if ordered[side]:
                    lasts[side, owner] = len(members)
        for side, entity in ((0, source.owner), (1, source.destination)):
            for pair, state in pairs.items():
                if pair[side] in deleted.get(entity.root, ()):
                    state[1] = False
        for pair, (key, is_member, places) in sorted(pairs.items()):
            if not is_member:
                rows.pop(key, None)
            elif key is not None:
                if rows[key][1][2:] != places:
                    rows[key] = [rows[key][0] + 1, [*pair, *places]]
            else:
                rows[self.next_join_keys[join.number]] = [1, [*pair, *places]]
                self.next_join_keys[join.number] += 1


class Log:
    """A log that is open: everything that makes up the newest state is read and verified."""

    # Bases by content, for whoever reads many logs that differ in other files.
    bases_read = {}

    def __init__(self, files):
        self.files = files
        self.read_manifest()
        self.state = State(self.open_base(self.bases[-1]))
        for base in self.bases[:-1]:
            self.check_base(base)
        self.state.metadata = self.metadata
        self.schema = self.state.schema
        self.groups = []
        first = self.bases[-1].first
        for segment in self.segments:
            if segment.first < first:
                self.open_segment(segment)
        for segment in self.segments:
            if segment.first >= first:
                self.replay(segment)

    @classmethod
    def of_directory(cls, path):
        return cls({file.name: file.read_bytes() for file in pathlib.Path(path).iterdir() if file.is_file()})

    # Section 2

    def read_manifest(self):
        if MANIFEST not in self.files:
            raise LogError("LOG-1", "there is no manifest", MANIFEST, 0)
        data = self.files[MANIFEST]

        def check(is_right, rule, message, offset):
            if not is_right:
                raise LogError(rule, message, MANIFEST, offset)

        check(data.startswith(MANIFEST_MAGIC), "LOG-10", "it doesn't begin as a manifest does", 0)
        check(len(data) >= MANIFEST_HEAD + 4, "LOG-10", "it is cut off", len(data))
        (major, _, size, _, for_reading, incompatible, self.uuid, self.created, self.serial, self.purged, base_count,
         segment_count, metadata_length, zero) = struct.unpack_from("<HHIQQQ16sqQqIIII", data, 8)
        check(size == len(data) and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little"), "LOG-10",
              "its size or checksum is wrong", len(data) - 4)
        check(major == 1, "LOG-11", f"version {major} of the format isn't known", 8)
        check(not incompatible, "LOG-12", f"features {incompatible:#x} aren't known", 32)
        self.compatible_for_reading = for_reading
        check(zero == 0, "LOG-13", "a part that has to be zero isn't", 92)
        segments_at = MANIFEST_HEAD + base_count * BASE_SIZE
        metadata_at = segments_at + segment_count * ENTRY_SIZE
        check(base_count and segment_count and metadata_at + metadata_length + 4 == size, "LOG-13",
              f"{base_count} bases and {segment_count} segments", 80)
        self.bases = [Base(data[at:at + BASE_SIZE]) for at in range(MANIFEST_HEAD, segments_at, BASE_SIZE)]
        self.segments = [Segment(data[at:at + ENTRY_SIZE]) for at in range(segments_at, metadata_at, ENTRY_SIZE)]
        self.check_manifest(lambda is_right, rule, message: check(is_right, rule, message, MANIFEST_HEAD))
        try:
            self.metadata = metadata_of(data[metadata_at:-4], self.uuid, metadata_at)
        except FormatError as error:
            raise LogError("LOG-19", error.message, MANIFEST, metadata_at) from None

    def check_manifest(self, check):
        bases, segments = self.bases, self.segments
        for s in segments:
            check(s.sealed <= 1 and s.zero == 0, "LOG-17", f"segment {s.number} with unknown flags")
        numbers = [file.number for file in bases + segments]
        check(len(set(numbers)) == len(numbers) and 0 not in numbers and self.serial, "LOG-14",
              "a number is used twice, or is 0")
        for old, new in zip(bases, bases[1:]):
            check(old.generation <= new.generation and old.first < new.first, "LOG-15", "the bases don't ascend")
        for old, new in zip(segments, segments[1:]):
            check(old.sealed and new.first == old.promised + 1 and new.generation >= old.generation, "LOG-16",
                  "the segments don't follow on each other")
        for s in segments:
            check(s.first > 0 and s.promised >= s.first and HEADER_SIZE < s.length < MAX and s.generation >= 0,
                  "LOG-17", f"segment {s.number} can't be as it says")
        check(not segments[-1].sealed, "LOG-16", "the last segment is sealed")
        places = {(s.first, s.generation) for s in segments}
        for b in bases:
            check(b.length < MAX and (b.first, b.generation) in places, "LOG-18",
                  f"base {b.number} begins where no segment does")

    # Files

    def file(self, part, is_exact):
        data = self.files.get(part.name)
        if data is None:
            raise LogError("LOG-2", "the manifest names it, and it isn't there", part.name, 0)
        if len(data) < part.length or is_exact and len(data) != part.length:
            raise LogError("LOG-21", f"it has {len(data)} bytes, and the manifest says {part.length}", part.name,
                           min(len(data), part.length))
        return data

    def open_base(self, base):
        data = self.file(base, True)
        if data not in Log.bases_read:
            try:
                archive = Archive(data)
                count = sum(chunk.rows for groups in archive.tables for group in groups for chunk in group.chunks)
                if count > MAX_ROWS:
                    raise FormatError("limit", f"this program reads {MAX_ROWS} rows at most, not {count}", 0)
                State(archive)
            except FormatError as error:
                archive = error
            if len(Log.bases_read) > 100:
                Log.bases_read.clear()
            Log.bases_read[data] = archive
        archive = Log.bases_read[data]
        if isinstance(archive, FormatError):
            raise LogError(archive.rule, archive.message, base.name, archive.offset)
        if archive.uuid != self.uuid:
            raise LogError("LOG-21", "it belongs to another store", base.name, 40)
        if archive.footer.generation != base.generation:
            raise LogError("LOG-21", f"it has commit {archive.footer.generation}", base.name, 0)
        return archive

    def check_base(self, base):
        """That a base which isn't needed now is there, and is this store's."""
        archive = object.__new__(Archive)
        archive.data = self.file(base, True)
        try:
            archive.read_header()
        except FormatError as error:
            raise LogError("LOG-24", error.message, base.name, error.offset) from None
        if archive.uuid != self.uuid:
            raise LogError("LOG-21", "it belongs to another store", base.name, 40)

    def open_segment(self, segment):
        data = self.file(segment, segment.sealed)
        header = data[:HEADER_SIZE]

        def check(is_right, rule, message, offset):
            if not is_right:
                raise LogError(rule, message, segment.name, offset)

        check(header.startswith(SEGMENT_MAGIC), "LOG-20", "it doesn't begin as a segment does", 0)
        check(zlib.crc32(header[:60]) == int.from_bytes(header[60:], "little"), "LOG-20", "the checksum is wrong", 60)
        major, _, size, uuid, number, first, salt, zero = struct.unpack_from("<HHI16sQQQI", header, 8)
        check(major == 1, "LOG-11", f"version {major} of the format isn't known", 8)
        check(size == HEADER_SIZE and zero == 0, "LOG-20", "another size, or no zero", 12)
        check((uuid, number, first, salt) == (self.uuid, segment.number, segment.first, segment.salt), "LOG-21",
              "it is another segment than the manifest says", 16)
        return data

    # Section 8

    @staticmethod
    def frame(data, offset, salt):
        """The frame at an offset, if one with a right checksum is there (LOG-30)."""
        length = int.from_bytes(data[offset:offset + 4], "little")
        if not FRAME_HEADER - 8 <= length <= FRAME_HEADER - 8 + LARGEST_PIECE or offset + 8 + length > len(data):
            return None
        whole = data[offset:offset + 8 + length]
        seed = struct.pack("<QI", salt, length)
        if zlib.crc32(whole[8:], zlib.crc32(seed)) != int.from_bytes(whole[4:8], "little"):
            return None
        return Frame(whole, offset)

    def groups_of(self, segment):
        """Each group in order, and at last what follows: None, or why there is a torn tail."""
        data = self.open_segment(segment)
        offset, sequence = HEADER_SIZE, segment.first
        while True:
            frames, place = [], offset
            while True:
                frame = self.frame(data, place, segment.salt)
                if frame is None or frame.sequence != sequence + len(frames):
                    yield self.missing(segment, data, offset, place, sequence + len(frames))
                    return
                fault = frame.fault() or self.misfit(frames, frame)
                if fault:
                    raise LogError(*fault, segment.name, place)
                frames.append(frame)
                place = frame.end
                if frame.flags & COMMIT:
                    break
            payload = b"".join(frame.payload for frame in frames)
            if frames[-1].flags & COMPRESSED:
                payload = self.inflated(payload, segment, offset)
            yield Group(frames, payload)
            offset, sequence = place, frames[-1].sequence + 1

    @staticmethod
    def misfit(frames, frame):
        """What is wrong with a frame as one of its group (LOG-35)."""
        if frames:
            first = frames[0]
            if (first.kind, first.generation, first.flags) != (frame.kind, frame.generation, frame.flags & ~COMMIT):
                return "LOG-35", "a frame of another kind or commit within a group"
        if not frame.flags & COMMIT and len(frame.payload) != LARGEST_PIECE:
            return "LOG-35", f"a piece of {len(frame.payload)} bytes that isn't the last of its group"
        return None

    @staticmethod
    def inflated(payload, segment, offset):
        length = int.from_bytes(payload[:4], "little")
        stored = payload[4:]
        if not stored or not 0 < length <= min(LARGEST_CONTENT, 1032 * len(stored) + 64):
            raise LogError("LOG-36", "a payload that can't be inflated", segment.name, offset)
        try:
            return inflate(stored, length, offset)
        except FormatError as error:
            raise LogError("LOG-36", error.message, segment.name, offset) from None

    def missing(self, segment, data, start, place, sequence):
        """Decides what it means that the frame `sequence` isn't at `place`, of a group that begins at `start`."""
        if sequence <= segment.promised:
            raise LogError("LOG-70", f"frame {sequence} isn't there, and the manifest promises it", segment.name, place)
        end = place + len(data[place:].rstrip(b"\0"))
        if segment.sealed:
            if end > place:
                raise LogError("LOG-70", "something follows the last frame", segment.name, place)
            return None
        if end == place:
            return None if place == start else f"the group at byte {start} isn't whole"
        most = sequence + (end - start) // FRAME_HEADER + 1
        offset = place + 1
        while offset < end:
            found = self.frame(data, offset, segment.salt)
            if not found or not sequence <= found.sequence <= most:
                offset += 1
                continue
            if found.durable >= sequence:
                raise LogError(
                    "LOG-70", f"frame {sequence} isn't there, and frame {found.sequence} at byte {offset} says it was",
                    segment.name, place)
            offset = found.end
        return f"there is no whole frame at byte {place}"

    def replay(self, segment):
        if self.state.footer.generation != segment.generation:
            raise LogError("LOG-21", f"it begins after commit {segment.generation}", segment.name, 0)
        self.end = {"segment": segment.number, "sequence": segment.first - 1, "offset": HEADER_SIZE, "torn": False}
        for group in self.groups_of(segment):
            if not isinstance(group, Group):
                self.end["torn"] = group is not None
                self.tear = group
                return
            changes = self.understood(group, segment, self.schema)
            generation = self.state.footer.generation

            def error(rule, message):
                return LogError(rule, f"frame {group.first}: {message}", segment.name, group.offset)

            if group.kind == TRANSACTION:
                if group.generation != generation + 1:
                    raise error("LOG-44", f"commit {group.generation} after {generation}")
                self.state.make(changes, error)
            elif group.kind <= IDLE:
                if group.generation != generation:
                    raise error("LOG-42", f"a group of commit {group.generation} after {generation}")
                for root, key in (changes or {}).items():
                    known = self.state.footer.next_keys
                    known[root] = key if group.kind == CLOSE else max(known[root], key)
            self.groups.append((segment.name, group))
            self.did_make(group)
            self.end.update(sequence=group.last, offset=group.end)

    def did_make(self, group):
        """Called after each group, for whoever looks at the states between."""

    @staticmethod
    def understood(group, segment, schema):
        """What a group says, or the error that it is; where in the payload, its message says."""
        source = Bytes(group.payload, group.offset, True)
        try:
            if group.kind == TRANSACTION:
                return Changes(source, schema, group.offset)
            if group.kind in (KEYS, CLOSE):
                found = read_keys(source, schema)
                if source.rest:
                    raise source.error("LOG-40", f"{source.rest} bytes are left over")
                return found
            if group.kind == IDLE and group.payload:
                raise source.error("LOG-43", "an idle frame that says something")
            return None
        except FormatError as error:
            raise LogError(error.rule, error.message, segment.name, group.offset) from None

    # Section 13

    def all_commits(self):
        for segment in self.segments:
            for group in self.groups_of(segment):
                if isinstance(group, Group) and group.kind == TRANSACTION:
                    yield self.understood(group, segment, self.schema).to_json(group.generation)

    def to_json(self):
        return {"state": self.state.to_json(), "commits": list(self.all_commits()), "end": self.end}


def main(arguments):
    options = {argument for argument in arguments if argument.startswith("--")}
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if len(paths) != 1 or options - {"--frames"}:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        log = Log.of_directory(paths[0])
        if "--frames" in options:
            names = {TRANSACTION: "transaction", KEYS: "keys", CLOSE: "close", IDLE: "idle"}
            for name, group in log.groups:
                print(f"{name} {group.offset:8} {names.get(group.kind, group.kind)}: frames {group.first} to {group.last},"
                      f" commit {group.generation}, {len(group.payload)} bytes")
            return 0
        result = log.to_json()
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
