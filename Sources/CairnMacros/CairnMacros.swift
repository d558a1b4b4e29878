// The executable that the compiler starts for `@Managed`. All that it does stands in CairnMacroPlugin,
// a library, because a test target that depended on the macro itself would have SwiftPM build the whole
// package a second time, for the host.
import CairnMacroPlugin

@main
enum CompilerPlugin {
  static func main() {
    ManagedPlugin.run()
  }
}
