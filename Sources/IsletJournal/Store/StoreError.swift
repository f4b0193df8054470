/// Why a data folder cannot be used. Nothing in it was changed.
package enum StoreError: Error, Equatable, Sendable {
    /// Another process has it, with that number, if it has written it already.
    case locked(directory: String, pid: Int32?)
    case notADirectory(String)
    /// It is not ours, or may not be written.
    case notWritable(String)
    /// It is on a file system that is mounted so that nobody writes there.
    case readOnly(String)
    /// It is on a file system that forgets everything when the machine stops.
    case volatile(directory: String, fileSystem: String)
    /// A call of the system failed.
    case system(String)
    /// A file is no database at all.
    case notADatabase(file: String, reason: String)
    /// A file is a database of some other program.
    case foreign(file: String, applicationID: Int32)
    /// A file was written by a later version of the service.
    case newerSchema(file: String, found: Int, known: Int)
    /// A file is not there.
    case missing(file: String, reason: String)
    /// A file belongs to another folder.
    case otherStore(file: String, expected: String, found: String)
    /// A write-ahead log has a bad place before its end.
    case damagedLog(file: String, offset: Int, reason: String)
    /// A file's content contradicts itself.
    case damaged(file: String, reason: String)
    /// A file of a data folder was taken for a backup.
    case noBackup(file: String)
    /// A backup is not as it was written. Nothing was made of it.
    case damagedBackup(file: String, reason: String)
    /// A segment does not begin where the one before it ends, or ends too early.
    case batchesMissing(file: String, expected: UInt64, found: UInt64)
    /// The journal ends before what was acknowledged.
    case commitsLost(directory: String, last: UInt64, acknowledged: UInt64)
    /// A file or folder is in the way.
    case exists(String)
    /// A backup, or a new data folder, was to be made within a data folder.
    case within(path: String, directory: String)
    /// A backup was to have a name that a journal uses itself.
    case backupNamedAsJournal(file: String)
    /// A restore or a rebuild that makes the folder is not through, or was killed.
    case halfMade(directory: String)
    /// SQLite failed.
    case database(SQLiteError)

    init(_ error: SystemError) {
        switch SQLiteError.lack(error.code) {
        case .room: self = .database(.full(error.description))
        case .descriptors: self = .database(.noDescriptor(error.description))
        case nil: self = .system(error.description)
        }
    }

    /// An error of a statement on a file that is a database.
    init(_ error: SQLiteError, file: String) {
        switch error {
        case .corrupt(let message): self = .damaged(file: file, reason: message)
        case .notADatabase(let message): self = .notADatabase(file: file, reason: message)
        case .full, .noDescriptor, .busy, .cannotOpen, .io, .other: self = .database(error)
        }
    }
}

extension StoreError: CustomStringConvertible {
    private static let advice =
        "Nothing was changed. `islet journal verify` lists what is wrong, and where; "
        + "`islet restore` makes a new folder from a backup."

    package var description: String {
        switch self {
        case .locked(let directory, let pid):
            "\(directory) is used by another process" + (pid.map { " (pid \($0))" } ?? "")
        case .notADirectory(let path): "\(path) is not a folder"
        case .notWritable(let path): "\(path) cannot be written by this user: check its owner and mode"
        case .readOnly(let path): "\(path) is on a file system that is mounted read-only"
        case .volatile(let directory, let fileSystem):
            "\(directory) is on \(fileSystem), which forgets everything when the machine stops: choose another folder"
        case .system(let message): message
        case .notADatabase(let file, let reason): "\(file) is not a database: \(reason). \(Self.advice)"
        case .foreign(let file, let applicationID):
            "\(file) is a database of another program (application id \(applicationID)). \(Self.advice)"
        case .newerSchema(let file, let found, let known):
            "\(file) was written by a later version: its schema is \(found), this version knows \(known). "
                + "Nothing was changed; run the later version."
        case .missing(let file, let reason): "\(file) is missing: \(reason). \(Self.advice)"
        case .otherStore(let file, let expected, let found):
            "\(file) belongs to another folder: it says \(found) instead of \(expected). \(Self.advice)"
        case .damagedLog(let file, let offset, let reason):
            "\(file) is damaged at byte \(offset): \(reason). \(Self.advice)"
        case .damaged(let file, let reason): "\(file) is damaged: \(reason). \(Self.advice)"
        case .noBackup(let file) where FolderNames.isUnfinished(file):
            "\(file) was left by something that was not finished, such as a backup: nothing was restored. "
                + "Take a backup that was."
        case .noBackup(let file):
            "\(file) is no backup, but one file of a data folder: nothing was restored. `islet serve --data` opens the whole "
                + "folder, `islet journal rebuild` makes a new one of what is left of it."
        case .damagedBackup(let file, let reason):
            "\(file) is a damaged backup: \(reason). Nothing was restored; take an older one."
        case .batchesMissing(let file, let expected, let found):
            "\(file) has batch \(found) where batch \(expected) should be. \(Self.advice)"
        case .commitsLost(let directory, let last, let acknowledged):
            "\(directory) ends with batch \(last), but batch \(acknowledged) was acknowledged. \(Self.advice)"
        case .exists(let path): "\(path) exists already"
        case .within(let path, let directory):
            "\(path) is within the data folder \(directory): choose a place outside it"
        case .backupNamedAsJournal(let file):
            "\(file) has a name that a journal uses itself, and would be taken for a part of one: choose another name"
        case .halfMade(let directory):
            "\(directory) is half of what `islet restore` or `islet journal rebuild` makes, which was ended before it was "
                + "through: remove it, and begin again"
        // Whatever waits for as long as it takes does not say so.
        case .database(.busy(let reason)):
            "\(reason): another process has locked it, and is waited for no longer than a second"
        case .database(let error): error.description
        }
    }
}
