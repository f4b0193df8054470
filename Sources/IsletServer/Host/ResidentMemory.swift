import Glibc

/// How much memory this process has in RAM, as Linux counts it.
package enum ResidentMemory {
    /// Bytes; nil where the system does not say.
    package static func bytes() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = InlineArray<128, UInt8>(repeating: 0)
        var span = text.mutableSpan
        let count = span.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        // The second number counts pages.
        var numbers = 0
        var pages = 0
        for index in 0..<max(0, count) {
            let byte = span[index]
            if byte == UInt8(ascii: " ") {
                numbers += 1
                if numbers == 2 { return pages * sysconf(Int32(_SC_PAGESIZE)) }
            } else if numbers == 1, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                pages = pages * 10 + Int(byte - UInt8(ascii: "0"))
            }
        }
        return nil
    }
}
