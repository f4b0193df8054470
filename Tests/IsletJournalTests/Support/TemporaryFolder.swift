import CSQLite
import Foundation
import IsletJournal
import RegexBuilder
import Synchronization
import Testing

/// A folder of a test's own, which goes with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "islet-journal-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// One that somebody else has made.
    init(existing path: String) {
        self.path = path
    }

    /// Whether such folders are on a disk, and not in memory.
    static var isOnDisk: Bool { csqlite_file_system(NSTemporaryDirectory()) != 0x0102_1994 }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The data folder in it.
    var data: String { path + "/data" }

    /// What a process that was killed now would leave behind.
    func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: copy.data, withIntermediateDirectories: true)
        for name in files where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: data + "/" + name, toPath: copy.data + "/" + name)
        }
        return copy
    }

    /// The numbers of the segments that this process has open; also of those that were removed, whose bytes stay on the
    /// disk meanwhile.
    var openSegments: Set<Int> {
        let files = FileManager.default
        let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let paths = descriptors.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        let segment = Regex { data + "/journal-"; Capture { OneOrMore(.digit) }; ".db"; Optionally { " (deleted)" } }
        return Set(paths.compactMap { $0.wholeMatch(of: segment).flatMap { Int($0.1) } })
    }

    /// The names in the data folder.
    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []).sorted() }

    /// The segments in the data folder.
    var segments: [String] { files.filter { $0.hasPrefix("journal-") && $0.hasSuffix(".db") } }

    func read(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: data + "/" + name)))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: data + "/" + name))
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: data + "/" + name)
    }

    /// The last batch that a process would find that was started after a kill now.
    func copiedLastBatch(_ options: StoreOptions) throws -> UInt64 {
        let copy = try copy()
        return try withExtendedLifetime(copy) {
            try Store.open(directory: copy.data, options: options).summary.lastBatch
        }
    }

    /// Runs SQL as an operator would, with the command, and gives its output.
    static func sqlite3(_ file: String, _ sql: String) throws -> String {
        try run(["sqlite3", "-readonly", file, sql])
    }

    /// Runs SQL that writes.
    static func sqlite3Writing(_ file: String, _ sql: String) throws -> String {
        try run(["sqlite3", file, sql])
    }

    private static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Names of epochs, each another one.
final class Epochs: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> String {
        "epoch-\(count.add(1, ordering: .relaxed).newValue)"
    }
}

extension StoreOptions {
    /// For tests: in memory, and with failures that end nothing.
    static func testing(
        sync: SyncMode = .normal, _ change: (inout StoreOptions) -> Void = { _ in }
    ) -> StoreOptions {
        let epochs = Epochs()
        var options = StoreOptions(makeEpoch: { epochs.next() })
        options.sync = sync
        options.allowVolatile = true
        options.minimumFree = 0
        options.bootID = "boot-1"
        options.fullRetry = 1
        options.onFailure = { Issue.record("the journal failed: \($0)") }
        options.onWarning = { Issue.record("the journal warned: \($0)") }
        change(&options)
        return options
    }
}
