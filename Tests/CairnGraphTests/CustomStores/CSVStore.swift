// An atomic store as Apple's guide has one written: a text file, one line an object.
//
// The first line has the store's UUID and the last number given; the others are entity, number, and the values,
// with related objects as `Entity/number`. Values have no commas here.

import Cairn

final class CSVStore: NSAtomicStore, @unchecked Sendable {
  static let name = "CSVStore"
  private var lastNumber = 0
  /// For the tests: the next save fails.
  var failsToSave = false

  override var type: String { CSVStore.name }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let text = try String(contentsOf: url, encoding: .utf8)
    let head = text.split(separator: "\n").first?.split(separator: ",").map(String.init) ?? []
    guard head.count == 3, head[0] == name else {
      throw NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreTypeMismatchError)
    }
    return [NSStoreTypeKey: name, NSStoreUUIDKey: head[1]]
  }

  override func load() throws {
    guard let url, let text = try? String(contentsOf: url, encoding: .utf8), !text.isEmpty else { return }
    metadata = try CSVStore.metadataForPersistentStore(with: url)
    let lines = text.split(separator: "\n").map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    lastNumber = Int(lines[0][2]) ?? 0
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for line in lines.dropFirst() {
      let node = try node(named: line[0] + "/" + line[1])
      node.propertyCache = NSMutableDictionary()
      for field in line.dropFirst(2) { try read(field, into: node) }
      nodes.insert(node)
    }
    addCacheNodes(nodes.union(made.values))
    made = [:]
  }

  /// Nodes by their names while the file is read, since a line may name an object of a later one.
  private var made: [String: NSAtomicStoreCacheNode] = [:]

  private func node(named name: String) throws -> NSAtomicStoreCacheNode {
    if let known = made[name] { return known }
    let parts = name.split(separator: "/").map(String.init)
    let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName
    guard parts.count == 2, let entity = entities?[parts[0]], let number = Int(parts[1]) else {
      throw NSError(domain: NSCocoaErrorDomain, code: NSFileReadCorruptFileError)
    }
    let node = NSAtomicStoreCacheNode(
      objectID: objectID(for: entity, withReferenceObject: number as NSNumber))
    made[name] = node
    return node
  }

  private func read(_ field: String, into node: NSAtomicStoreCacheNode) throws {
    let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return }
    let entity = node.objectID.entity
    if let relationship = entity.relationshipsByName[parts[0]] {
      let members = try parts[1].split(separator: " ").map { try self.node(named: String($0)) }
      node.setValue(relationship.isToMany ? Set(members) : members.first, forKey: parts[0])
    } else if entity.attributesByName[parts[0]]?.type == .integer32 {
      node.setValue(Int(parts[1]).map { NSNumber(value: $0) }, forKey: parts[0])
    } else {
      node.setValue(parts[1], forKey: parts[0])
    }
  }

  override func save() throws {
    if failsToSave { throw CocoaError(.fileWriteOutOfSpace) }
    guard let url else { return }
    var lines = ["\(CSVStore.name),\(identifier ?? ""),\(lastNumber)"]
    lines += cacheNodes().map(line).sorted()
    try (lines.joined(separator: "\n") + "\n").write(to: url, atomically: true, encoding: .utf8)
  }

  private func name(of node: NSAtomicStoreCacheNode) -> String {
    "\(node.objectID.entity.name ?? "")/\(referenceObject(for: node.objectID))"
  }

  private func line(_ node: NSAtomicStoreCacheNode) -> String {
    let fields = node.objectID.entity.propertiesByName.keys.sorted().compactMap { key -> String? in
      switch node.value(forKey: key) {
      case let other as NSAtomicStoreCacheNode: "\(key)=\(name(of: other))"
      case let others as Set<NSAtomicStoreCacheNode>:
        "\(key)=\(others.map(name).sorted().joined(separator: " "))"
      case let value?: "\(key)=\(value)"
      case nil: nil
      }
    }
    let parts = name(of: node).split(separator: "/").map(String.init)
    return (parts + fields).joined(separator: ",")
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    lastNumber += 1
    return lastNumber as NSNumber
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    addCacheNodes([node])
    updateCacheNode(node, from: managedObject)
    return node
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    for (key, attribute) in managedObject.entity.attributesByName where !attribute.isTransient {
      node.setValue(managedObject.value(forKey: key), forKey: key)
    }
    for (key, relationship) in managedObject.entity.relationshipsByName where !relationship.isToMany {
      let other = managedObject.value(forKey: key) as? NSManagedObject
      node.setValue(other.map { cacheNode(for: $0.objectID) ?? newCacheNode(for: $0) }, forKey: key)
    }
  }
}
