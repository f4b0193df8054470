import IsletOracle

/// The end of all faults: with healthy providers every control shows what is true.
extension Simulation {
    /// After so many milliseconds each provider was sent a ping, and the service knows whose connection is gone.
    private static let lossIsHeard: Int64 = 6_000

    /// Turns until all controls are settled, and reads them.
    func settleControls() throws {
        world.isCalm = true
        defer { world.isCalm = false }
        for index in world.processes.indices { world.processes[index].isHanging = false }
        try unlockDevices()
        for app in CommandMaker.apps.prefix(mix.apps) where !world.isServed(app) {
            if witness.listed(app).isEmpty, widgetWitness.listed(app).isEmpty { continue }
            world.spawn(&random, app: app, allKinds: true, misbehaviour: 0, at: clock.elapsed)
        }
        let begin = clock.elapsed
        // What somebody did late, without the service's knowledge, is found out by another reload.
        var reloaded: Int?
        for count in 0..<6_000 {
            let late = undelivered
            undelivered = []
            try turn(late)
            if reloaded != world.changes, journal.isIdle, late.isEmpty {
                reloaded = world.changes
                try reloadUntold()
                continue
            }
            if reloaded == world.changes, unsettled == nil, journal.isIdle, expected.isEmpty, unanswered.isEmpty {
                if clock.elapsed - begin > Self.lossIsHeard { break }
                pass(1_000)
            } else {
                try letTimePass(count)
            }
            if count == 5_999 { throw SimFailure("it does not settle: \(unsettled ?? "but for the journal")") }
        }
        try rest()
        world.isCalm = true
        try readControls()
    }

    /// Why it is not over.
    private var unsettled: String? {
        for control in witness.controls.values where control.isListed {
            let truth = world.truths[control.id] ?? ProviderWorld.Truth()
            let entity = control.entity
            let isShown = control.state == "shown" || control.state == "disabled"
            let isTrue =
                !control.kind.hasValue
                || entity["value"] == world.value(control.id, control.kind)
                    && entity["valueSource"] == .string("provider") && entity["isDisabled"] == .bool(truth.isDisabled)
            if !isShown || !isTrue || entity["isRedacted"] != .bool(false) {
                return "\(JSON.object(entity).text)\n    the truth is \(truth)"
            }
        }
        return unsettledWidget
    }

    /// Real time passes; domain time too, up to the next retry.
    private func letTimePass(_ count: Int) throws {
        guard count > 40, count % 20 == 0, journal.isIdle, unanswered.isEmpty, travel == nil else {
            return pass(count > 40 ? 40 : 5)
        }
        let retries = witness.controls.values.filter(\.isListed).compactMap(\.retryAt)
        guard let next = retries.min() else { return pass(200) }
        // Where the clock was set back, domain time stands until the wall has caught up with it.
        guard mix.isManual else { return pass(max(1, next - clock.wall)) }
        let span = max(1, min(next - oracle.now, 400_000))
        let command = OracleCommand(app: CommandMaker.apps[0], .advance(span))
        let bytes = Array("{\"op\":\"clock.advance\",\"by\":\(span)}".utf8)
        try turn([message([SentCommand(command: command, bytes: bytes)])])
    }

    private func unlockDevices() throws {
        let commands = (0..<max(1, mix.devices)).map { device in
            SentCommand(
                command: OracleCommand(
                    app: CommandMaker.apps[0], .deviceEvent(device: "d\(device)", event: "unlock")),
                bytes: Array("{\"op\":\"device.event\",\"device\":\"d\(device)\",\"event\":\"unlock\"}".utf8))
        }
        try turn([message(commands)])
        try rest()
        world.isCalm = true
    }

    /// What changed without anybody telling the service.
    private func reloadUntold() throws {
        var commands: [SentCommand] = []
        for control in witness.controls.values.sorted(by: { $0.id < $1.id }) where control.isListed {
            guard let untold = world.truths[control.id]?.untold, untold > 0 else { continue }
            var deed = ControlDeed("control.reload")
            deed.id = control.id
            commands.append(controlCommand(control.app, deed, ["\"id\":\"\(control.id)\""], client: nil))
        }
        if !commands.isEmpty { try turn([message(Array(commands.prefix(200)))]) }
    }

    /// The past of what is hidden, before its device is unlocked.
    func readHidden() throws {
        let hidden = witness.controls.values.filter { $0.isListed && $0.isRedacted }.sorted { $0.id < $1.id }
        guard !hidden.isEmpty else { return }
        let commands = hidden.prefix(40).flatMap { readsOfPast($0.app, $0.id, "control") }
        try turn([message(commands)])
        try rest()
    }

    private func readsOfPast(_ app: String, _ id: String, _ family: String) -> [SentCommand] {
        ["history", "explain"].map { read in
            var deed = ControlDeed("\(family).\(read)")
            deed.id = id
            return controlCommand(app, deed, ["\"id\":\"\(id)\""], client: nil)
        }
    }

    /// Each control as it is read is what its events say.
    private func readControls() throws {
        var commands: [SentCommand] = []
        for app in CommandMaker.apps.prefix(mix.apps) {
            for id in witness.ids(app).suffix(60) {
                var deed = ControlDeed("control.get")
                deed.id = id
                deed.isAtRest = true
                commands.append(controlCommand(app, deed, ["\"id\":\"\(id)\""], client: nil))
            }
        }
        tally.settled += witness.listedCount
        commands += widgetReads()
        // Pasts are read from files, a few at a time, and meanwhile the next retry may come.
        var past: [SentCommand] = []
        for app in CommandMaker.apps.prefix(mix.apps) {
            for control in witness.listed(app).values.sorted(by: { $0.id < $1.id }).suffix(3) {
                past += readsOfPast(app, control.id, "control")
            }
            for widget in widgetWitness.listed(app).values.sorted(by: { $0.id < $1.id }).suffix(3) {
                past += readsOfPast(app, widget.id, "widget")
            }
        }
        widgetWitness.checkStacks()
        complainOfControls()
        for var commands in [commands, past] {
            while !commands.isEmpty {
                try turn([message(Array(commands.prefix(200)))])
                commands.removeFirst(min(200, commands.count))
            }
        }
        try rest()
    }
}
