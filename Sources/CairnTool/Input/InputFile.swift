// Where input comes from: a file, compressed or not, or standard input.

import Cairn

/// The bytes of one input, and what they are called.
struct InputFile {
  /// As messages name it.
  let name: String
  /// Its name without folder and extensions; nil for standard input.
  let stem: String?
  /// Lower case, without that of a compressed file: `csv` of `flights.csv.gz`.
  let fileExtension: String
  let bytes: [UInt8]

  static let greatestSize = 4 << 30

  /// Reads all of it: `-` is standard input. Throws `InputError` 66 for what can't be read, 65 for a compressed file
  /// that is none.
  init(reading path: String) throws {
    let url = URL(fileURLWithPath: path)
    var data: Data
    do {
      data = try InputFile.everything(path == "-" ? .standardInput : FileHandle(forReadingFrom: url))
    } catch let error as InputError {
      throw error
    } catch {
      throw InputError("\(path) can't be read: \(InputFile.reason(error, url))", 66)
    }
    var parts = url.lastPathComponent.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if data.starts(with: [0x1F, 0x8B]) {
      do {
        data = try Gzip.inflate(data, limit: InputFile.greatestSize)
      } catch {
        throw InputError("\(path) can't be decompressed: \(error)")
      }
      if parts.last?.lowercased() == "gz" { parts.removeLast() }
    }
    name = path == "-" ? "standard input" : path
    fileExtension = path == "-" || parts.count < 2 ? "" : (parts.last ?? "").lowercased()
    stem = path == "-" ? nil : parts.count < 2 ? parts.first : parts.dropLast().joined(separator: ".")
    bytes = Array(data)
  }

  /// Comma-separated values that are there already.
  init(name: String, bytes: [UInt8]) {
    (self.name, stem, fileExtension, self.bytes) = (name, nil, "csv", bytes)
  }

  private static func everything(_ handle: FileHandle) throws -> Data {
    var data = Data()
    while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty {
      data += part
      if data.count > greatestSize { throw InputError("the input is bigger than 4 GB") }
    }
    return data
  }

  private static func reason(_ error: any Error, _ url: URL) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      return "there is no such file"
    }
    return isFolder.boolValue
      ? "it is a folder: name the files in it, or have cairn convert make a store of it"
      : (error as NSError).localizedDescription
  }
}
