/// Actions that ran when the process before ended: each may have its effect long after the start has asked for what it
/// changes.
extension Engine {
    /// At most so many of each family are remembered.
    static let maximumInterrupted = 4_096
    /// After so many questions for them no more are asked: what says that one has ended may be forged.
    static let maximumInterruptedQuestions = maximumInterrupted * maximumInterrupted

    /// A call ended that the process before had made, and nobody knows which: it may be any of the actions, and so what
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
}
