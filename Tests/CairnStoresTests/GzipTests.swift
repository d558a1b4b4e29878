// The laws of reading gzip: what zlib packed comes back whole, and anything less throws. The compressed
// bytes were made by the `gzip` program, or are put together here by hand after RFC 1952.
import Foundation
import Testing

@testable import CairnStores

@Suite struct `Reading gzip` {
  @Test func `what another program packed comes back`() throws {
    #expect(try Gzip.inflate(packed, limit: 1000) == text)
    #expect(try Gzip.inflate(packedWithName, limit: 1000) == text)
  }

  @Test func `an empty content is a content`() throws {
    #expect(try Gzip.inflate(member(of: Data()), limit: 0) == Data())
  }

  @Test func `contents larger than any buffer come back`() throws {
    let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
    #expect(try Gzip.inflate(member(of: bytes), limit: bytes.count) == bytes)
    let zeros = Data(count: 1_000_000)
    #expect(try Gzip.inflate(zerosPacked, limit: zeros.count) == zeros)
  }

  @Test func `a slice of a larger Data is read by its own bounds`() throws {
    let larger = Data([1, 2, 3]) + packed + Data([4])
    #expect(try Gzip.inflate(larger.dropFirst(3).dropLast(), limit: 1000) == text)
  }

  @Test func `several members are joined`() throws {
    let joined = packed + member(of: Data()) + packedWithName + member(of: Data("more".utf8))
    #expect(try Gzip.inflate(joined, limit: 1000) == text + text + Data("more".utf8))
  }

  @Test func `every truncation throws`() throws {
    for whole in [packed, packedWithName, member(of: text)] {
      for count in 0..<whole.count {
        #expect(throws: GzipError.self, "\(count) of \(whole.count)") {
          try Gzip.inflate(whole.prefix(count), limit: 1000)
        }
      }
    }
  }

  @Test func `every truncation inside a later member throws`() throws {
    let whole = packed + packedWithName
    for count in packed.count + 1..<whole.count {
      #expect(throws: GzipError.self, "\(count) of \(whole.count)") {
        try Gzip.inflate(whole.prefix(count), limit: 1000)
      }
    }
  }

  @Test func `a truncation is called one, and where`() throws {
    let error = try #require(throws: GzipError.self) { try Gzip.inflate(packed.dropLast(), limit: 1000) }
    #expect(error.message.contains("cut off"))
    #expect(error.byteOffset == packed.count - 1)
  }

  @Test func `every flipped bit throws or changes nothing`() throws {
    for index in packed.indices {
      for bit in 0..<8 {
        var damaged = packed
        damaged[index] ^= 1 << bit
        guard let read = try? Gzip.inflate(damaged, limit: 1000) else { continue }
        #expect(read == text, "bit \(bit) of byte \(index)")
        #expect(harmless.contains(index), "bit \(bit) of byte \(index)")
      }
    }
  }

  @Test func `every flipped byte throws or changes nothing`() throws {
    for index in packed.indices {
      var damaged = packed
      damaged[index] ^= 0xFF
      let read = try? Gzip.inflate(damaged, limit: 1000)
      #expect(read == (4...9 ~= index ? text : nil), "byte \(index)")
    }
  }

  @Test func `a wrong checksum and a wrong length are told apart`() throws {
    for (distance, word) in [(8, "data check"), (4, "length check")] {
      var damaged = packed
      damaged[damaged.count - distance] ^= 1
      let error = try #require(throws: GzipError.self) { try Gzip.inflate(damaged, limit: 1000) }
      #expect(error.message.contains(word))
    }
  }

  @Test func `the limit is the last size allowed`() throws {
    #expect(try Gzip.inflate(packed, limit: text.count) == text)
    #expect(throws: GzipError.self) { try Gzip.inflate(packed, limit: text.count - 1) }
    #expect(throws: GzipError.self) { try Gzip.inflate(packed, limit: 0) }
    #expect(throws: GzipError.self) { try Gzip.inflate(zerosPacked, limit: 999_999) }
  }

  @Test func `the limit holds for all members together`() throws {
    #expect(throws: GzipError.self) { try Gzip.inflate(packed + packed, limit: text.count * 2 - 1) }
  }

  @Test func `bytes after the last member throw, and say where they start`() throws {
    for rest in [Data([0]), Data(count: 512), Data("garbage".utf8), Data([0x1F, 0x8C]), Data([0x1F])] {
      let error = try #require(throws: GzipError.self) { try Gzip.inflate(packed + rest, limit: 1000) }
      #expect(error.byteOffset >= packed.count)
    }
  }

  @Test func `what isn't gzip is called that`() throws {
    for bytes in [Data("carrier,name\n".utf8), Data([0x78, 0x9C, 3, 0, 0, 0, 0, 1])] {
      let error = try #require(throws: GzipError.self) { try Gzip.inflate(bytes, limit: 1000) }
      #expect(error.description.contains("isn't a gzip file"))
    }
  }

  @Test func `nothing at all is cut off`() throws {
    let error = try #require(throws: GzipError.self) { try Gzip.inflate(Data(), limit: 1000) }
    #expect(error == GzipError(message: error.message, byteOffset: 0))
  }
}

// MARK: - Bytes

private let text = Data("carrier,name\n9E,Endeavor Air Inc.\nAA,American Airlines Inc.\n".utf8)

/// `text` by `gzip -9 -n`.
private let packed =
  bytes("1f8b0800000000000203") + deflated + bytes("002b3d39a63c000000")

/// `text` by `gzip -9`: its header holds a time and the file's name.
private let packedWithName =
  bytes("1f8b0808baeb0c6b020361") + bytes("69726c696e65732e63737600") + deflated + bytes("002b3d39a63c000000")

private let deflated = bytes(
  "4b4e2c2aca4c2dd2c94bcc4de5b274d571cd4b494d2ccb2f5270cc2c52f0cc4bd6e37274d471cc4d2dca4c4ecc03"
    + "09e664e6a5164364")

/// A million zero bytes by `gzip -9 -n`: a thousandth of its content.
private let zerosPacked =
  bytes("1f8b0800000000000203edc101010000008220ffaf6e484001") + Data(count: 968)
  + bytes("af069ecb791240420f00")

/// The bytes of `packed` in which some bit means nothing to the content: the text flag, the time, the
/// extra flags, the operating system, and the padding after the last deflated bit.
private let harmless: Set<Int> = [3, 4, 5, 6, 7, 8, 9, packed.count - 9]

/// A gzip member that holds `content` in stored blocks, checksummed bit by bit.
private func member(of content: Data) -> Data {
  var member = bytes("1f8b08000000000000ff")
  var rest = content
  repeat {
    let block = rest.prefix(0xFFFF)
    rest = rest.dropFirst(block.count)
    member.append(rest.isEmpty ? 1 : 0)
    member += littleEndian(block.count, 2) + littleEndian(~block.count, 2) + block
  } while !rest.isEmpty
  return member + littleEndian(Int(checksum(content)), 4) + littleEndian(content.count, 4)
}

private func checksum(_ content: Data) -> UInt32 {
  ~content.reduce(~0) { sum, byte in
    (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
  }
}

private func littleEndian(_ number: Int, _ count: Int) -> Data {
  Data((0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
}

private func bytes(_ hex: String) -> Data {
  let digits = hex.map { UInt8($0.hexDigitValue!) }
  return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
}
