import Glibc

/// A recording on disk or on standard input.
enum RecordingFile {
    /// No event is longer: a frame has at most 64 KiB, and an event at most a few of its members more.
    private static let lineMax = 1_048_576
    static let bytesMax = 1_073_741_824
    private static let chunk = 262_144

    /// Reads a whole recording.
    ///
    /// - Parameter path: a file's, or `-` for standard input.
    static func read(_ path: String) throws(RecordingError) -> Recording {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY)
        guard descriptor >= 0 else { throw .cannotRead(String(cString: strerror(errno))) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var recording = Recording()
        var rest: [UInt8] = []
        var line = 1
        var total = 0
        var buffer = [UInt8](repeating: 0, count: chunk)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw .cannotRead(String(cString: strerror(errno))) }
                continue
            }
            if count == 0 { break }
            total += count
            guard total <= bytesMax else { throw .tooLong(limit: bytesMax, unit: "bytes") }
            var piece = buffer[..<count]
            while let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
                rest += piece[..<end]
                try take(rest, line, &recording, isCut: false)
                rest.removeAll(keepingCapacity: true)
                line += 1
                piece = piece[(end + 1)...]
            }
            rest += piece
            guard rest.count <= lineMax else { throw .lineTooLong(line: line, limit: lineMax) }
        }
        try take(rest, line, &recording, isCut: true)
        recording.finish()
        guard recording.count > 0 || recording.header != nil else { throw .empty }
        return recording
    }

    private static func take(
        _ bytes: [UInt8], _ line: Int, _ recording: inout Recording, isCut: Bool
    ) throws(RecordingError) {
        guard bytes.count <= lineMax else { throw .lineTooLong(line: line, limit: lineMax) }
        guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
        try recording.take(bytes, number: line, isCut: isCut)
    }
}
