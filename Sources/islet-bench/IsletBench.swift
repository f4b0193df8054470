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
            complain("usage: islet-bench wheel" + (other.map { " (not \($0))" } ?? ""))
            exit(64)
        }
    }
}

private func complain(_ message: String) {
    var line = message + "\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
