/// One step of a script. Whatever else it needs is drawn from its salt, so it means the same whatever steps around it are
/// left out.
package struct Step: Equatable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// One message with one command, and one with many.
        case command, batch
        /// A command that was sent before comes again, with the same bytes or with others.
        case retry, forgedRetry
        /// Time passes: a little, up to the next deadline or around it, or much.
        case pass, passToDeadline, passLong
        /// What the machine's clock and the machine do.
        case jump, freeze, suspend
        case advance
        /// The end of the process, of the machine's power or of its disk's patience somewhere in a turn, and a stop in good order.
        case kill, powerLoss, inputOutputError, cleanRestart
        case fullDisk, slowDisk
        /// A subscriber goes away, comes back, loses events, asks for a snapshot, or follows an app for the first time.
        case subscriber
        /// Every activity, list, digest and setting is read and compared.
        case verify
        case idle
        /// A provider comes, goes, rests, hangs or changes its ways; something changes by itself behind them.
        case provider, world
    }

    package var kind: Kind
    package var salt: UInt64

    package init(kind: Kind, salt: UInt64) {
        self.kind = kind
        self.salt = salt
    }

    /// A step as its description says.
    package init?(_ description: String) {
        let words = description.split(separator: " ")
        guard words.count == 2, let kind = Kind(rawValue: String(words[0])), let salt = UInt64(words[1], radix: 16)
        else { return nil }
        self.init(kind: kind, salt: salt)
    }

    package var description: String { "\(kind.rawValue) \(String(salt, radix: 16))" }
}
