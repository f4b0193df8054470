import IsletClient
import IsletFilter

/// A top on a terminal: what happens comes in one queue, the model decides, and the terminal shows what it says.
enum TopSession {
    private enum Happening: Sendable {
        case terminal(TerminalInput)
        case model(TopModel.Input)
        /// The stream of a tail could not be had, or broke off.
        case tailEnded(String)
    }

    /// What waits to be taken in; more is not kept.
    private static let queueMax = 4_096
    /// A tail whose connection was closed is followed again after so long.
    private static let followPause = Duration.milliseconds(500)
    /// How often the time is looked at, at least.
    private static let tickMax: Int64 = 500

    /// Runs until the person quits, the terminal goes, or a signal asks for the end; the terminal is then as it was.
    static func run(
        _ source: TopSource, hasColours: Bool, _ make: (ScreenSize) -> TopModel
    ) async throws(Failure) {
        let terminal = try Terminal()
        let (happenings, queue) = AsyncStream.makeStream(
            of: Happening.self, bufferingPolicy: .bufferingOldest(queueMax))
        var model = make(terminal.size)
        try TerminalReader.start(terminal) { queue.yield(.terminal($0)) }
        terminal.enter()
        let ticker = Task { [interval = model.interval] in
            while !Task.isCancelled {
                queue.yield(.model(.tick(at: source.milliseconds)))
                try? await Task.sleep(for: .milliseconds(min(interval, tickMax)))
            }
        }
        var tail: Task<Void, Never>?
        defer {
            ticker.cancel()
            tail?.cancel()
            terminal.leave()
            TerminalReader.stop()
        }

        var writer = FrameWriter(hasColours: hasColours)
        for await happening in happenings {
            for input in inputs(of: happening, terminal, &writer) ?? [] {
                for effect in model.apply(input) {
                    switch effect {
                    case .quit: return
                    case .repaint: writer.forget()
                    case .read(let request):
                        Task { queue.yield(.model(await read(request, source))) }
                    case .change(let action):
                        Task { queue.yield(.model(.changed(await source.perform(action)))) }
                    case .unfollow:
                        tail?.cancel()
                        tail = nil
                    case .follow(let prefix):
                        tail?.cancel()
                        tail = Task { await follow(prefix, source, queue) }
                    }
                }
            }
            if case .terminal(.end) = happening { return }
            let text = writer.text(for: TopScreen.lines(model), size: model.size)
            guard terminal.write(text) else { return }
        }
    }

    /// What it means to the model; nil for the end.
    private static func inputs(
        of happening: Happening, _ terminal: Terminal, _ writer: inout FrameWriter
    ) -> [TopModel.Input]? {
        switch happening {
        case .terminal(.keys(let keys)): return keys.map { .key($0) }
        case .terminal(.resized): return [.resized(terminal.size)]
        case .terminal(.continued):
            writer.forget()
            return [.resized(terminal.size)]
        case .terminal(.end): return nil
        case .model(let input): return [input]
        case .tailEnded(let why): return [.tail([why])]
        }
    }

    private static func read(_ request: TopRequest, _ source: TopSource) async -> TopModel.Input {
        do {
            return .reading(try await source.read(request))
        } catch {
            return .failed(TopLines.sentence(error), at: source.milliseconds)
        }
    }

    /// What an event is of, as far as the title of the tail does not say it.
    private static func name(_ name: String, of event: StreamEvent, _ prefix: String) -> String {
        switch prefix.count(where: { $0 == "/" }) {
        case 0: "\(event.app)  \(name)"
        case 1: name
        case _: ""
        }
    }

    /// Passes the lines of events on, together with those that came in the same moment, until it is cancelled or cannot be
    /// told anything more.
    ///
    /// The end of its connection is not its end: a reading that fails closes that, where the service says where its streams
    /// are, and may come back elsewhere.
    private static func follow(
        _ prefix: String, _ source: TopSource, _ queue: AsyncStream<Happening>.Continuation
    ) async {
        let pending = TopTail()
        let pace = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                let lines = pending.take()
                if !lines.isEmpty { queue.yield(.model(.tail(lines))) }
            }
        }
        defer { pace.cancel() }
        var lines = EventLines(style: Style(isOn: false), speed: 1)
        var known = KnownEntities()
        var wasJoined = false
        while !Task.isCancelled {
            do {
                for try await delivery in try await source.events(prefix) {
                    if delivery == .joined {
                        wasJoined = true
                        if let connection = await source.asking() {
                            lines = EventLines(style: Style(isOn: false), speed: await ServiceSpeed.of(connection))
                        }
                        queue.yield(.model(.tail([])))
                    }
                    guard case .event(let event, _) = delivery else { continue }
                    let facts = await known.facts(for: event, asking: source.asking)
                    let name = name(facts.name, of: event, prefix)
                    pending.add(lines.lines(event, name: name, next: facts.next, entries: facts.entries))
                }
            } catch {
                guard !Task.isCancelled else { return }
                guard wasJoined, isPassing(error) else { return _ = queue.yield(.tailEnded(TopLines.sentence(error))) }
            }
            try? await Task.sleep(for: followPause)
        }
    }

    /// Whether a service that is away, or a connection that was closed meanwhile, explains it.
    private static func isPassing(_ error: any Error) -> Bool {
        switch error as? IsletError {
        case .timedOut, .closed: true
        case .refused, .overloaded, .cancelled, .endpoint, .invalid, .unreadable, .notConfigured, nil: false
        }
    }
}
