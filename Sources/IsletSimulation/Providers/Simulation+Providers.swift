import IsletOracle
import IsletServer

/// The providers' part of a turn.
extension Simulation {
    /// What providers say comes in.
    func hearProviders() {
        for index in world.processes.indices {
            guard partition.takesCommands else { return }
            register(index)
            for output in world.processes[index].takeDue(at: clock.elapsed) { hear(output, index) }
        }
    }

    private func register(_ index: Int) {
        let process = world.processes[index]
        guard process.isConnected, !process.isHanging, !isDiskFull else { return }
        switch process.registration {
        case .done: return
        case .asked(let at): guard at + 2_000 < clock.elapsed else { return }
        case .wanted(let at): guard at <= clock.elapsed else { return }
        }
        world.processes[index].registration = .asked(at: clock.elapsed)
        log?("  \(process.id.suffix(4)) registers for \(process.app): \(process.kinds.map(\.name))")
        take(process.registerFrame, process)
    }

    private func hear(_ output: ProviderProcess.Output, _ index: Int) {
        let process = world.processes[index]
        log?("  \(process.id.suffix(4)): \(output.frame.prefix(300))")
        if let effect = output.effect { world.perform(effect) }
        if let timeline = output.timeline { widgetWitness.answered(timeline) }
        if let call = output.call, let failure = output.failure {
            witness.failed(call, saying: failure.shown)
            widgetWitness.failed(call, saying: failure.shown)
        }
        if let relevance = output.relevance {
            widgetWitness.saidRelevance(process.app, relevance.kind, relevance.span)
        }
        if let value = output.value {
            witness.answered(
                value.call, mark: value.mark, value: value.value, isDisabled: value.isDisabled,
                isActive: value.isActive, run: incarnation)
        }
        // A run of the service that never asked cannot know what came of it.
        if let effect = output.effect, let call = output.call {
            // Or it was for one that had the id before.
            let isPlacedAnew = witness.calls[call]?.life != witness.control(id: effect.control)?.life
            let isOfThisRun = witness.calls[call]?.run == incarnation
            if process.hasNamesake || isPlacedAnew || !isOfThisRun { world.doubt(effect.control) }
        }
        take(output.frame, process)
    }

    private func take(_ frame: String, _ process: ProviderProcess) {
        let queued = partition.waitingCommands
        partition.inbound.set([process.peer, [], Array(frame.utf8)], isRouted: true)
        partition.takeCommands()
        guard partition.waitingCommands > queued else { return }
        expect(travel != nil || !waiting.isEmpty, "it waits for nothing: \(frame)")
        waiting.append((nil, 0))
    }

    /// The service answers a provider.
    func told(_ frames: [[UInt8]]) {
        guard let bytes = frames.last, let value = JSON(bytes) else { return expect(false, "no answer to a provider") }
        log?("  to \(String(decoding: frames[0], as: UTF8.self)): \(value.text)")
        tally.hash(bytes)
        guard let index = world.processes.firstIndex(where: { $0.peer == frames[0] }) else { return }
        if value["ok"] == .bool(true) {
            // It may have said goodbye meanwhile.
            if value["kinds"] != nil {
                let process = world.processes[index]
                declared["\(process.app) control", default: []].formUnion(process.kinds.map(\.name))
                declared["\(process.app) widget", default: []].formUnion(process.widgets.map(\.name))
                // Whoever had its id before hears nothing any more.
                for other in world.processes.indices where other != index && world.processes[other].id == process.id {
                    world.processes[other].isConnected = false
                }
            }
            if value["kinds"] != nil, case .asked = world.processes[index].registration {
                world.processes[index].registration = .done
            }
            return
        }
        let code = value["error"]?["code"]?.string ?? "?"
        // As long as one of the other version counts as there.
        let isOtherVersion = code == "conflict" && value["req"] == .string("reg")
        expect(
            isOtherVersion && world.newer[world.processes[index].app] != nil
                || ["notFound", "badAnswer", "unknownCall", "busy", "badField", "unavailable"].contains(code),
            "a provider is told \(value.text)")
        if let call = value["error"]?["detail"]?["call"]?.string, let known = witness.calls[call], known.isAction {
            world.doubt(known.control)
        }
        if value["req"] == .string("reg") || code == "notFound" {
            world.processes[index].registration = .wanted(at: clock.elapsed + 500)
        }
    }

