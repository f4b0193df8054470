/// What `verify` found in a data folder.
package struct VerifyReport: Sendable, Equatable {
    /// Something that is wrong.
    package struct Finding: Sendable, Equatable, CustomStringConvertible {
        package var file: String
        /// The byte of the file, where that is known.
        package var offset: Int?
        /// The batch, where that is known.
        package var batch: UInt64?
        package var meaning: String

        package var description: String {
            let place = (offset.map { " at byte \($0)" } ?? "") + (batch.map { " in batch \($0)" } ?? "")
            return "\(file)\(place): \(meaning)"
        }
    }

    /// At most this many are told.
    package static let maximumFindings = 100

    package private(set) var findings: [Finding] = []
    /// Whether there were more.
    package private(set) var isCut = false
    package internal(set) var segments = 0
    package internal(set) var batches = 0
    package internal(set) var events = 0
    package internal(set) var entities = 0
    package internal(set) var firstBatch: UInt64 = 0
    package internal(set) var lastBatch: UInt64 = 0
    package internal(set) var acknowledged: UInt64 = 0
    /// The last log ends within a transaction that never was committed, as after loss of power: nothing is wrong.
    package internal(set) var endsTorn = false
    /// Batches that were committed but not synced (`sync=normal`) and went with an earlier run of the machine: nothing is
    /// wrong, the next start goes on without them in a new epoch.
    package internal(set) var lostUnsynced: UInt64 = 0

    package var isSound: Bool { findings.isEmpty }

    package mutating func add(_ file: String, offset: Int? = nil, batch: UInt64? = nil, _ meaning: String) {
        guard findings.count < Self.maximumFindings else {
            isCut = true
            return
        }
        findings.append(Finding(file: file, offset: offset, batch: batch, meaning: meaning))
    }

    mutating func add(_ file: String, _ error: StoreError) {
        switch error {
        case .damagedLog(_, let offset, let reason): add(file, offset: offset, reason)
        case .damaged(_, let reason), .damagedBackup(_, let reason), .notADatabase(_, let reason), .missing(_, let reason): add(file, reason)
        case .foreign(_, let application): add(file, "a database of another program (application id \(application))")
        case .newerSchema(_, let found, let known): add(file, "its schema is \(found), this version knows \(known)")
        case .otherStore(_, let expected, let found): add(file, "belongs to \(found) instead of \(expected)")
        case .batchesMissing(_, let expected, let found): add(file, batch: found, "batch \(expected) should be here")
        case .database(let error): add(file, error.description)
        case .locked, .notADirectory, .notWritable, .readOnly, .volatile, .system, .commitsLost, .exists,
            .within, .noBackup, .backupNamedAsJournal, .halfMade:
            add(file, error.description)
        }
    }
}
