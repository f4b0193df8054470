/// Why a file is no recording that can be played.
package enum RecordingError: Error, Equatable {
    case cannotRead(String)
    case empty
    case notJSON(line: Int)
    case notAnEvent(line: Int)
    case lineTooLong(line: Int, limit: Int)
    case tooLong(limit: Int, unit: String)
    case laterForm(line: Int)
    /// A line that stands elsewhere in a recording.
    case misplaced(line: Int)

    /// A sentence for people, without the file's name.
    package var description: String {
        switch self {
        case .cannotRead(let why): "cannot be read: \(why)"
        case .empty: "has no events"
        case .notJSON(let line): "line \(line) is no JSON; nothing was sent"
        case .notAnEvent(let line):
            "line \(line) is no event: a recording is what `islet record`, `islet tail --json` or "
                + "`islet journal dump` has written; nothing was sent"
        case .lineTooLong(let line, let limit):
            "line \(line) has more than \(RecoveryText.grouped(limit)) bytes, which no event has; nothing was sent"
        case .tooLong(let limit, let unit):
            "has more than \(RecoveryText.grouped(limit)) \(unit): play it in parts; nothing was sent"
        case .laterForm(let line):
            "line \(line) is of a later version of `islet record`: play it with that version; nothing was sent"
        case .misplaced(let line):
            "line \(line) is of another snapshot than that of the first line: play each recording by itself; "
                + "nothing was sent"
        }
    }
}
