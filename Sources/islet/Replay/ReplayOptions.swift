import ArgumentParser
import IsletClient

/// How a recording is played.
struct ReplayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How fast: 1, 10, 0.5, or max. (default: 1; a manual clock is moved without waiting)", valueName: "number"))
    var speed: ReplaySpeed?

    @Flag(name: .customLong("keep-times"), help: "Leave the dates as they are recorded.")
    var keepsTimes = false

    @Option(help: ArgumentHelp("Put this before the names of apps and groups, such as staging.", valueName: "text"))
    var prefix: String?

    @Option(
        name: .customLong("app-map"),
        help: ArgumentHelp("Call an app or a group so; may stand several times.", valueName: "OLD=NEW"))
    var map: [String] = []

    @Flag(name: .customLong("new-ids"), help: "Give everything a new id, so that it can be played once more.")
    var makesIDs = false

    @Flag(name: .customLong("stop-on-error"), help: "Stop at the first command that is not executed.")
    var stopsOnError = false

    @Flag(
        name: .customLong("incomplete"), help: "Play a recording whose snapshot is not whole, as far as it goes.")
    var playsIncomplete = false

    @Flag(name: .customLong("dry-run"), help: "Only write the commands, as JSON; ask no service.")
    var isDryRun = false

    @Flag(help: "Compare the entities with the recorded ones afterwards.")
    var verify = false

    func validate() throws {
        for entry in map where entry.split(separator: "=", omittingEmptySubsequences: false).count != 2 {
            throw ValidationError("--app-map takes OLD=NEW: \(entry)")
        }
        for name in names.map.values + [prefix ?? "a"] where !Self.isName(name) {
            throw ValidationError("'\(name.printable)' cannot be in a bundle id")
        }
        guard !isDryRun || !verify else { throw ValidationError("a dry run leaves nothing to verify") }
        // A dry run has no target whose time the dates could be brought to.
    }

    var names: ReplayNames {
        let pairs = map.map { $0.split(separator: "=", omittingEmptySubsequences: false).map(String.init) }
        return ReplayNames(
            prefix: prefix ?? "",
            map: Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 }))
    }

    /// What a bundle identifier is made of.
    private static func isName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                case _: false
                }
            }
    }

    /// How it goes at a target.
    ///
    /// - Parameter first: the date of the first recorded event.
    /// - Throws: a `Failure` where the target's clock would have to go back.
    func plan(_ target: ReplayTarget, first: Int64) throws -> ReplayRun.Options {
        let offset = keepsTimes ? 0 : target.now.subtractingClamped(first)
        guard !target.isManual || !keepsTimes || target.now <= first else {
            throw Failure(
                .usage,
                "the target's clock stands at \(TimeText.full(target.now)), after the first event "
                    + "(\(TimeText.full(first))): a clock does not go back; play it without --keep-times")
        }
        let factor = (speed ?? .times(1)).factor
        return ReplayRun.Options(
            names: names,
            times: ReplayTimes(first: first, offset: offset, speed: target.isManual ? 1 : factor),
            realSpeed: target.isManual ? speed?.factor : factor.map { $0 * target.speed },
            movesClock: target.isManual, newIDs: makesIDs, stopsOnError: stopsOnError)
    }
}
