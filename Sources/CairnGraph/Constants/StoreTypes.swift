// The names of store types, and the keys of a store's metadata.

/// The type of Apple's SQLite store, which Cairn doesn't have: adding one throws 134000, unless one line puts
/// another store in its place (`NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`).
public let NSSQLiteStoreType = "SQLite"
/// The type of Apple's binary store: a whole object graph in one file. Cairn's archive stands behind it.
public let NSBinaryStoreType = "Binary"
/// The type of Apple's XML store, which Cairn doesn't have: adding one throws 134000.
public let NSXMLStoreType = "XML"
/// Cairn's own: a store in one compact file, for shipping, backing up and exchanging object graphs.
public let CairnArchiveStoreType = "CairnArchive"
/// Cairn's own: a store for a running program, a directory in which a save is an append, and durable when it returns.
public let CairnLogStoreType = "CairnLog"
/// A store that lives in memory, until it is removed from its coordinator or nobody holds it any more.
public let NSInMemoryStoreType = "InMemory"

/// The store's type, a string.
public let NSStoreTypeKey = "NSStoreType"
/// The store's UUID, a string.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The version hash (`Data`) of each entity, by its name.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The identifiers of the model's version, an array of strings.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The checksum of the model's version, a string.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// The systems that a store works on.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
