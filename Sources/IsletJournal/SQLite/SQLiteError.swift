import CSQLite
import Glibc

/// What SQLite could not do.
package enum SQLiteError: Error, Equatable, Sendable {
    /// There is no room: no bytes, inodes or quota on the disk, or no memory to share. The transaction can be tried again.
    case full(String)
    /// This process, or the system, may open no more files. What was tried can be tried again.
    case noDescriptor(String)
    /// Another process holds the file's lock.
    case busy(String)
    /// The content contradicts itself.
    case corrupt(String)
    /// It is no database.
    case notADatabase(String)
    /// There is no such file, or it may not be opened.
    case cannotOpen(String)
    /// Reading, writing or syncing failed; the extended code says which.
    case io(code: Int32, String)
    /// Anything else, with its extended code.
    case other(code: Int32, String)

    /// The error of an extended result code.
    ///
    /// - Parameter lacking: `errno` of the system's call that lacked something, of those that `system_calls.h` watches; 0: none.
    init(code: Int32, message: String, lacking: Int32 = 0) {
        let lack = Self.lack(lacking)
        let cause = lack == nil ? message : "\(message): \(SystemError.text(of: lacking))"
        switch code & 0xFF {
        case SQLITE_FULL: self = .full(cause)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(message)
        case SQLITE_CORRUPT: self = .corrupt(message)
        case SQLITE_NOTADB: self = .notADatabase(message)
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            switch Self.isFinal(code) ? nil : lack {
            case .room: self = .full(cause)
            case .descriptors: self = .noDescriptor(cause)
            case nil where code == Self.sharedMemoryCannotGrow: self = .full(message)
            case nil where code & 0xFF == SQLITE_CANTOPEN: self = .cannotOpen(message)
            case nil: self = .io(code: code, message)
            }
        default: self = .other(code: code, message)
        }
    }

    /// A sync that SQLite did not make itself.
    static func syncFailed(_ message: String) -> SQLiteError { .io(code: syncCode, message) }

    /// What the system has no more of.
    enum Lack {
        case room
        case descriptors
    }

    /// What an `errno` says is lacking; nil: it says something else.
    static func lack(_ systemError: Int32) -> Lack? {
        switch systemError {
        case ENOSPC, EDQUOT, ENOMEM: .room
        case EMFILE, ENFILE: .descriptors
        default: nil
        }
    }

    /// Whether what failed only lacked something that may be there in a moment, be it a lock, so that it can be tried again.
    var isLack: Bool {
        switch self {
        case .full, .noDescriptor, .busy: true
        case .corrupt, .notADatabase, .cannotOpen, .io, .other: false
        }
    }

    /// A sync that failed is never tried again, whatever the reason: the system may have dropped what it did not write. Nor is
    /// a write, which would be `SQLITE_FULL` if it had lacked something; that may have happened to what took it back.
    private static func isFinal(_ code: Int32) -> Bool {
        code == extended(SQLITE_IOERR, 3) || code == syncCode || code == extended(SQLITE_IOERR, 5)
    }

    /// `SQLITE_IOERR_FSYNC`.
    private static let syncCode = extended(SQLITE_IOERR, 4)

    /// `SQLITE_IOERR_SHMSIZE`: the index that connections share of a log has no room to grow. The commit's frames stand in
    /// the log then, behind its end, and the next attempt writes over them.
    private static let sharedMemoryCannotGrow = extended(SQLITE_IOERR, 19)

    private static func extended(_ code: Int32, _ detail: Int32) -> Int32 { code | detail << 8 }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full(let message), .noDescriptor(let message), .busy(let message), .corrupt(let message),
            .notADatabase(let message), .cannotOpen(let message):
            message
        case .io(let code, let message), .other(let code, let message): "\(message) (SQLite code \(code))"
        }
    }
}
