import Glibc

/// Writing to a file, a pipe or a terminal, to the end.
enum Output {
    /// Writes all of it; where the other side takes nothing now, it waits for it without work.
    ///
    /// - Returns: the number of the error that ended it; nil: all is written.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written < 0 else {
                rest = rest.dropFirst(written)
                continue
            }
            switch errno {
            case EINTR: continue
            // Somebody who shares the descriptor has made it non-blocking.
            case EAGAIN:
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            case let error: return error
            }
        }
        return nil
    }
}
