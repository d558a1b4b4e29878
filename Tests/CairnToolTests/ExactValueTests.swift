// The texts that tables have for values which no literal says, as cairn help export tells of them.

import Cairn
import Foundation
import Testing

@Suite struct ExactValueTests {
  private static let model = ModelDocument(
    entities: [
      .init(
        "Sample",
        properties: [
          .attribute(.init("number", .double, isOptional: true)),
          .attribute(.init("single", .float, isOptional: true)),
          .attribute(.init("decimal", .decimal, isOptional: true)),
          .attribute(.init("time", .date, isOptional: true)),
          .attribute(.init("text", .string, isOptional: true)),
          .attribute(.init("object", .transformable, isOptional: true)),
        ])
    ])

  /// What is exported of an archive that is packed of the file.
  private func exported(_ name: String, _ text: String, as format: String) throws -> String {
    try ToolFolder.with([name: text]) { path in
      try ModelFile.write(Self.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
      let packed = try Tool.run([
        "pack", "Sample=\(path(name))", path("a.cairn"), "--model", path("Model.xcdatamodel"),
      ])
      #expect(packed.exitCode == 0, "\(packed.errors)")
      let exported = try Tool.run(["export", path("a.cairn"), "--format", format])
      #expect(exported.exitCode == 0 && exported.errors.isEmpty, "\(exported.errors)")
      return exported.output
    }
  }

  /// What is exported of an archive with one row that has the values.
  private func exported(_ values: [String: Any], as format: String) throws -> String {
    try ToolFolder.with { path in
      try StoreFacts.open(path("a.cairn"), of: Self.model) { container in
        let context = container.newBackgroundContext()
        try context.performAndWait {
          let sample = NSEntityDescription.insertNewObject(forEntityName: "Sample", into: context)
          sample.setValuesForKeys(values)
          try context.save()
        }
      }
      return try Tool.run(["export", path("a.cairn"), "--format", format]).output
    }
  }

  @Test(arguments: [
    (0, "2001-01-01T00:00:00Z"), (-0.5, "2000-12-31T23:59:59.5Z"), (0.1, "2001-01-01T00:00:00.1Z"),
    // The nearest to ten millionths of a second, and the next to it.
    (700_000_000.123_456_7, "2023-03-08T20:26:40.1234567Z"),
    ((700_000_000.123_456_7).nextUp, "2023-03-08T20:26:40.1234568Z"),
    (123.000_000_000_000_01, "2001-01-01T00:02:03.00000000000001Z"),
    (252_423_993_599, "9999-12-31T23:59:59Z"), (252_423_993_600, "252423993600.0 s since 2001"),
    (-63_113_904_000, "0001-01-01T00:00:00Z"), (-63_145_526_400, "0000-01-01T00:00:00Z"),
    (-63_145_526_400.5, "-63145526400.5 s since 2001"), (1e-300, "1e-300 s since 2001"),
    (-1e-20, "-1e-20 s since 2001"), (-0.0, "-0.0 s since 2001"), (.nan, "nan s since 2001"),
    (-.infinity, "-inf s since 2001"),
  ])
  func `a date is written in ISO 8601 where that says every bit, and as seconds since 2001 otherwise`(
    seconds: Double, text: String
  ) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(try exported(["time": date], as: "csv").hasSuffix("\r\n,,,\(text),,\r\n"))
    #expect(try exported("a.csv", "time\n\(text)\n", as: "csv").hasSuffix("\r\n,,,\(text),,\r\n"))
    let json = try exported("a.json", #"[{"time": "\#(text)"}]"#, as: "json")
    #expect(json.contains(#""time": "\#(text)""#), "\(json)")
  }

  @Test func `programs are given every bit of a date, and people its microseconds`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)
    try ToolFolder.with { path in
      try StoreFacts.open(path("a.cairn"), of: Self.model) { container in
        let context = container.newBackgroundContext()
        try context.performAndWait {
          NSEntityDescription.insertNewObject(forEntityName: "Sample", into: context)
            .setValue(date, forKey: "time")
          try context.save()
        }
      }
      for (format, text) in [("table", "40.123457Z"), ("csv", "40.1234567Z"), ("json", "40.1234567Z")] {
        let fetched = try Tool.run(["fetch", path("a.cairn"), "--properties", "time", "--format", format])
        #expect(fetched.output.contains("2023-03-08T20:26:" + text), "\(fetched)")
      }
      // Nor does a commit's time have more places.
      for words in [["info", path("a.cairn")], ["info", path("a.cairn"), "--json"]] {
        let shown = try Tool.run(words).output
        #expect(shown.contains(/:\d\d(\.\d{1,6})?Z/) && !shown.contains(/\.\d{7,}Z/), "\(shown)")
      }
    }
  }

  @Test func `numbers without a literal are words in CSV and strings in JSON`() throws {
    let values: [String: Any] = [
      "number": -Double.infinity, "single": Float.nan, "decimal": NSDecimalNumber.notANumber, "text": "inf",
    ]
    #expect(try exported(values, as: "csv").hasSuffix("\r\n-inf,nan,nan,,inf,\r\n"))
    let json = try exported(values, as: "json")
    #expect(
      json.contains(
        #"{"number": "-inf", "single": "nan", "decimal": "nan", "time": null, "text": "inf", "object": null}"#
      ),
      "\(json)")
    #expect(try exported("a.json", json, as: "json") == json)
    // Bits other than those of the usual one.
    let bits: [String: Any] = ["number": -Double.nan, "single": Float(nan: 5, signaling: false)]
    #expect(try exported(bits, as: "csv").hasSuffix("\r\nnan:fff8000000000000,nan:7fc00005,,,,\r\n"))
    #expect(
      try exported(["number": -0.0, "single": -Float(0)], as: "csv").hasSuffix("\r\n-0.0,-0.0,,,,\r\n"))
  }

  @Test func `words for numbers are taken as other programs write them, and only by numbers`() throws {
    let table = "number,single,decimal,text\nNaN,Infinity,NAN,NaN\n-INF,+inf,1,-INF\n"
    #expect(
      try exported("a.csv", table, as: "csv").hasSuffix("\r\nnan,inf,nan,,NaN,\r\n-inf,inf,1,,-INF,\r\n"))
    for (title, text) in [
      ("number", "nano"), ("number", "0x1p3"), ("number", "nan:0000000000000001"), ("decimal", "inf"),
      ("single", "nan:fff8000000000000"), ("single", "1e39"), ("time", "inf"), ("time", "0x1 s since 2001"),
      ("time", " 1 s since 2001"),
    ] {
      try ToolFolder.with(["a.csv": "\(title)\n\(text)\n"]) { path in
        try ModelFile.write(Self.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
        let packed = try Tool.run([
          "pack", "Sample=\(path("a.csv"))", path("a.cairn"), "--model", path("Model.xcdatamodel"),
        ])
        #expect(packed.exitCode == 65 && packed.errors.contains(":2: column \(title): \"\(text)\" is no"))
      }
    }
    // Without a model a word is a word.
    try ToolFolder.with(["a.csv": "name\nInf\nNan\n"]) { path in
      let fetched = try Tool.run(["fetch", path("a.csv"), "--predicate", "name == 'Nan'", "--format", "json"])
      #expect(fetched.output == "[\n  {\"name\": \"Nan\"}\n]\n", "\(fetched.errors)")
    }
  }

  @Test func `a float is read as it is written, and not by way of a double`() throws {
    // Just above the middle between two floats, which is what the nearest double is.
    let text = "1.00000017881393432617187499"
    let written = Float(text).map { "\($0)" } ?? ""
    #expect(Float(text) != Float(Double(text) ?? 0))
    #expect(try exported("a.csv", "single\n\(text)\n", as: "csv").hasSuffix("\r\n,\(written),,,,\r\n"))
  }

  @Test(arguments: ["\"\u{301}", "a\0b", "\"\"\u{301}\r\n", ""])
  func `a quote, an accent behind it and a zero byte are read again`(text: String) throws {
    for format in ["csv", "json"] {
      let table = try exported(["text": text, "number": 1.0], as: format)
      #expect(try exported("a.\(format)", table, as: format) == table, "\(table.debugDescription)")
      #expect(table.unicodeScalars.contains("\"") || !text.unicodeScalars.contains("\""))
    }
    let quoted = "\"" + text.unicodeScalars.map { $0 == "\"" ? "\"\"" : "\($0)" }.joined() + "\""
    let csv = try exported(["text": text], as: "csv")
    #expect(
      csv.unicodeScalars.elementsEqual("\(csv.prefix { $0 != "\r\n" })\r\n,,,,\(quoted),\r\n".unicodeScalars))
  }
}
