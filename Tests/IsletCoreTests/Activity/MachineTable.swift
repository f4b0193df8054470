import IsletCore
import Testing

/// One cell of the table: an event in a state, the row of apple-semantics 1.2 that decides it, and what follows.
struct MachineCase: CustomTestStringConvertible {
    enum Expected {
        case ignored(IgnoreReason, Rule)
        /// Nothing happens at all.
        case nothing
        /// The events in order, the rule of the first, and the cause in which it ends.
        case moves([ActivityEventName], Rule, Cause, to: ActivityState)
    }

    /// Rows of apple-semantics 1.2; empty where another part of the contract decides.
    var rows: [Int]
    var state: ActivityState
    var event: MachineEvent
    var expected: Expected

    var testDescription: String {
        "row \(rows.map(String.init).joined(separator: ", ")): \(state) × \(event)"
    }
}

/// The state × event table: for every event what it does in each of the five states.
enum MachineTable {
    private static let hour = MachineSample.hour

    /// What an event does, in the order pending, active, stale, ended, dismissed.
    private static func event(
        _ event: MachineEvent, _ pending: ([Int], MachineCase.Expected), _ active: ([Int], MachineCase.Expected),
        _ stale: ([Int], MachineCase.Expected), _ ended: ([Int], MachineCase.Expected),
        _ dismissed: ([Int], MachineCase.Expected)
    ) -> [MachineCase] {
        zip(ActivityState.allCases, [pending, active, stale, ended, dismissed]).map { state, cell in
            MachineCase(rows: cell.0, state: state, event: event, expected: cell.1)
        }
    }

    private typealias Cell = ([Int], MachineCase.Expected)
    private static let updateOfEnded: Cell = ([35], .ignored(.ended, .endedUpdateDropped))
    private static let dismissedIsFinal: Cell = ([41], .ignored(.dismissed, .dismissedDropsAll))
    private static let dismissedStays: Cell = ([41], .nothing)
    private static let endedAgain: Cell = ([37], .ignored(.ended, .endedAgain))
    private static let clearsCard: Cell = (
        [36], .moves([.dismissed], .endedAgainImmediately, .dismissalPolicy, to: .dismissed)
    )

    private static func older(_ row: Int) -> Cell { ([row], .ignored(.olderTimestamp, .olderTimestamp)) }
    private static let future: Cell = ([17], .ignored(.futureTimestamp, .futureTimestamp))
    private static func pendingUpdated(_ cause: Cause) -> Cell {
        ([9], .moves([.updated], .pendingUpdated, cause, to: .pending))
    }
    private static func pendingEnded(_ cause: Cause) -> Cell {
        ([10], .moves([.dismissed], .pendingEnded, cause, to: .dismissed))
    }
    private static func ended(_ row: Int, _ rule: Rule, _ cause: Cause = .command) -> Cell {
        ([row], .moves([.ended], rule, cause, to: .ended))
    }
    private static func gone(_ row: Int, _ rule: Rule) -> Cell {
        ([row], .moves([.ended, .dismissed], rule, .dismissalPolicy, to: .dismissed))
    }

    static let cases: [MachineCase] = updates + ends + removals + settings + deadlines

    private static let updates: [MachineCase] =
        acceptedUpdates(.now, .local, .command, [13], [20])
        + acceptedUpdates(.equal, .local, .command, [13, 16], [20, 16])
        + acceptedUpdates(.equal, .push, .push, [13, 16], [20, 16])
        + acceptedUpdates(.latest, .push, .push, [13, 17], [20, 17])
        + acceptedUpdates(.tooLate, .local, .command, [13, 17], [20, 17])
        + event(
            .update(staleIn: nil, stamped: .older, .local), older(15), older(15), older(15), updateOfEnded,
            dismissedIsFinal)
        + event(
            .update(staleIn: nil, stamped: .older, .push), older(15), older(15), older(15), updateOfEnded,
            dismissedIsFinal)
        + event(
            .update(staleIn: nil, stamped: .tooLate, .push), future, future, future, updateOfEnded, dismissedIsFinal)

    /// An update whose timestamp is accepted, with no stale date, one to come, one that is now, and one that has passed.
    private static func acceptedUpdates(
        _ stamp: MachineEvent.Stamp, _ source: Source, _ cause: Cause, _ activeRows: [Int], _ staleRows: [Int]
    ) -> [MachineCase] {
        let fresh: [MachineCase] = [nil, 1, hour].flatMap { staleIn in
            event(
                .update(staleIn: staleIn, stamped: stamp, source), pendingUpdated(cause),
                (activeRows, .moves([.updated], .updated, cause, to: .active)),
                (staleRows, .moves([.updated], .updatedFromStale, cause, to: .active)), updateOfEnded, dismissedIsFinal)
        }
        let old: [MachineCase] = [0, -1].flatMap { staleIn in
            event(
                .update(staleIn: staleIn, stamped: stamp, source), pendingUpdated(cause),
                ([14], .moves([.updated, .stale], .updated, .staleDate, to: .stale)),
                ([21], .moves([.updated], .updatedStillStale, cause, to: .stale)), updateOfEnded, dismissedIsFinal)
        }
        return fresh + old
    }

