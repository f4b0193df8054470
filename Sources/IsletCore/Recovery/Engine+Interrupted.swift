/// Actions that ran when the process before ended: each may have its effect long after the start has asked for what it
/// changes.
extension Engine {
    /// At most so many of each family are remembered.
    static let maximumInterrupted = 4_096

    /// An action ended that the process before had asked for, and nobody knows which of them: what their providers hold by
    /// now is asked for.
    ///
    /// As often as there were such actions, each of which ends once: what says so may be forged.
    package mutating func actedBeforeStart(at now: Instant) {
        guard interruptedEnds < controls.interrupted.count + widgets.interrupted.count else { return }
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
