import IsletClient
import Synchronization
import ZeroMQ

/// A scenario's provider: an actor that registers its kinds, and says to each call what its script has.
actor ScenarioProvider: BusLoop {
    nonisolated let thread: BusThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Messages that one turn takes.
    private static let messagesPerTurn = 256
    /// More answers than this do not wait for their time.
    private static let waitingMax = 4_096
    /// Of what the service would not have, the last are kept.
    private static let complaintsMax = 8
    /// What is refused with these came too late.
    private static let untimely = [ErrorCode.unknownCall.name, ErrorCode.notFound.name]
    /// How long the service may take to register it.
    private static let patience = Duration.seconds(10)
    /// How long the service may take to let it go.
    private static let leavePatience = Duration.seconds(1)

    private struct Waiting {
        var due: ContinuousClock.Instant
        var frame: [UInt8]
    }

    var poller = Poller()
    private let socket: Socket
    private var message = Message()
    private let id: String
    private var script: ProviderScript
    private var waiting: [Waiting] = []
    private var complaints: [String] = []
    /// Whether the service refused an answer for what it says, rather than for when it came.
    private(set) var wasMisunderstood = false
    private var registration: Result<Void, ScenarioMiss>?
    private var waiter: CheckedContinuation<Result<Void, ScenarioMiss>, Never>?
    private let deadline: ContinuousClock.Instant
    private var hasSaidGoodbye = false
    /// Who waits for its leave, and until when.
    private var leaving: (waiter: CheckedContinuation<Void, Never>, until: ContinuousClock.Instant)?

    private init(on thread: BusThread, endpoint: String, script: ProviderScript) throws(ZeroMQError) {
        self.thread = thread
        self.script = script
        id = Self.uuid()
        deadline = .now + Self.patience
        socket = try Socket(.dealer, in: ZeroMQContext())
        try socket.set(.sendHighWaterMark, to: 0)
        try socket.connect(endpoint)
        _ = poller.add(socket)
        waiting.append(Waiting(due: .now, frame: script.registration(id: id).json.bytes))
    }

    /// Starts one and returns when the service asks it.
    ///
    /// - Throws: a `Failure` where the service will not have it.
    static func start(_ script: ProviderScript, at endpoint: String) async throws -> ScenarioProvider {
        let thread: BusThread
        do throws(ZeroMQError) {
            thread = try BusThread(name: "islet-scenario")
        } catch {
            throw Failure(.failure, "the scenario's provider has no thread: \(error)")
        }
        let provider: ScenarioProvider
        do throws(ZeroMQError) {
            provider = try await thread.host { thread throws(ZeroMQError) in
                try ScenarioProvider(on: thread, endpoint: endpoint, script: script)
            }
        } catch {
            await thread.stop()
            throw Failure(.failure, "the scenario's provider cannot connect: \(error)")
        }
        switch await provider.registered() {
        case .success: return provider
        case .failure(let miss):
            await thread.stop()
            throw Failure(.failure, miss.text)
        }
    }

    /// Ends it, once the service knows: for some seconds its kinds could not be declared otherwise.
    nonisolated func stop() async {
        await leave()
        await thread.stop()
    }

    /// Says that it goes, and returns when the service has answered that and all before.
    func leave() async {
        guard !hasSaidGoodbye else { return }
        hasSaidGoodbye = true
        send(["op": .string("provider.leave"), "req": .string("leave"), "provider": .string(id)], after: .zero)
        await withCheckedContinuation { leaving = ($0, .now + Self.leavePatience) }
    }

    private func hasLeft() {
        leaving.take()?.waiter.resume()
    }

    /// Makes kinds answer otherwise from now on.
    func apply(_ changes: [ProviderScript.Change]) {
        for change in changes { script.apply(change) }
    }

    /// What the service would not have of its answers.
    func refusals() -> [String] { complaints }

    private func registered() async -> Result<Void, ScenarioMiss> {
        if let registration { return registration }
        return await withCheckedContinuation { waiter = $0 }
    }

    func turn() -> NextTurn {
        let isBusy = receive()
        let now = ContinuousClock.now
        for entry in waiting where entry.due <= now { _ = try? socket.send(copying: entry.frame, more: false) }
        waiting.removeAll { $0.due <= now }
        if registration == nil, deadline <= now {
            decide(.failure(ScenarioMiss("the service did not register the scenario's provider in time")))
        }
        if let leaving, leaving.until <= now { hasLeft() }
        if isBusy { return .immediately }
        let deadlines = [registration == nil ? deadline : nil, leaving?.until].compactMap(\.self)
        guard let next = (waiting.map(\.due) + deadlines).min() else { return .whenReady }
        let (seconds, attoseconds) = now.duration(to: next).components
        return .within(milliseconds: Int(max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1)))
    }

    func finish() {
        socket.close()
        decide(.failure(ScenarioMiss("the scenario's provider was stopped")))
        hasLeft()
    }

    private func decide(_ result: Result<Void, ScenarioMiss>) {
        guard registration == nil else { return }
        registration = result
        waiter.take()?.resume(returning: result)
    }

    private func receive() -> Bool {
        for _ in 0..<Self.messagesPerTurn {
            guard let got = try? socket.receive(into: &message), got else { return false }
            if let frame = RawObject(message.bytes) { take(frame) }
        }
        return true
    }

    private func take(_ frame: RawObject) {
        if let isOK = frame["ok"]?.bool { return takeAnswer(frame, isOK: isOK) }
        if frame["op"]?.string == "provider.ping" {
            return send(["op": .string("provider.pong"), "provider": .string(id)], after: .zero)
        }
        guard let call = frame["call"], let (reply, delay) = script.reply(to: frame) else { return }
        var members: RawObject = ["op": .string("provider.answer"), "provider": .string(id), "call": call]
        switch reply {
        case .silence: return
        case .answer(let answer): for member in answer.members { members[member.name] = member.value }
        case .failure(let message):
            members["op"] = .string("provider.fail")
            members["message"] = .string(message)
        }
        send(members, after: delay)
    }

    private func takeAnswer(_ frame: RawObject, isOK: Bool) {
        let message = frame["error"]?.object?["message"]?.string ?? frame.description
        if frame["req"]?.string == "register" {
            decide(
                isOK ? .success(()) : .failure(ScenarioMiss("the service refuses the scenario's provider: \(message)")))
        } else if frame["req"]?.string == "leave" {
            hasLeft()
        } else if !isOK {
            complaints = complaints.suffix(Self.complaintsMax - 1) + [message]
            let code = frame["error"]?.object?["code"]?.string
            if code.map({ !Self.untimely.contains($0) }) ?? true { wasMisunderstood = true }
        }
    }

    private func send(_ members: RawObject, after delay: Duration) {
        guard waiting.count < Self.waitingMax else { return }
        waiting.append(Waiting(due: .now + delay, frame: members.json.bytes))
    }

    /// A random one, version 4.
    private static func uuid() -> String {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = [high, low].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var parts: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }
}