    private static let ends: [MachineCase] =
        event(
            .end(.default, stamped: .now, .local), pendingEnded(.command), ended(22, .endedByDefault),
            ended(22, .endedByDefault), endedAgain, dismissedIsFinal)
        + event(
            .end(.default, stamped: .equal, .push), pendingEnded(.push), ended(22, .endedByDefault, .push),
            ended(22, .endedByDefault, .push), endedAgain, dismissedIsFinal)
        + [1, hour, 4 * hour, 4 * hour + 1].flatMap { span in
            event(
                .end(.after(span), stamped: .now, .local), pendingEnded(.command), ended(23, .endedAfterDate),
                ended(23, .endedAfterDate), endedAgain, dismissedIsFinal)
        }
        + [0, -1].flatMap { span in
            event(
                .end(.after(span), stamped: .now, .local), pendingEnded(.command), gone(24, .endedAfterPastDate),
                gone(24, .endedAfterPastDate), endedAgain, dismissedIsFinal)
        }
        + event(
            .end(.immediate, stamped: .now, .local), pendingEnded(.command), gone(25, .endedImmediately),
            gone(25, .endedImmediately), clearsCard, dismissedIsFinal)
        + event(
            .end(.default, stamped: .older, .local), pendingEnded(.command), older(26), older(26), endedAgain,
            dismissedIsFinal)
        + event(
            .end(.immediate, stamped: .older, .local), pendingEnded(.command), older(26), older(26), clearsCard,
            dismissedIsFinal)
        + event(
            .end(.default, stamped: .older, .push), pendingEnded(.push), ended(26, .endedByOlderPush, .push),
            ended(26, .endedByOlderPush, .push), endedAgain, dismissedIsFinal)
        + event(
            .end(.immediate, stamped: .older, .push), pendingEnded(.push), gone(26, .endedByOlderPush),
            gone(26, .endedByOlderPush), clearsCard, dismissedIsFinal)
        + event(
            .end(.default, stamped: .tooLate, .push), pendingEnded(.push), future, future, endedAgain, dismissedIsFinal)

    private static let removals: [MachineCase] =
        event(
            .removed(.person), ([], .moves([.dismissed], .dismissedByPerson, .person, to: .dismissed)),
            ([28], .moves([.dismissed], .dismissedByPerson, .person, to: .dismissed)),
            ([28], .moves([.dismissed], .dismissedByPerson, .person, to: .dismissed)),
            ([39], .moves([.dismissed], .endedDismissed, .person, to: .dismissed)), dismissedStays)
        + event(
            .removed(.system), ([], .moves([.dismissed], .dismissedBySystem, .system, to: .dismissed)),
            ([], .moves([.dismissed], .dismissedBySystem, .system, to: .dismissed)),
            ([], .moves([.dismissed], .dismissedBySystem, .system, to: .dismissed)),
            ([39], .moves([.dismissed], .endedDismissed, .system, to: .dismissed)), dismissedStays)
        + event(
            .uninstalled, ([34], .moves([.dismissed], .uninstalled, .system, to: .dismissed)),
            ([34], .moves([.dismissed], .uninstalled, .system, to: .dismissed)),
            ([34], .moves([.dismissed], .uninstalled, .system, to: .dismissed)),
            ([34], .moves([.dismissed], .uninstalled, .system, to: .dismissed)), dismissedStays)
        + event(
            .leftBehind(.transient), ([31], .nothing),
            ([31], .moves([.ended, .dismissed], .transientGone, .transient, to: .dismissed)),
            ([31], .moves([.ended, .dismissed], .transientGone, .transient, to: .dismissed)), ([31], .nothing),
            dismissedStays)
        + event(
            .leftBehind(.standard), ([31], .nothing), ([31], .nothing), ([31], .nothing), ([31], .nothing),
            dismissedStays)
        + event(
            .renewed, ([], .moves([.dismissed], .renewed, .renewal, to: .dismissed)),
            ([], .moves([.ended, .dismissed], .renewed, .renewal, to: .dismissed)),
            ([], .moves([.ended, .dismissed], .renewed, .renewal, to: .dismissed)), updateOfEnded, dismissedIsFinal)

    private static let settings: [MachineCase] =
        event(
            .switchedOff, ([12], .moves([.dismissed], .pendingSwitchedOff, .settings, to: .dismissed)),
            ([29], .moves([.dismissed], .switchedOff, .settings, to: .dismissed)),
            ([29], .moves([.dismissed], .switchedOff, .settings, to: .dismissed)),
            ([29], .moves([.dismissed], .switchedOff, .settings, to: .dismissed)), dismissedStays)
        + event(
            .frequentPushesChanged, ([30], .nothing),
            ([30], .moves([.ended], .frequentPushesChanged, .settings, to: .ended)),
            ([30], .moves([.ended], .frequentPushesChanged, .settings, to: .ended)), ([30], .nothing), dismissedStays)

    private static let deadlines: [MachineCase] =
        event(
            .deadlineReached, ([8], .moves([.started], .startDateReached, .startDate, to: .active)),
            ([19], .moves([.stale], .staleDateReached, .staleDate, to: .stale)),
            ([27], .moves([.ended], .activeLimitReached, .activeLimit, to: .ended)),
            ([38], .moves([.dismissed], .dismissDateReached, .dismissalPolicy, to: .dismissed)), dismissedStays)
        + event(
            .deadlineNear, ([8], .nothing), ([19], .nothing), ([27], .nothing), ([38], .nothing), dismissedStays)
        + event(.signOfLife, ([], .nothing), ([], .nothing), ([], .nothing), ([], .nothing), dismissedStays)
}
