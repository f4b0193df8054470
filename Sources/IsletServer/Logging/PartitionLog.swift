package import Logging

/// What a partition writes into the log, and at which levels: nothing but what is rare above `debug`, each command at
/// `debug`, each message, event and commit at `trace`. Never a payload, never a token.
package struct PartitionLog: Sendable {
    /// Says nothing.
    package static let silent = PartitionLog()

    let logger: Logger
    /// Whether each command is told.
    let tellsCommands: Bool
    /// Whether each message, event and commit is told.
    let tellsMessages: Bool

    private init() {
        logger = Logger(label: "islet") { _ in SwiftLogNoOpLogHandler() }
        (tellsCommands, tellsMessages) = (false, false)
    }

    /// - Parameter logger: its level is taken as it is now.
    package init(_ logger: Logger) {
        self.logger = logger
        tellsCommands = logger.logLevel <= .debug
        tellsMessages = logger.logLevel <= .trace
    }
}
