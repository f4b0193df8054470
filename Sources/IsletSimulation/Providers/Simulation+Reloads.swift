import IsletOracle

/// Reloads: what was asked to reload is asked of its provider, was on its way, or is held.
extension Simulation {
    /// A reload of many that was answered well.
    struct PromisedReload {
        var command: String
        var isOfWidget: Bool
        /// What was listed when it was executed, by topic: its life, and the revision that was known of it.
        var waiting: [String: (life: Int, revision: Int)]
        /// The run of the service that answered.
        var run: UInt64
    }

    private static let asking = ["loading", "reloading", "acting", "authenticating"]

    /// What is done about one is shown in the answer.
    func judgeReload(
        _ shown: JSON, _ deed: ControlDeed, _ sent: SentCommand, _ sight: Sight?, _ complain: (Bool, String) -> Void
    ) {
        guard let id = deed.id, let life = sight?.named?.life else { return }
        let control = witness.control(id: id)
        // Another app may have one of that id since, where an answer comes again.
        let isThis = control?.app == sent.command.app && control?.life == life
        let hasValue = Self.isOfWidget(deed) || isThis && control?.kind.hasValue == true
        let isAsked = Self.asking.contains(shown["state"]?.string ?? "") || shown["held"] != nil
        complain(!hasValue || isAsked, "nothing is asked for")
    }

    /// Many are reloaded by and by; how many is said at once.
    func judgeReload(
        ofMany count: Int64, _ deed: ControlDeed, _ sent: SentCommand, _ sight: Sight?,
        _ complain: (Bool, String) -> Void
    ) {
        let isOfWidget = Self.isOfWidget(deed)
        func isMeant(_ app: String, _ kind: String, _ hasValue: Bool) -> Bool {
            app == sent.command.app && hasValue && deed.kind.map { $0 == kind } ?? true
        }
        let meant: Set<String> =
            isOfWidget
            ? Set(widgetWitness.widgets.filter { isMeant($0.value.app, $0.value.kind.name, true) }.keys)
            : Set(witness.controls.filter { isMeant($0.value.app, $0.value.kind.name, $0.value.kind.hasValue) }.keys)
        complain(count <= Int64(meant.count), "there are \(meant.count) at most")
        // One that comes again does not reload once more.
        guard let sight, sight.isFirst else { return }
        let least = lasting(sight, deed).filter { meant.contains($0) }.count
        complain(count >= Int64(least), "there are \(least) at least")
        var waiting: [String: (life: Int, revision: Int)] = [:]
        for (topic, life) in sight.listed where meant.contains(topic) {
            waiting[topic] = (life, sight.revisions[topic] ?? 0)
        }
        let promised = PromisedReload(
            command: String(decoding: sent.bytes, as: UTF8.self), isOfWidget: isOfWidget, waiting: waiting,
            run: incarnation)
        if !waiting.isEmpty { promisedReloads.append(promised) }
    }

    /// At rest every reload of many has reached all that it was about.
    func checkReloads() {
        for promised in promisedReloads {
            for (topic, known) in promised.waiting {
                let stands =
                    promised.isOfWidget
                    ? stands(ofWidget: topic, known.life, since: known.revision)
                    : stands(ofControl: topic, known.life, since: known.revision)
                guard let stands else { continue }
                expect(
                    stands.contains { isReached($0, promised) },
                    "\(promised.command) did not reach \(topic), which is \(JSON.object(stands.last ?? [:]).text)")
            }
        }
        promisedReloads.removeAll()
    }

    private func isReached(_ stand: [String: JSON], _ promised: PromisedReload) -> Bool {
        if Self.asking.contains(stand["state"]?.string ?? "") || stand["held"] != nil { return true }
        // A restart leaves those to their own that will be tried again.
        return promised.isOfWidget && promised.run != incarnation && stand["failure"] != nil
    }

    /// How one stood from a revision on; nil: it is gone.
    private func stands(ofControl topic: String, _ life: Int, since revision: Int) -> [[String: JSON]]? {
        guard let control = witness.controls[topic], control.isListed, control.life == life else { return nil }
        return Array(control.versions.dropFirst(max(0, revision - 1)))
    }

    private func stands(ofWidget topic: String, _ life: Int, since revision: Int) -> [[String: JSON]]? {
        guard let widget = widgetWitness.widgets[topic], widget.isListed, widget.life == life else { return nil }
        return Array(widget.versions.dropFirst(max(0, revision - 1)))
    }
}