    /// Asks providers for what committed events want of them.
    ///
    /// - Parameter limit: what comes after as many frames does not leave any more.
    func callProviders(atMost limit: Int? = nil) {
        guard mix.hasProviders else { return }
        widgetWitness.run = incarnation
        var left = limit ?? .max
        while partition.hasProviderWork, left > 0 {
            let isLate = partition.continueCalls { peer, frame in
                guard left > 0 else { return .sent }
                left -= 1
                let bytes = frame.withUnsafeBytes { Array($0) }
                tally.hash(bytes)
                let isThere = world.receive(peer, bytes, &random, at: clock.elapsed) { call in called(call) }
                let name = String(decoding: peer, as: UTF8.self) + (isThere ? "" : " (gone)")
                log?("  calls \(name): \(String(decoding: bytes, as: UTF8.self))")
                return isThere ? .sent : .unreachable
            }
            if !isLate { break }
        }
        complainOfControls()
        if limit == nil {
            checkWaits()
            checkDueWidgets()
        }
    }

    private func called(_ call: JSON) {
        tally.calls += 1
        if call["op"] == .string("control.perform") || call["op"] == .string("widget.perform") { tally.performs += 1 }
        let app = call["app"]?.string ?? ""
        let committed = ledger.published[app]?.seq ?? 0
        if call["widget"] != nil {
            widgetWitness.called(call, committed: committed, run: incarnation, at: clock.elapsed)
        } else {
            witness.called(call, committed: committed, run: incarnation, at: clock.elapsed)
        }
    }

    // MARK: Nothing waits for ever

    /// A control or widget that waits for a provider.
    private struct Waiting {
        var app: String
        /// The event that asked.
        var seq: Int
        /// How long it may wait.
        var limit: Int64
        var entity: [String: JSON]
    }

    /// By topic.
    private var waitingEntities: [String: Waiting] {
        var waiting: [String: Waiting] = [:]
        for (topic, control) in witness.controls where control.isListed && control.isBusy {
            let limit = control.isActing ? control.kind.actionDeadline : control.kind.valueDeadline
            waiting[topic] = Waiting(app: control.app, seq: control.askedSeq, limit: limit, entity: control.entity)
        }
        for (topic, widget) in widgetWitness.widgets where widget.isListed && widget.isBusy {
            let limit = widget.isActing ? widget.kind.actionDeadline : widget.kind.timelineDeadline
            waiting[topic] = Waiting(app: widget.app, seq: widget.askedSeq, limit: limit, entity: widget.entity)
        }
        return waiting
    }

    /// Nothing is sent in a long time without a turn: what waits is sent behind it, and has its time from then on.
    private func passGap() {
        let gap = clock.elapsed - lastWaitCheck
        lastWaitCheck = clock.elapsed
        guard gap > Self.longestTurn else { return }
        for topic in busy.keys { busy[topic]?.since += gap - Self.longestTurn }
        for app in quiet.keys { quiet[app]?.since += gap - Self.longestTurn }
    }

    /// As many milliseconds from turn to turn count as time in which something could be done.
    private static let longestTurn: Int64 = 1_000

    /// A new process counts from when it asks: at its start, or where the start made a batch, once that is committed.
    func restartWaits() {
        asksFrom = disk.lastNumber + (partition.hasUncommitted ? 1 : 0)
        busy.removeAll()
    }

    /// Nobody waits for its provider longer than it may, once its event is committed and nothing else happens in its app:
    /// what is held back while others are asked about, or is the next one, has its time from when it is sent, or from when
    /// its providers count as such that answer nothing, which is looked at each time that this time has passed. In between,
    /// a call that tells of nothing may take the longest time of any.
    private func checkWaits() {
        passGap()
        // What waited at the start is not asked for yet, and nothing newer is committed.
        guard journal.committed >= asksFrom else { return }
        guard !isDiskFull, !partition.isStopping else {
            for topic in busy.keys { busy[topic]?.late = 0 }
            return
        }
        let hasRoom = journal.inFlight == 0
        let waiting = waitingEntities
        for topic in busy.keys where waiting[topic] == nil { busy[topic] = nil }
        var longest: [String: Int64] = [:]
        for entity in waiting.values {
            longest[entity.app] = max(longest[entity.app] ?? 0, entity.limit)
            let seq = ledger.published[entity.app]?.seq ?? 0
            if quiet[entity.app]?.seq != seq { quiet[entity.app] = (seq, clock.elapsed) }
        }
        for (topic, entity) in waiting {
            guard entity.seq <= ledger.published[entity.app]?.seq ?? 0 else {
                busy[topic] = nil
                continue
            }
            guard var wait = busy[topic], wait.seq == entity.seq else {
                busy[topic] = (entity.seq, clock.elapsed, 0)
                continue
            }
            let since = max(wait.since, quiet[entity.app]?.since ?? 0)
            let limit = 2 * entity.limit + (longest[entity.app] ?? 0) + ProviderTable.Limits().patience
            guard hasRoom, clock.elapsed - since > limit else { continue }
            wait.late += 1
            busy[topic] = wait
            expect(
                wait.late <= 3,
                "it waits for its provider since \(clock.elapsed - wait.since) ms: \(JSON.object(entity.entity).text)")
        }
    }

