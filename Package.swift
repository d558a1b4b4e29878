// swift-tools-version: 6.2
// The table of targets, bottom first. Arrows only point upwards in this list; `.ci/run` checks
// that no file imports what its row doesn't name (Sources/README.md says why each row is one).
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  // Foundation deprecates `predicateFormat` on Linux, which an override can't avoid naming.
  .treatWarning("DeprecatedDeclaration", as: .warning),
]

let package = Package(
  name: "cairn",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Cairn", targets: ["Cairn"]),
    .library(name: "CairnTesting", targets: ["CairnTesting"]),
    .executable(name: "cairn", targets: ["CairnTool"]),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"]), .brew(["zlib"])]),
    .systemLibrary(name: "CFileStatus", path: "Sources/CFileStatus"),
    .target(name: "CairnMacroPlugin", swiftSettings: strict),
    .macro(name: "CairnMacros", dependencies: ["CairnMacroPlugin"], swiftSettings: strict),
    .target(
      name: "CairnModel", exclude: ["README.md", "ModelFiles/README.md"], swiftSettings: strict),
    .target(
      name: "CairnStores", dependencies: ["CairnModel", "CFileStatus", "CZlib"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(
      name: "CairnGraph", dependencies: ["CairnModel", "CairnMacros"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(
      name: "Cairn", dependencies: ["CairnModel", "CairnStores", "CairnGraph"],
      swiftSettings: strict),
    .target(
      name: "CairnTesting", dependencies: ["Cairn", "CairnModel"], exclude: ["README.md"],
      swiftSettings: strict),
    .executableTarget(
      name: "CairnTool", dependencies: ["Cairn"],
      resources: [.copy("Resources/flights")], swiftSettings: strict),
    .executableTarget(
      name: "CairnBenchmarks", dependencies: ["Cairn"], path: "Benchmarks/CairnBenchmarks",
      swiftSettings: strict),
    .testTarget(
      name: "CairnMacroPluginTests", dependencies: ["CairnMacroPlugin"], swiftSettings: strict),
    .testTarget(
      name: "CairnModelTests", dependencies: ["CairnModel"], resources: [.copy("Resources")],
      swiftSettings: strict),
    .executableTarget(
      name: "StoreWriter", dependencies: ["CairnStores", "CairnModel", "CairnTesting"],
      path: "Tests/StoreWriter", swiftSettings: strict),
    .testTarget(
      name: "CairnStoresTests",
      dependencies: ["Cairn", "CairnStores", "CairnModel", "CairnTesting", "StoreWriter"],
      swiftSettings: strict),
    .testTarget(
      name: "CairnGraphTests", dependencies: ["Cairn", "CairnGraph"], swiftSettings: strict),
    .testTarget(
      name: "CairnSeedProgramTests", dependencies: ["Cairn"], resources: [.copy("Resources")],
      swiftSettings: strict),
    .testTarget(name: "CairnToolTests", dependencies: ["Cairn"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// Apple's systems have a framework of this name.
#if !canImport(Darwin)
  package.products.append(.library(name: "CoreData", targets: ["CoreData"]))
  package.targets += [
    .target(name: "CoreData", dependencies: ["Cairn"], exclude: ["README.md"], swiftSettings: strict),
    .testTarget(name: "CoreDataShimTests", dependencies: ["CoreData"], swiftSettings: strict),
  ]
#endif
