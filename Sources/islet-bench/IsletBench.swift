#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `islet-bench <what>`: measures one part of the service in this process and prints a line for each figure.
@main
struct IsletBench {
    static func main() {
        switch CommandLine.arguments.dropFirst().first {
        case "wheel":
            WheelBench.run()
        case let other:
            print("usage: islet-bench wheel" + (other.map { " (not \($0))" } ?? ""))
            exit(64)
        }
    }
}