    // MARK: Disturbances

    func disturbProviders() {
        let app = CommandMaker.apps[random.below(mix.apps)]
        guard !world.processes.isEmpty, !random.oneIn(4) else {
            return world.spawn(
                &random, app: app, allKinds: random.oneIn(2), misbehaviour: random.below(mix.misbehaviour + 1),
                at: clock.elapsed)
        }
        let index = random.below(world.processes.count)
        let process = world.processes[index]
        switch random.below(11) {
        case 10:
            guard random.oneIn(2) else { break }
            tally.deployments += 1
            world.redeploy(process.app)
            world.spawn(
                &random, app: process.app, allKinds: true, misbehaviour: process.misbehaviour, at: clock.elapsed)
        case 8: replace(process, index)
        case 9:
            // The same process on a new connection, or another one that took its id.
            tally.namesakes += 1
            if random.oneIn(2) { world.processes[index].isConnected = false }
            world.spawn(
                &random, app: process.app, allKinds: random.oneIn(2), misbehaviour: process.misbehaviour,
                at: clock.elapsed, namesake: process.id)
            for other in world.processes.indices where world.processes[other].id == process.id {
                world.processes[other].hasNamesake = true
            }
        case 0:
            world.processes[index].isConnected = false
            log?("  \(process.id.suffix(4)) dies")
        case 1:
            // It is killed, and comes back as another one.
            world.processes.remove(at: index)
            world.spawn(
                &random, app: process.app, allKinds: random.oneIn(2), misbehaviour: process.misbehaviour,
                at: clock.elapsed)
        case 2: if partition.takesCommands, process.isConnected, !isDiskFull {
            take("{\"op\":\"provider.leave\",\"req\":\"bye\",\"provider\":\"\(process.id)\"}", process)
            world.processes[index].registration = .wanted(at: clock.elapsed + random.below(3_000 as Int64))
        }
        case 3: if partition.takesCommands, process.isConnected, !isDiskFull {
            take("{\"op\":\"provider.drain\",\"req\":\"dry\",\"provider\":\"\(process.id)\"}", process)
            world.processes[index].registration = .wanted(at: clock.elapsed + random.below(3_000 as Int64))
        }
        case 4: world.processes[index].isHanging = true
        case 5: world.processes[index].isHanging = false
        case 6: world.processes[index].misbehaviour = random.below(mix.misbehaviour + 1)
        default:
            world.processes[index].isConnected = true
            world.processes[index].registration = .wanted(at: clock.elapsed)
        }
    }

    /// One leaves or drains, and another one registers within the same turn.
    private func replace(_ process: ProviderProcess, _ index: Int) {
        guard process.isConnected, !process.isHanging, !isDiskFull else { return }
        tally.replacements += 1
        world.output(
            index, random.oneIn(2) ? "provider.leave" : "provider.drain", "\"req\":\"bye\"", at: clock.elapsed)
        world.processes[index].registration = .wanted(at: clock.elapsed + 500 + random.below(3_000))
        guard world.hasRoom else { return }
        world.spawn(&random, app: process.app, allKinds: true, misbehaviour: process.misbehaviour, at: clock.elapsed)
    }

    /// Something changes behind the providers, and mostly the service is told to ask again.
    func changeWorld() -> SentCommand? {
        let app = CommandMaker.apps[random.below(mix.apps)]
        let ids = witness.ids(app)
        guard mix.hasControls, let id = random.pick(ids) else { return nil }
        world.change(id, &random)
        guard !random.oneIn(4) else { return nil }
        var maker = ControlMaker(random: SimRandom(seed: random.next()), mix: mix, app: app)
        let (deed, fields) = maker.reload([id])
        return controlCommand(app, deed, fields, client: 0)
    }
}
