// The two hash functions against the vectors of NIST.

import Foundation
import Testing

@testable import CairnModel

@Suite struct SHATests {
  struct Vector {
    let message: [UInt8]
    let sha256: String
    let sha512: String

    init(_ message: some Sequence<UInt8>, _ sha256: String, _ sha512: String) {
      self.message = Array(message)
      self.sha256 = sha256
      self.sha512 = sha512
    }
  }

  static let vectors = [
    Vector(
      "".utf8, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"),
    Vector(
      "abc".utf8, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"),
    Vector(
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
        + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"),
    Vector(
      ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8,
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
      "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
        + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"),
    Vector(
      repeatElement(UInt8(ascii: "a"), count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
      "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
        + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"),
  ]

  @Test("the vectors of FIPS 180 and the million a hash as published", arguments: vectors)
  func vector(_ vector: Vector) {
    #expect(SHA256.hash(vector.message).hexText == vector.sha256)
    #expect(SHA512.hash(vector.message).hexText == vector.sha512)
  }

  @Test("a message hashes the same in one piece and in two, at every length around a block")
  func pieces() {
    for length in [55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129, 256] {
      let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      for cut in [0, 1, length / 2, length] {
        var (small, large) = (SHA256(), SHA512())
        for piece in [message[..<cut], message[cut...]] {
          small.update(piece)
          large.update(piece)
        }
        #expect(small.finalize() == SHA256.hash(message))
        #expect(large.finalize() == SHA512.hash(message))
      }
    }
  }
}

extension Data {
  var hexText: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
