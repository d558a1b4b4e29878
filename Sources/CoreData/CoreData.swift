// `import CoreData` where Apple's framework doesn't exist: everything that `import Cairn` brings, under that name.

#if !canImport(Darwin)
  @_exported public import Cairn
#endif
