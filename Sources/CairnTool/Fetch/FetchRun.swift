// `cairn fetch`: the request, and its results as rows of cells.

import Cairn

extension FetchCommand {
  /// The tool's exit code: 0, 65 for what makes no sense, 66 for what can't be read.
  func run(_ console: Console) throws -> Int32 {
    do {
      let input = try FetchInput(self)
      for warning in input.warnings { Console.printError("cairn: warning: \(warning)\n") }
      try run(input, console)
      return 0
    } catch let error as InputError {
      if error.exitCode == 64 { throw UsageError(error.description, help: FetchCommand.help) }
      Console.printError("cairn: \(error)\n")
      return error.exitCode
    } catch let error as PredicateFormatError {
      Console.printError("cairn: \(error)\n")
    } catch let error as PredicateEvaluationError {
      Console.printError("cairn: \(error)\n")
    } catch let error as SchemaError {
      Console.printError("cairn: \(error)\n")
    } catch let error as StoreError {
      Console.printError("cairn: \(error)\n")
    }
    return 65
  }

  private func run(_ input: FetchInput, _ console: Console) throws {
    let context = input.container.newBackgroundContext()
    try context.performAndWait {
      if isOfDictionaries {
        try printDictionaries(context, input, console)
      } else {
        try printObjects(context, input, console)
      }
    }
  }

  private var isOfDictionaries: Bool { !groupBy.isEmpty || !aggregates.isEmpty || isDistinct }

  private func request<T>(_ type: T.Type, _ input: FetchInput) throws -> NSFetchRequest<T> {
    let request = NSFetchRequest<T>(entityName: input.entity.name)
    request.predicate = try predicate.map { try NSPredicate(parsing: $0) }
    request.sortDescriptors = sort.map { key in
      NSSortDescriptor(
        key: key.hasPrefix("-") ? String(key.dropFirst()) : key, ascending: !key.hasPrefix("-"))
    }
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  private func printObjects(
    _ context: NSManagedObjectContext, _ input: FetchInput, _ console: Console
  ) throws {
    let request = try request(NSManagedObject.self, input)
    let paths = properties.isEmpty ? input.columns : properties
    try check(paths, input)
    if explains { return try explain(request, context, console) }
    // One object after another, so that a long list in JSON or CSV takes no memory.
    let objects = try context.fetchLazily(request)
    let writer = ResultWriter(format, columns: paths, console)
    let isKey = paths.map { !$0.contains(".") }
    try writer.write(
      rows: objects.lazy.map { object in
        zip(paths, isKey).map { Cell($1 ? object.value(forKey: $0) : object.value(forKeyPath: $0)) }
      })
    // A value that couldn't be read stands there as none.
    try context.throwDeferredError()
  }

  private func printDictionaries(
    _ context: NSManagedObjectContext, _ input: FetchInput, _ console: Console
  ) throws {
    let request = try request(NSDictionary.self, input)
    request.resultType = .dictionaryResultType
    let figures = try aggregates.map { try Aggregates.column($0) }
    let paths =
      groupBy.isEmpty && aggregates.isEmpty ? properties.isEmpty ? input.columns : properties : groupBy
    try check(paths, input)
    let names = paths + figures.map(\.name)
    if let twice = names.indices.first(where: { names[..<$0].contains(names[$0]) }) {
      throw InputError(
        "two columns are called \(names[twice]): give one of them a name, as in \"max(x) as most\"")
    }
    request.propertiesToFetch = paths + figures
    if !groupBy.isEmpty { request.propertiesToGroupBy = groupBy }
    request.havingPredicate = try having.map { try NSPredicate(parsing: Aggregates.rewritten($0)) }
    request.returnsDistinctResults = isDistinct
    if explains { return try explain(request, context, console) }
    let rows = try context.fetch(request)
    let writer = ResultWriter(format, columns: names, roundsFigures: Set(figures.map(\.name)), console)
    try writer.write(rows: rows.lazy.map { row in names.map { Cell(row.object(forKey: $0)) } })
  }

  /// Names that the entity doesn't have are found before anything is read.
  private func check(_ paths: [String], _ input: FetchInput) throws {
    let schema = input.container.persistentStoreCoordinator.persistentStores.first?.store.schema
    guard let schema else { return }
    for path in paths {
      let bound = try BoundPath(
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init),
        from: input.entity.id, in: schema)
      if bound.type == .key {
        throw InputError(
          "\(input.entity.name).\(path) is an object: name one of its attributes, as in \(path).name")
      }
    }
  }

  private func explain<T>(
    _ request: NSFetchRequest<T>, _ context: NSManagedObjectContext, _ console: Console
  ) throws {
    let explanation = try context.explain(request)
    guard format == .json else { return try console.write("\(explanation)\n") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try console.write(String(decoding: try encoder.encode(explanation), as: UTF8.self) + "\n")
  }
}
