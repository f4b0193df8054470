import IsletCore

/// Reads of many controls and widgets at once, whatever asks for them: as many as their providers take are asked for at a
/// time, so that none fails because others are before it, and what somebody waits for comes first.
extension Partition {
    /// Whether a read of a control has to wait for room, or behind others.
    func holdsBack(controlRead read: HeldReads.Read) -> Bool {
        heldReads.hasLine(before: read) || isHeldBack(read)
    }

    /// The same of a widget.
    func holdsBack(widgetRead read: HeldReads.Read) -> Bool {
        heldWidgetReads.hasLine(before: read) || isHeldBack(read)
    }

    /// Whether a read has to wait for room. One that failed the last time is first seen beside those that come together with it.
    private func isHeldBack(_ read: HeldReads.Read) -> Bool {
        !providers.hasRoomForReads(of: read.kind, failed: read.hasFailed)
            || read.hasFailed && providers.takesProbes(of: read.kind)
    }

    /// A read that waited at the providers is held back from now on. It was asked for before anything that is wanted now, which
    /// comes after all that the providers have to say.
    func holdBack(_ purpose: ProviderTable.Purpose, isAwaited: Bool) {
        switch purpose {
        case .value(let control): holdBack(valueOf: control, isAwaited: isAwaited)
        case .timeline(let widget): holdBack(timelineOf: widget, isAwaited: isAwaited)
        case .perform, .performWidget, .question: preconditionFailure("only reads are given back")
        }
    }

    private func hasRoom(for kind: UInt32, in held: HeldReads) -> Bool {
        providers.hasRoomForReads(of: kind, failed: held.haveAllFailed(of: kind))
    }

    /// How many reads are held back.
    var heldCalls: Int { heldReads.count + heldWidgetReads.count }

    /// How many of them a provider may get that serves these kinds.
    func heldCalls(of kinds: [UInt32]) -> Int {
        kinds.reduce(0) { $0 + heldReads.count(of: $1) + heldWidgetReads.count(of: $1) }
    }

    /// Whether there is room for something that is held back.
    var mayGoOnWithReads: Bool {
        heldReads.kinds.contains { hasRoom(for: $0, in: heldReads) }
            || heldWidgetReads.kinds.contains { hasRoom(for: $0, in: heldWidgetReads) }
    }

    /// Asks for what is held back as far as there is room for it, whatever has made that: one read of each kind in turn, and
    /// of controls and widgets in turn, since one provider may serve all of them.
    ///
    /// - Parameter room: how many more are asked for in this turn.
    func goOnWithReads(_ room: inout Int) {
        while room > 0, widgetReadsGoFirst ? askHeldTimeline() || askHeldValue() : askHeldValue() || askHeldTimeline() {
            room -= 1
        }
    }

    private func askHeldValue() -> Bool {
        guard let kind = heldReads.kinds.first(where: { hasRoom(for: $0, in: heldReads) }),
            let read = heldReads.pop(of: kind, isProbe: providers.takesProbes(of: kind))
        else { return false }
        widgetReadsGoFirst = true
        requestValue(read)
        return true
    }

    private func askHeldTimeline() -> Bool {
        guard let kind = heldWidgetReads.kinds.first(where: { hasRoom(for: $0, in: heldWidgetReads) }),
            let read = heldWidgetReads.pop(of: kind, isProbe: providers.takesProbes(of: kind))
        else { return false }
        widgetReadsGoFirst = false
        requestTimeline(read)
        return true
    }
}
