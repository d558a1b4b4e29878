// The command-line tool: reads its arguments, does the work, and says by its exit code how it went.
//
// 0: done. 1: failed, with a sentence on standard error. 2: salvaged, but something is lost. 64: called wrongly, with
// a line of usage besides. 65: the input is bad. 66: there is no input. 73: the output can't be written.

import Cairn

@main
enum CairnCommand {
  static func main() async {
    do {
      try await run(Arguments(parsing: CommandLine.arguments.dropFirst()))
    } catch let error as UsageError {
      Console.printError("cairn: \(error.message)\n\(error.usage)")
      exit(64)
    } catch let error as ModelFileError {
      Console.printError("cairn: \(error)\n")
      exit(error.exitCode)
    } catch let error as InputError {
      Console.printError("cairn: \(error)\n")
      exit(error.exitCode)
    } catch {
      Console.printError("cairn: \(error)\n")
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws {
    switch arguments.action {
    case .print(let text): try Console(color: .never).write(text)
    case .tour(let color): try await Tour(Console(color: color)).run()
    case .model(let command):
      let code = try command.run(Console(color: .never))
      if code != 0 { exit(code) }
    case .predicate(let command):
      let code = try command.run(Console(color: .never))
      if code != 0 { exit(code) }
    case .fetch(let command):
      let code = try command.run(Console(color: .never))
      if code != 0 { exit(code) }
    case .log(let command):
      let code = try command.run(Console(color: .never))
      if code != 0 { exit(code) }
    case .archive(let command):
      let code = try command.run(Console(color: .never))
      if code != 0 { exit(code) }
    }
  }
}
