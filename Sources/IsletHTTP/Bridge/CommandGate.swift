import IsletClient
import IsletProtocol

/// Which commands are passed on from HTTP to the service.
package struct CommandGate {
    private let canWrite: Bool

    /// - Parameter canWrite: whether changes are.
    package init(canWrite: Bool) {
        self.canWrite = canWrite
    }

    /// Why a command is not passed on.
    package enum Refusal: Error, Equatable {
        /// No JSON object with an `op`, or one with a name twice: what the service would read in it is not left to chance.
        case unreadable
        /// A change, while the board may only read.
        case readOnly(op: String)
        /// An operation that belongs to one connection, or reaches files.
        case notForOthers(op: String)
        /// It wants no answer, and HTTP has to give one.
        case wantsNoAnswer
    }

    /// Looks at a command. One of an unknown op passes: the service knows no more of them than this does, and its answer
    /// says so.
    package func check(_ frame: [UInt8]) throws(Refusal) {
        guard let command = RawObject(frame), let name = command["op"]?.string else { throw .unreadable }
        guard command["ack"]?.string != "none" else { throw .wantsNoAnswer }
        guard let operation = OperationName(name: name) else { return }
        switch operation.access {
        case .read: return
        case .change: guard canWrite else { throw .readOnly(op: name) }
        case .connection: throw .notForOthers(op: name)
        }
    }
}
