import CCombiningVFS
import CSQLite
import Foundation
import Testing

/// The layer under segments that writes a log in large pieces: what a commit promises must stay as it was.
@Suite("The layer that combines writes to a log")
struct CombiningLayerTests {
    /// One connection; C's calls, as the journal's own wrapper is not to be seen from here.
    private final class Connection {
        private var handle: OpaquePointer?

        init(_ path: String, layer: String? = nil) throws {
            #expect(islet_register_combining_vfs() == SQLITE_OK)
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            try #require(sqlite3_open_v2(path, &handle, flags, layer) == SQLITE_OK)
            try run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        }

        deinit { sqlite3_close_v2(handle) }

        func run(_ sql: String) throws {
            let code = sqlite3_exec(handle, sql, nil, nil, nil)
            try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        }

        func code(_ sql: String) -> Int32 { sqlite3_exec(handle, sql, nil, nil, nil) }

        func text(_ sql: String) throws -> String {
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
            defer { sqlite3_finalize(statement) }
            try #require(sqlite3_step(statement) == SQLITE_ROW)
            return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
        }
    }

    private static let layer = ISLET_COMBINING_VFS
    private static let table = "CREATE TABLE event(number INTEGER PRIMARY KEY, body BLOB)"
    private static let state = "SELECT count(*) || ' ' || coalesce(sum(length(body)), 0) FROM event"

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.data, withIntermediateDirectories: true)
        return folder
    }

    /// Calls of the system that write, of this thread.
    private func writes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst("syscw: ".count)))
    }

    @Test("a commit is there for others, and after a kill, when it returns", arguments: ["FULL", "NORMAL", "OFF"])
    func aCommitIsThereWhenItReturns(synchronous: String) throws {
        let folder = try folder()
        let writer = try Connection(folder.data + "/a.db", layer: Self.layer)
        try writer.run("PRAGMA synchronous = \(synchronous); \(Self.table)")
        var bytes = 0
        // Less than a page, a page, some, and more than the layer gathers at once.
        for (count, size) in [10, 4_096, 70_000, 131_047, 131_072, 400_000, 1].enumerated() {
            try writer.run("INSERT INTO event VALUES(\(count), randomblob(\(size)))")
            bytes += size
            let expected = "\(count + 1) \(bytes)"
            #expect(try Connection(folder.data + "/a.db").text(Self.state) == expected)
            // The log alone must tell: what is in memory that is shared does not outlive the machine.
            let copy = try folder.copy()
            #expect(try Connection(copy.data + "/a.db").text(Self.state) == expected)
        }
        #expect(try writer.text("PRAGMA integrity_check") == "ok")
    }

    @Test("half a megabyte takes a few calls, and a hundred times as many without the layer")
    func largeCommitsTakeFewCalls() throws {
        let folder = try folder()
        var calls: [Int] = []
        for (name, layer) in [("a", Self.layer), ("b", nil)] {
            let writer = try Connection(folder.data + "/\(name).db", layer: layer)
            try writer.run("PRAGMA cache_spill = OFF; \(Self.table)")
            let before = try writes()
            try writer.run("INSERT INTO event VALUES(1, randomblob(500000))")
            calls.append(try writes() - before)
        }
        #expect(calls[0] < 10, "\(calls)")
        #expect(calls[1] > 200, "\(calls)")
    }

    @Test("what a transaction had gathered that was taken back does not come over what another connection committed")
    func aRollbackLeavesNothingBehind() throws {
        let folder = try folder()
        let first = try Connection(folder.data + "/a.db", layer: Self.layer)
        // Pages reach the log before the commit only where they do not fit the cache.
        try first.run("\(Self.table); PRAGMA cache_size = 10; PRAGMA cache_spill = 10")
        let second = try Connection(folder.data + "/a.db")
        for round in 0..<20 {
            try first.run("BEGIN; INSERT INTO event VALUES(1000, randomblob(\(60_000 + 1_000 * round))); ROLLBACK")
            try second.run("INSERT INTO event VALUES(\(round), zeroblob(50000))")
            #expect(try first.text(Self.state) == "\(round + 1) \((round + 1) * 50_000)")
        }
        let copy = try folder.copy()
        let survivor = try Connection(copy.data + "/a.db")
        #expect(try survivor.text(Self.state) == "20 1000000")
        #expect(try survivor.text("PRAGMA integrity_check") == "ok")
    }

    /// The descriptor of a file that is open in this process.
    private func descriptor(of path: String) throws -> Int32 {
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return try #require(
            open.first { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == resolved })
    }

    @Test(
        "a commit whose bytes cannot be written fails, leaves nothing, and the next one holds",
        arguments: ["FULL", "NORMAL"], [10_000, 400_000])
    func aFailedWriteIsTold(synchronous: String, size: Int) throws {
        let folder = try folder()
        let path = folder.data + "/a.db"
        let writer = try Connection(path, layer: Self.layer)
        try writer.run("PRAGMA synchronous = \(synchronous); \(Self.table); INSERT INTO event VALUES(1, randomblob(5000))")
        // From here on the log can be read, but not written.
        let log = try descriptor(of: path + "-wal")
        let writable = dup(log)
        let readable = Glibc.open(path + "-wal", O_RDONLY)
        try #require(writable >= 0 && readable >= 0 && dup2(readable, log) == log)
        #expect(writer.code("INSERT INTO event VALUES(2, randomblob(\(size)))") & 0xFF == SQLITE_IOERR)
        try #require(dup2(writable, log) == log)
        close(writable)
        close(readable)
        #expect(try Connection(path).text(Self.state) == "1 5000")
        try writer.run("INSERT INTO event VALUES(3, randomblob(7000))")
        #expect(try Connection(path).text(Self.state) == "2 12000")
        let copy = try folder.copy()
        #expect(try Connection(copy.data + "/a.db").text(Self.state) == "2 12000")
    }

    @Test("a log that begins again, and one that was moved into its file, go on being right")
    func checkpointsGoOn() throws {
        let folder = try folder()
        let writer = try Connection(folder.data + "/a.db", layer: Self.layer)
        try writer.run(Self.table)
        for round in 0..<30 {
            try writer.run("INSERT INTO event VALUES(\(round), randomblob(30000))")
            if round % 4 == 3 { try writer.run("PRAGMA wal_checkpoint(\(round % 8 == 3 ? "PASSIVE" : "TRUNCATE"))") }
            #expect(try Connection(folder.data + "/a.db").text(Self.state) == "\(round + 1) \((round + 1) * 30_000)")
        }
        #expect(try writer.text("PRAGMA integrity_check") == "ok")
    }
}
