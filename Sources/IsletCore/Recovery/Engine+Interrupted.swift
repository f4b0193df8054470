/// Actions that were given up before the start, most of them because the process before ended: each may have its effect
/// long after the start has asked for what it changes.
extension Engine {
    /// For how long after it was given up an action is expected to end.
    package static let lateActionSpan: Milliseconds = 600_000
    /// After so many questions for them no more are asked: what says that one has ended may be forged.
    static let maximumInterruptedQuestions = InterruptedActions.maximumCount * InterruptedActions.maximumCount

    /// A call ended that a process before had made, and nobody knows which: it may be any of the actions, and so what
    /// their providers hold by now is asked for.
    ///
    /// The calls for values of that process end as well, and some say twice that they have; so it is done more often than
    /// there are actions.
    package mutating func actedBeforeStart(at now: Instant) {
        let actions = controls.interrupted.count + widgets.interrupted.count
        guard actions > 0, interruptedEnds < max(actions, Engine.maximumInterruptedQuestions / actions) else { return }
        interruptedEnds += 1
        var kinds: [ControlKindID] = []
        for reference in controls.interrupted where controls.slab.isCurrent(reference) {
            let kind = controls.slab[reference.slot].kind
            reload(control: reference.slot, .action, .nobody, at: now)
            if !kinds.contains(kind) { kinds.append(kind) }
        }
        for kind in kinds { reloadSiblings(of: kind, except: nil, at: now) }
        for reference in widgets.interrupted { widgetActedLate(reference, at: now) }
    }

    /// Once all of this start's are given up, too.
    mutating func rememberInterruptedControls(at now: Instant) {
        controls.interrupted = InterruptedActions.remembered(
            of: &controls.slab, \.actionGivenUpAt, changed: &controls.changedSlots, at: now)
    }

    /// The same of widgets.
    mutating func rememberInterruptedWidgets(at now: Instant) {
        widgets.interrupted = InterruptedActions.remembered(
            of: &widgets.slab, \.actionGivenUpAt, changed: &widgets.changedSlots, at: now)
    }
}

extension ImageReader {
    /// When an action was given up, where the image says that one was.
    ///
    /// - Parameter mayBeNone: whether the image may say that none was.
    mutating func dateOfGivenUpAction(mayBeNone: Bool = false) throws(ImageError) -> Instant {
        let date = try instant()
        guard date.isSet || mayBeNone, date.isPlausible else {
            throw .contradiction("an action that was given up in no century")
        }
        return date
    }
}
