import Dispatch
import IsletCore
import IsletJournal

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// From a batch to a row in a segment of the store, and back.
///
/// The files are in a temporary folder, and nothing waits for the disk: what SQLite and the packing cost is measured,
/// not what the disk does.
enum JournalBench {
    private static let batchEvents = 64
    private static let now: Int64 = 1_780_000_000_000

    private struct NoFolder: Error {}

    static func round(_ meter: inout Meter) throws {
        var path = Array("/tmp/islet-bench-XXXXXX\0".utf8CString)
        guard mkdtemp(&path) != nil else { throw NoFolder() }
        let folder = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { remove(folder) }

        // One more than is measured: what the first commit does once belongs to nobody.
        let batches = stride(from: 0, through: meter.count, by: batchEvents).map { batch(first: $0) }
        let store = try open(folder)
        let done = DispatchSemaphore(value: 0)
        let journal = try store.startJournal(after: 0) { notice in
            switch notice {
            case .committed, .swept: done.signal()
            case .isFull, .hasRoom, .read, .backedUp, .segmentIsDelayed: break
            }
        }
        _ = journal.append(batches[0])
        done.wait()
        // An empty piece of the snapshot: the next segment is made before it, and so not while something is measured.
        journal.sweep(StateChunk())
        done.wait()
        meter.measure("commit of 64 events", step: batchEvents) { first in
            _ = journal.append(batches[first / batchEvents + 1])
            done.wait()
        }
        close(journal)

        let visitor = Counter()
        let stored = try open(folder)
        try meter.measure("recover", step: meter.count) { _ in try stored.forEachBatch(after: 1, visitor) }
        precondition(visitor.events == meter.count, "\(visitor.events) events came back")
    }

    /// Waits for it: where a task of the main thread waits, that thread ends, which valgrind does not survive.
    private static func close(_ journal: sending SQLiteJournal) {
        let closed = DispatchSemaphore(value: 0)
        Task.detached {
            await journal.close()
            closed.signal()
        }
        closed.wait()
    }

    private static func open(_ folder: String) throws -> Store {
        var options = StoreOptions { "0198c0de-1c00-7a3e-9f21-3b5c8d7e0a11" }
        options.sync = .normal
        options.allowVolatile = true
        return try Store.open(directory: folder, options: options)
    }

    private static func batch(first: Int) -> JournalBatch {
        var batch = JournalBatch(number: UInt64(first / batchEvents + 1))
        let app = Array(SampleFrames.app.utf8)
        let image = [UInt8](repeating: 7, count: 100)
        for number in first..<first + batchEvents {
            let topic = Array("\(SampleFrames.app)/activity/Bench/\(SampleFrames.id(number))".utf8)
            // As long as the event of an update.
            let json = SampleFrames.content(number, bytes: 700)
            batch.append(
                stream: 0, app: app.span, seq: UInt64(number + 1), previous: 0, at: now, topic: topic.span,
                json: json.span, image: image.span)
        }
        batch.close(at: now) { _ in (first, 7) }
        return batch
    }

    private static func remove(_ folder: String) {
        guard let directory = opendir(folder) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink(folder + "/" + name)
        }
        closedir(directory)
        rmdir(folder)
    }

    private final class Counter: RecoveryVisitor {
        var events = 0

        func begin(batch number: UInt64, at: Int64) {}
        func fact(_ content: Span<UInt8>) {}
        func event(
            app: Span<UInt8>, seq: UInt64, previous: UInt64, topic: Span<UInt8>, json: Span<UInt8>, image: Span<UInt8>
        ) {
            events += 1
        }
        func endStream(app: Span<UInt8>, seq: UInt64, entities: Int, digest: UInt64) {}
    }
}
