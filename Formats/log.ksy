# A log's manifest and segments down to the payload of their frames, and the record before a transaction's changes.
# log.md says what everything means; `doc-ref` names its sentences. Checksums, what the manifest and the segments say of each
# other, groups of several frames, and what follows the last frame are rules that this language has no words for. Bases
# are archives: archive.ksy. The changes need the schema, which a base has.
meta:
  id: cairn_log
  title: Manifest or segment of a Cairn log
  endian: le
  license: CC0-1.0
  imports:
    - /common/vlq_base128_le
doc-ref: log.md

seq:
  - id: magic
    type: u4
    enum: magics
  - id: magic_rest
    contents: [0x0d, 0x0a, 0x1a, 0x0a]
  - id: body
    type:
      switch-on: magic
      cases:
        'magics::manifest': manifest
        'magics::segment': segment

enums:
  magics:
    0x4c524389: manifest
    0x53524389: segment
  kinds:
    1: transaction
    2: keys
    3: close
    4: idle

types:
  manifest:
    seq:
      - id: major
        type: u2
        valid: 1
        doc-ref: LOG-11
      - id: minor
        type: u2
      - id: size
        type: u4
        doc-ref: LOG-10
      - id: compatible
        type: u8
      - id: compatible_for_reading
        type: u8
      - id: incompatible
        type: u8
        valid: 0
        doc-ref: LOG-12
      - id: uuid
        size: 16
      - id: created
        type: s8
        doc: Milliseconds since 1970.
      - id: serial
        type: u8
        doc-ref: LOG-14
      - id: purged_through
        type: s8
      - id: base_count
        type: u4
        doc-ref: LOG-13
      - id: segment_count
        type: u4
        doc-ref: LOG-13
      - id: metadata_length
        type: u4
      - id: zero
        contents: [0, 0, 0, 0]
      - id: bases
        type: base
        repeat: expr
        repeat-expr: base_count
      - id: segments
        type: segment_entry
        repeat: expr
        repeat-expr: segment_count
      - id: metadata
        size: metadata_length
        doc-ref: LOG-19
      - id: checksum
        type: u4

  base:
    seq:
      - id: number
        type: u8
      - id: generation
        type: s8
      - id: first_sequence
        type: u8
      - id: length
        type: u8

  segment_entry:
    seq:
      - id: number
        type: u8
      - id: salt
        type: u8
      - id: first_sequence
        type: u8
      - id: promised
        type: u8
        doc: All frames up to this one are there for certain.
        doc-ref: LOG-17
      - id: length
        type: u8
      - id: generation_before
        type: s8
      - id: newest_time
        type: s8
      - id: is_sealed
        type: u4
        valid:
          max: 1
      - id: zero
        contents: [0, 0, 0, 0]

  segment:
    seq:
      - id: major
        type: u2
        valid: 1
        doc-ref: LOG-11
      - id: minor
        type: u2
      - id: size
        type: u4
        valid: 64
        doc-ref: LOG-20
      - id: uuid
        size: 16
      - id: number
        type: u8
      - id: first_sequence
        type: u8
      - id: salt
        type: u8
      - id: zero
        contents: [0, 0, 0, 0]
      - id: checksum
        type: u4
      - id: frames
        type: frame
        repeat: eos
        doc: |
          Up to the end that log.md, section 8, finds. What comes behind it are zeros, or a torn tail: whoever reads such
          a file cuts it off there first.

  frame:
    seq:
      - id: length
        type: u4
        valid:
          min: 28
          max: 1048604
        doc-ref: LOG-30
      - id: checksum
        type: u4
      - id: sequence
        type: u8
      - id: generation
        type: s8
      - id: durable
        type: u8
        doc-ref: LOG-33
      - id: kind
        type: u1
        enum: kinds
        doc-ref: LOG-31
      - id: flags
        type: u1
        valid:
          max: 7
        doc: 1 the last of its group, 2 compressed, 4 ancillary.
        doc-ref: LOG-32
      - id: zero
        contents: [0, 0]
      - id: payload
        size: length - 28
        doc: |
          A piece of the group's payload. That of a group with the flag compressed is the length of its content and one
          deflate stream. The content is a `transaction` (kind 1) or `keys` (kinds 2 and 3); read it as such.
        doc-ref: LOG-35

  keys:
    doc-ref: LOG-40
    seq:
      - id: count
        type: vlq_base128_le
      - id: items
        type: key
        repeat: expr
        repeat-expr: count.value

  key:
    seq:
      - id: root
        type: vlq_base128_le
      - id: next
        type: vlq_base128_le

  transaction:
    doc-ref: LOG-44
    seq:
      - id: keys
        type: keys
      - id: time
        type: f8
        doc: Seconds since 2001.
      - id: author
        type: text
      - id: context_name
        type: text
      - id: changes
        size-eos: true
        doc-ref: LOG-50

  text:
    seq:
      - id: code
        type: vlq_base128_le
        doc: 0 for none, else one more than the length.
      - id: utf8
        size: code.value - 1
        if: code.value > 0
        doc-ref: LOG-45
