// Dates as ISO 8601 writes them, read and written without a calendar: a million of them take a moment. What is written
// is read as the same date, bit for bit.

import Cairn

enum DateText {
  private static let secondsOfDay = 86_400
  /// From 1970 to 2001.
  private static let daysToReference = 11_323
  /// The end of a date that is a number of seconds.
  private static let sinceReference = " s since 2001"
  /// More of them than a date can tell apart, but within a few seconds of the reference date.
  private static let mostPlaces = 15

  /// Seconds since 2001 of what `text` writes, and of `2013-01-31`, with an optional time behind a T or a space, to the
  /// minute, the second or a part of it, and an optional zone, which is UTC otherwise; nil for anything else.
  static func seconds(_ bytes: Field.Bytes, _ start: Int, _ end: Int) -> Double? {
    let suffix = sinceReference.utf8
    guard end - start > suffix.count, bytes[(end - suffix.count)..<end].elementsEqual(suffix) else {
      return moment(bytes, start, end)
    }
    return NumberText.double(String(decoding: bytes[start..<(end - suffix.count)], as: UTF8.self))
  }

  private static func moment(_ bytes: Field.Bytes, _ start: Int, _ end: Int) -> Double? {
    var reader = Reader(bytes: bytes, position: start, end: end)
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), (1...12).contains(month), day >= 1, day <= length(year, month)
    else { return nil }
    var seconds = (days(year, month, day) - daysToReference) * secondsOfDay
    var fraction = 0.0
    if reader.isAtEnd { return Double(seconds) }
    guard reader.take("T") || reader.take("t") || reader.take(" ") else { return nil }
    guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2), hour < 24, minute < 60
    else { return nil }
    seconds += hour * 3600 + minute * 60
    if reader.take(":") {
      guard let second = reader.number(2), second < 60 else { return nil }
      seconds += second
      if reader.take(".") || reader.take(",") {
        guard let part = reader.fraction() else { return nil }
        fraction = part
      }
    }
    if reader.take("Z") || reader.take("z") || reader.isAtEnd {
      return reader.isAtEnd ? Double(seconds) + fraction : nil
    }
    let isWest = reader.take("-")
    guard isWest || reader.take("+"), let hours = reader.number(2) else { return nil }
    var minutes = 0
    if !reader.isAtEnd {
      _ = reader.take(":")
      guard let given = reader.number(2) else { return nil }
      minutes = given
    }
    guard reader.isAtEnd, hours < 24, minutes < 60 else { return nil }
    seconds -= (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    return Double(seconds) + fraction
  }

  /// As `2013-01-31T10:00:00Z`, with the decimal places of the seconds that it takes to say every bit, which are
  /// seven at most for dates of today. What no such text says is a number of seconds, `-0.0 s since 2001`: beyond the
  /// years 0 to 9999, and for some dates within a few seconds of the first moment of 2001.
  static func text(_ date: Date) -> String {
    let time = date.timeIntervalSinceReferenceDate
    return exact(time) ?? NumberText.text(time) + sinceReference
  }

  /// The same for people, and of commits: to the microsecond, and beyond the years 0 to 9999 the seconds since 2001.
  static func rounded(_ date: Date) -> String {
    let time = date.timeIntervalSinceReferenceDate
    guard time.isFinite, abs(time) < 1e12 else { return "\(time)" }
    let microseconds = Int((time * 1e6).rounded())
    let whole = Int((Double(microseconds) / 1e6).rounded(.down))
    return civilText(whole).map { $0 + places(microseconds - whole * 1_000_000, of: 6) + "Z" } ?? "\(time)"
  }

  /// nil where the reader would make another date of each text.
  private static func exact(_ time: Double) -> String? {
    guard time.isFinite, abs(time) < 1e12 else { return nil }
    let whole = time.rounded(.down)
    guard let text = civilText(Int(whole)) else { return nil }
    if time == whole { return time.bitPattern == Double(Int(whole)).bitPattern ? text + "Z" : nil }
    // Six first, which most dates with a fraction were made of.
    for count in 6...mostPlaces {
      let scale = powers[count]
      let part = Int(((time - whole) * Double(scale)).rounded())
      let places = places(part, of: count)
      if part < scale, Double("0" + places).map({ Double(Int(whole)) + $0 }) == time {
        return text + places + "Z"
      }
    }
    return nil
  }

  private static let powers: [Int] = (0...mostPlaces).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

  /// A point and the digits of a part of a second, without zeros at the end; nothing for 0.
  private static func places(_ part: Int, of count: Int) -> String {
    if part == 0 { return "" }
    var digits = pad(part, count)
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }

  /// Without a zone; nil beyond the years 0 to 9999.
  private static func civilText(_ seconds: Int) -> String? {
    let (day, second) = floorDivide(seconds, secondsOfDay)
    let (year, month, ofMonth) = civil(day + daysToReference)
    guard (0...9999).contains(year) else { return nil }
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(ofMonth, 2))T"
      + "\(pad(second / 3600, 2)):\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2))"
  }

  // MARK: The calendar, as Gregory's goes on for ever in both directions

  private static func floorDivide(_ a: Int, _ b: Int) -> (Int, Int) {
    let (quotient, rest) = a.quotientAndRemainder(dividingBy: b)
    return rest < 0 ? (quotient - 1, rest + b) : (quotient, rest)
  }

  private static func length(_ year: Int, _ month: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Since 1970. Years begin in March, so that the leap day is their last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (era, yearOfEra) = floorDivide(month > 2 ? year : year - 1, 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (Int, Int, Int) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  private static func pad(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private struct Reader {
    let bytes: Field.Bytes
    var position: Int
    let end: Int

    var isAtEnd: Bool { position == end }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    mutating func number(_ width: Int) -> Int? {
      guard end - position >= width else { return nil }
      var number = 0
      for _ in 0..<width {
        let digit = bytes[position] &- 0x30
        guard digit < 10 else { return nil }
        number = number * 10 + Int(digit)
        position += 1
      }
      return number
    }

    mutating func fraction() -> Double? {
      let start = position
      while position < end, bytes[position] &- 0x30 < 10 { position += 1 }
      return Double("0." + String(decoding: bytes[start..<position], as: UTF8.self))
    }
  }
}
