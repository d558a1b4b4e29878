// Golden archives that were damaged, and ones whose blocks say anything at all with right checksums.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct HostileArchiveTests {
  /// Runs `body` with every content that is made, and takes nothing but `corrupt` of this file, or the
  /// content.
  private static func expect(
    _ bytes: [UInt8], _ content: String?, _ what: @autoclosure () -> String
  ) {
    do {
      let found = try GoldenArchiveTests.dump(bytes)
      if let content { #expect(found == content, "\(what())") }
    } catch let error as StoreError {
      #expect(
        error.code == .corrupt && error.file == "/a" && error.offset != nil && error.remedy != nil,
        "\(what()): \(error)")
    } catch {
      Issue.record("\(what()): \(error)")
    }
  }

  /// How often each archive is damaged. CAIRN_HOSTILE_ROUNDS in the environment asks for more.
  private static let samples =
    ProcessInfo.processInfo.environment["CAIRN_HOSTILE_ROUNDS"].flatMap { Int($0) } ?? 60

  @Test(arguments: Golden.accepted.map(\.name))
  func `a golden archive with a byte flipped, or cut off, throws corrupt or says the same`(_ name: String)
    throws
  {
    let bytes = try GoldenArchiveTests.file("accept", "\(name).cairn")
    let content = try GoldenArchiveTests.dump(bytes)
    var numbers = FixedNumbers(seed: UInt64(bytes.count))
    for _ in 0..<Self.samples {
      let offset = numbers.below(bytes.count)
      let flip = numbers.below(2) == 0 ? 0xFF : UInt8(1) << UInt8(numbers.below(8))
      Self.expect(bytes.changing(offset) { $0 ^ flip }, content, "\(name), byte \(offset) flipped")
      Self.expect(Array(bytes[..<offset]), content, "\(name), cut off at \(offset)")
    }
  }

  @Test(arguments: Golden.accepted.map(\.name))
  func `blocks that say anything, with right checksums, throw corrupt or give some rows`(_ name: String)
    throws
  {
    let original = try ArchiveParts(try GoldenArchiveTests.file("accept", "\(name).cairn"))
    var numbers = FixedNumbers(seed: UInt64(original.front.count) + 1)
    func mutate(_ bytes: inout [UInt8]) {
      for _ in 0..<1 + numbers.below(3) {
        let place = numbers.below(bytes.count)
        let choices: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0xFF, bytes[place] ^ 1, UInt8(numbers.below(256))]
        bytes[place] = choices[numbers.below(choices.count)]
      }
    }
    let paths = original.footer.splices.indices.flatMap { s in
      original.footer.splices[s].groups.indices.flatMap { g in
        original.footer.splices[s].groups[g].references.indices.map { (s, g, $0) }
      }
    }.filter { original.footer.splices[$0.0].groups[$0.1].references[$0.2].flags != 0 }
    for round in 0..<Self.samples {
      var parts = original
      var block: [UInt8]?
      switch paths.isEmpty ? 0 : numbers.below(4) {
      case 0:
        var text = parts.footer.bytes
        mutate(&text)
        block = try TextBlock.encode(.footer, text, level: 1)
      case 1:
        for (place, json) in [(\ArchiveParts.footer.schema, true), (\.footer.metadata, false)]
        where numbers.below(2) == 0 {
          var text = Array(try parts.text(parts[keyPath: place]).utf8)
          mutate(&text)
          let block = try TextBlock.encode(json ? .schema : .metadata, text, level: 1)
          parts[keyPath: place] = parts.append(block)
        }
      default:
        let (s, g, r) = paths[numbers.below(paths.count)]
        parts.changeBlock(\.splices[s].groups[g].references[r]) { header, stored in
          if numbers.below(3) == 0 { mutate(&header) }
          if numbers.below(3) == 0 { stored.removeLast(numbers.below(stored.count)) }
          if !stored.isEmpty { mutate(&stored) }
          if header[5] == 0 { ArchiveParts.put(UInt32(max(stored.count - 3, 0)), 20, &header) }
        }
      }
      let bytes = try block.map { parts.bytes(footerBlock: $0) } ?? parts.bytes()
      Self.expect(bytes, nil, "\(name), round \(round)")
    }
  }
}
