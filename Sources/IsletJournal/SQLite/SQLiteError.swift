import CSQLite

/// What SQLite could not do.
package enum SQLiteError: Error, Equatable, Sendable {
    /// There is no room on the disk; the transaction can be tried again.
    case full(String)
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
    init(code: Int32, message: String) {
        switch code & 0xFF {
        case SQLITE_FULL: self = .full(message)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(message)
        case SQLITE_CORRUPT: self = .corrupt(message)
        case SQLITE_NOTADB: self = .notADatabase(message)
        case SQLITE_CANTOPEN: self = .cannotOpen(message)
        case SQLITE_IOERR: self = .io(code: code, message)
        default: self = .other(code: code, message)
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .full(let message), .busy(let message), .corrupt(let message), .notADatabase(let message),
            .cannotOpen(let message):
            message
        case .io(let code, let message), .other(let code, let message): "\(message) (SQLite code \(code))"
        }
    }
}
