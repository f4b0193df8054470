/// Keeps segments open that recovery is going to read, so that opening them there takes no time.
///
/// A segment's first connection makes SQLite read and index the whole log, 25 ms for 64 MiB; others use that index for as
/// long as one of them is open. This is that one, opened on a thread of its own while the snapshot is taken back. It
/// reads nothing: what is wrong with a segment says whoever reads it.
final class SegmentsAhead {
    /// No more are kept open; each has three files, and all of them take a quarter of those that there may be.
    static let maximum = min(32, FileSystem.maximumOpen / 12)

    private struct Progress {
        var isWanted = true
        var hasEnded = false
    }

    private let progress = Monitor(Progress())

    /// - Parameter segments: In the order in which they are going to be read.
    init(_ segments: [(number: Int, path: String)]) throws(SystemError) {
        let progress = progress
        _ = try WorkerThread(name: "islet-ahead") {
            var readers: [SegmentReader] = []
            for segment in segments.prefix(Self.maximum) where progress.look({ $0.isWanted }) {
                guard let reader = try? SegmentReader(path: segment.path, number: segment.number),
                    (try? reader.indexLog()) != nil
                else { break }
                readers.append(reader)
            }
            progress.wait { $0.isWanted ? nil : () }
            readers.removeAll()
            progress.change { $0.hasEnded = true }
        }
    }

    /// Returns when everything is closed.
    func close() {
        progress.change { $0.isWanted = false }
        progress.wait { $0.hasEnded ? () : nil }
    }

    deinit { close() }
}
