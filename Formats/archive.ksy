# An archive down to its blocks, and the text of its footers and column blocks down to the payload.
# archive.md says what everything means; `doc-ref` names its sentences. Checksums, bounds and the choice of the newest
# state are rules that this language has no words for: read them there.
meta:
  id: cairn_archive
  title: Cairn archive
  file-extension: cairn
  endian: le
  license: CC0-1.0
  imports:
    - /common/vlq_base128_le
doc-ref: archive.md

seq:
  - id: header
    type: header
  - id: slots
    type: commit_slot
    size: 64
    repeat: expr
    repeat-expr: 2
  - id: items
    type: item
    repeat: eos
    doc: |
      Blocks and trailers up to the length that the newest commit slot says. What comes behind it is an unfinished save,
      which needn't be blocks: whoever reads such a file cuts it off there first.
    doc-ref: ARC-16

types:
  header:
    seq:
      - id: magic
        contents: [0x89, CRN, 0x0d, 0x0a, 0x1a, 0x0a]
        doc-ref: ARC-1
      - id: major
        type: u2
        valid: 1
        doc-ref: ARC-3
      - id: minor
        type: u2
      - id: size
        type: u4
        valid: 80
        doc-ref: ARC-4
      - id: compatible
        type: u8
      - id: compatible_for_reading
        type: u8
      - id: incompatible
        type: u8
        valid:
          max: 3
        doc: Bit 0, values may be kept apart; bit 1, texts may be items of others.
        doc-ref: ARC-5
      - id: uuid
        size: 16
      - id: created
        type: s8
        doc: Milliseconds since 1970.
      - id: reserved
        contents: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      - id: checksum
        type: u4
        doc-ref: ARC-2

  commit_slot:
    doc: Any bytes, if it is damaged (ARC-10).
    seq:
      - id: magic
        type: u4
        doc: 0x31544d43, "CMT1".
      - id: zero
        type: u4
      - id: generation
        type: u8
      - id: file_length
        type: u8
      - id: footer_offset
        type: u8
      - id: footer_length
        type: u4
      - id: reserved
        size: 24
      - id: checksum
        type: u4

  item:
    seq:
      - id: magic
        type: u4
        enum: magics
      - id: body
        type:
          switch-on: magic
          cases:
            'magics::block': block
            'magics::trailer': trailer

  trailer:
    doc-ref: ARC-14
    seq:
      - id: magic_rest
        contents: TRL1
      - id: footer_offset
        type: u8
      - id: footer_length
        type: u4
      - id: zero1
        contents: [0, 0, 0, 0]
      - id: generation
        type: u8
      - id: file_length
        type: u8
      - id: uuid
        size: 16
      - id: zero2
        contents: [0, 0, 0, 0]
      - id: checksum
        type: u4

  block:
    doc: A block behind its magic.
    doc-ref: ARC-21
    seq:
      - id: kind
        type: u1
        enum: kinds
      - id: codec
        type: u1
        enum: codecs
      - id: encoding
        type: u1
        valid:
          max: 1
        doc: 1 for a column with values that are kept apart.
        doc-ref: ARC-21
      - id: flags
        type: u1
        valid: 0
      - id: table
        type: u2
      - id: column
        type: u2
        doc: A slot; 0xfffe the versions, 0xffff the keys.
      - id: group
        type: u4
      - id: rows
        type: u4
      - id: raw_length
        type: u4
      - id: stored_length
        type: u4
      - id: checksum
        type: u4
        doc-ref: ARC-22
      - id: stored
        size: stored_length
        type:
          switch-on: kind
          cases:
            'kinds::column': column_parts
        doc: Texts are raw deflate streams (RFC 1951) with codec 1.

  column_parts:
    doc-ref: ARC-30
    seq:
      - id: count
        type: u1
        valid:
          min: 1
          max: 4
      - id: rows
        type: u2
        repeat: expr
        repeat-expr: count
      - id: blob_count
        type: vlq_base128_le
        if: _parent.encoding == 1
        doc-ref: ARC-91
      - id: blobs
        type: blob_reference
        repeat: expr
        repeat-expr: blob_count.value
        if: _parent.encoding == 1
      - id: payload
        size-eos: true
        doc-ref: encodings.md

  blob_reference:
    doc-ref: ARC-91
    seq:
      - id: row_step
        type: vlq_base128_le
        doc: To the row behind the one before.
      - id: offset_step
        type: vlq_base128_le
        doc: Zigzag, to the end of the blob before.
      - id: length
        type: vlq_base128_le
      - id: size
        type: vlq_base128_le
      - id: checksum
        type: u4

  # The text of a block of kind 4, after inflating: parse it on its own.
  footer:
    doc-ref: ARC-40
    params:
      - id: columns_of_table
        type: u4[]
        doc: By table, its slots and two more, from the schema (ARC-86).
    seq:
      - id: form
        type: u1
        valid: 1
      - id: is_difference
        type: u1
        valid:
          max: 1
      - id: previous
        type: place
        if: is_difference == 1
      - id: generation
        type: vlq_base128_le
      - id: time
        type: vlq_base128_le
        doc: Zigzag.
      - id: next_group
        type: vlq_base128_le
      - id: schema
        type: place
      - id: metadata
        type: place
      - id: next_keys
        type: numbers
      - id: next_join_keys
        type: numbers
      - id: splice_count
        type: vlq_base128_le
      - id: splices
        type: splice
        repeat: expr
        repeat-expr: splice_count.value

  place:
    seq:
      - id: offset
        type: vlq_base128_le
      - id: length
        type: vlq_base128_le

  numbers:
    seq:
      - id: count
        type: vlq_base128_le
      - id: items
        type: vlq_base128_le
        repeat: expr
        repeat-expr: count.value

  splice:
    seq:
      - id: table
        type: vlq_base128_le
      - id: start
        type: vlq_base128_le
      - id: removed
        type: vlq_base128_le
      - id: count
        type: vlq_base128_le
      - id: groups
        type: group(_parent.columns_of_table[table.value])
        repeat: expr
        repeat-expr: count.value

  group:
    params:
      - id: columns
        type: u4
    seq:
      - id: id_step
        type: vlq_base128_le
        doc: Zigzag, to the group before in the splice.
      - id: chunk_count
        type: u1
        valid:
          min: 1
          max: 4
      - id: chunks
        type: chunk
        repeat: expr
        repeat-expr: chunk_count
      - id: references
        type: reference
        repeat: expr
        repeat-expr: columns

  chunk:
    doc-ref: ARC-51
    seq:
      - id: rows
        type: vlq_base128_le
      - id: first_key_step
        type: vlq_base128_le
        doc: To the last key before in the splice.
      - id: flags
        type: u1
        valid:
          max: 3
      - id: span
        type: vlq_base128_le
        if: (flags & 1) == 0
      - id: deleted
        size: (rows.value + 7) / 8
        if: (flags & 2) != 0

  reference:
    doc-ref: ARC-56
    seq:
      - id: flags
        type: u1
      - id: offset_step
        type: vlq_base128_le
        if: flags != 0
        doc: Zigzag, to the end of the block before in the splice.
      - id: length
        type: vlq_base128_le
        if: flags != 0
      - id: first_part
        type: u1
        if: (flags & 16) != 0
      - id: home_group
        type: vlq_base128_le
        if: (flags & 32) != 0
      - id: source_count
        type: u1
        if: (flags & 64) != 0
      - id: sources
        type: vlq_base128_le
        repeat: expr
        repeat-expr: source_count
        if: (flags & 64) != 0
      - id: least
        type: vlq_base128_le
        if: (flags & 2) != 0
        doc: Zigzag.
      - id: span
        type: vlq_base128_le
        if: (flags & 2) != 0
      - id: doubles
        type: f8
        repeat: expr
        repeat-expr: 2
        if: (flags & 4) != 0
      - id: blob_bytes
        type: vlq_base128_le
        repeat: expr
        repeat-expr: _parent.chunk_count
        if: (flags & 128) != 0
        doc-ref: ARC-95

enums:
  magics:
    0x314b4c42: block
    0x4e524389: trailer
  kinds:
    1: schema
    2: metadata
    3: column
    4: footer
    5: blob
  codecs:
    0: stored
    1: deflate
