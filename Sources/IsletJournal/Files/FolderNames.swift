/// The names in a data folder.
struct FolderNames: Sendable {
    let directory: String

    static let lockName = "lock"
    var lock: String { directory + "/" + Self.lockName }
    static let markName = "mark"
    var mark: String { directory + "/" + Self.markName }
    static let stateName = "state.db"
    var state: String { directory + "/" + Self.stateName }
    /// Is there while a restore makes the folder, or a rebuild (``Store/copy(directory:into:options:)``).
    static let halfMadeName = "rebuilding"
    var halfMade: String { directory + "/" + Self.halfMadeName }

    /// A segment's file; its log is beside it.
    func segment(_ number: Int) -> String { directory + "/" + Self.segmentName(number) }

    static func segmentName(_ number: Int) -> String {
        let digits = String(number)
        return "journal-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".db"
    }

    /// The number in the name of a segment; nil: it is none.
    static func segmentNumber(_ name: String) -> Int? {
        guard name.hasPrefix("journal-"), name.hasSuffix(".db") else { return nil }
        guard let number = Int(name.dropFirst(8).dropLast(3)), number > 0, segmentName(number) == name else {
            return nil
        }
        return number
    }

    /// The number of the segment that a file lies beside, such as its log; nil: it is no such file.
    static func segmentBeside(_ name: String) -> Int? {
        for suffix in suffixes where name.hasSuffix(suffix) { return segmentNumber(String(name.dropLast(suffix.count))) }
        return nil
    }

    /// What SQLite puts beside a database.
    private static let suffixes = ["-wal", "-shm", "-journal"]

    /// Whether a file of that name would be taken for one of a journal's, or for what SQLite puts beside one.
    static func isOfJournal(_ name: String) -> Bool {
        [lockName, markName, stateName, halfMadeName].contains(name) || segmentNumber(name) != nil || isUnfinished(name)
            || suffixes.contains { name.hasSuffix($0) }
    }

    /// A database's write-ahead log, and the index of it that its connections share.
    static func log(of path: String) -> String { path + "-wal" }
    static func index(of path: String) -> String { path + "-shm" }

    /// A database that is being made, and everything beside it.
    static func unfinished(_ path: String) -> String { path + unfinishedSuffix }

    /// Whether a name is left over from a file that was being made.
    static func isUnfinished(_ name: String) -> Bool {
        ([""] + suffixes).contains { name.hasSuffix(unfinishedSuffix + $0) }
    }

    private static let unfinishedSuffix = ".unfinished"

    /// The files that SQLite puts beside a database.
    static func beside(_ path: String) -> [String] { suffixes.map { path + $0 } }

    /// Removes a database with what is beside it. The file itself goes first: a log without it is nothing, but it
    /// without its log would look complete.
    static func removeDatabase(_ path: String) throws(SystemError) {
        for file in [path] + beside(path) { try FileSystem.remove(file) }
    }

    /// Bytes of a database with its log.
    static func bytes(of path: String) -> Int {
        (FileSystem.size(of: path) ?? 0) + (FileSystem.size(of: log(of: path)) ?? 0)
    }
}
