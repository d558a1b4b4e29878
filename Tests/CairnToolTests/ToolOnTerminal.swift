// Runs the built tool on a terminal of its own.

import Foundation

#if os(Linux) && canImport(Glibc)
  import Glibc

  extension Tool {
    /// What the tool prints on a terminal of so many columns.
    static func onTerminal(_ arguments: [String], columns: UInt16) throws -> String {
      // By the kernel's own interface: Glibc's functions for it aren't in the module.
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (isLocked, number): (Int32, UInt32) = (0, 0)
      guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0
      else { throw POSIXError(.ENOTTY) }
      let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
      guard terminal >= 0, ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENOTTY) }
      let process = Process()
      process.executableURL = try executable()
      process.arguments = arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
      process.standardError = FileHandle.nullDevice
      try process.run()
      close(terminal)
      var output: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        // Fails when the last one who had the terminal has closed it.
        let count = read(master, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        output += buffer[..<count]
      }
      close(master)
      process.waitUntilExit()
      return String(decoding: output, as: UTF8.self)
    }
  }
#endif
