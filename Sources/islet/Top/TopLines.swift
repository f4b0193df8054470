import Glibc
import IsletClient
import IsletFilter

/// A top where there is no terminal: lines.
package enum TopLines {
    /// The head comes again after so many lines.
    private static let headEvery = 20

    /// What `--once` has for a screen: as wide as the terminal, or wide enough where there is none.
    static var size: ScreenSize {
        var window = winsize()
        let isTerminal = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
        return ScreenSize(columns: isTerminal ? Int(window.ws_col) : 132, rows: 10_000)
    }

    /// Writes what the screen would show, from two readings, so that there are rates.
    static func once(_ model: TopModel, _ source: TopSource) async throws {
        var model = model
        for isSecond in [false, true] {
            if isSecond { try await Task.sleep(for: .milliseconds(min(model.interval, 1_000))) }
            do {
                _ = model.apply(.reading(try await source.read(model.request)))
            } catch IsletError.timedOut {
                throw Failure(
                    .unreachable, "no answer from \(model.endpoint): \(Listener.question(model.endpoint))")
            }
        }
        let hasColours = Style.output.isOn
        var lines = TopScreen.header(model) + [StyledLine()] + TopScreen.table(model, hasSelection: false)
        if let shown = TopScreen.shown(model) { lines.append(StyledLine(shown, .dim)) }
        for line in lines {
            let line = line.fitted(to: model.size.columns)
            Console.data(hasColours ? line.coded(hasColours: true) : line.text)
        }
    }

    /// Writes a line for each interval until a signal asks for the end.
    static func follow(_ model: TopModel, _ source: TopSource) async {
        await Interruption.telling { signals in
            await withTaskGroup { group in
                group.addTask { await write(model, source) }
                group.addTask { for await _ in signals { return } }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private static func write(_ model: TopModel, _ source: TopSource) async {
        var model = model
        // Figures alone: no rows are asked for.
        model.tab = .providers
        var count = 0
        var isAway = false
        var due = ContinuousClock.now
        while !Task.isCancelled {
            do {
                let isFirst = model.reading == nil || isAway
                _ = model.apply(.reading(try await source.read(model.request)))
                if isAway { Console.message("\(model.endpoint) answers again") }
                isAway = false
                if !isFirst, let figures = model.reading?.figures {
                    if count % headEvery == 0 { Console.data(head) }
                    Console.data(line(figures, model.rates))
                    count += 1
                }
            } catch {
                if Task.isCancelled { return }
                _ = model.apply(.failed(sentence(error), at: source.milliseconds))
                if !isAway { Console.message("\(sentence(error)) from \(model.endpoint); trying again") }
                isAway = true
            }
            due = max(due + .milliseconds(model.interval), .now)
            try? await Task.sleep(until: due)
        }
    }

    /// What an error is to somebody who watches: the beginning of a sentence.
    static func sentence(_ error: any Error) -> String {
        if case IsletError.timedOut = error { return "no answer" }
        return (error as? IsletError)?.description ?? "\(error)"
    }

    // MARK: The line

    /// The columns: a title, and the least width.
    private static let columns = [
        ("TIME", 8), ("CMD/s", 7), ("REFUSED", 7), ("EVT/s", 7), ("ACTIVE", 7), ("STALE", 6), ("ENDED", 6),
        ("TIMERS", 7), ("OVERDUE", 7), ("LATE50", 6), ("LATE99", 6), ("LATEMAX", 7), ("COMMIT99", 8), ("CALL/s", 6),
        ("PROV", 4), ("SUBS", 4), ("LAGGING", 7),
    ]

    /// The titles over the lines.
    package static let head = columns.map { title, width in padded(title, width) }.joined(separator: " ")

    /// A service's figures in a line; `-` for what it does not say. Times in milliseconds. A full disk, which refuses everything,
    /// stands behind them.
    package static func line(_ figures: TopFigures, _ rates: TopRates) -> String {
        func number(_ value: Int64?) -> String { value.map(String.init) ?? "-" }
        func rate(_ value: Double?) -> String { String(TopText.rate(value).filter { $0 != " " }) }
        func time(_ value: Double?) -> String { value.map(TopText.milliseconds) ?? "-" }
        let cells = [
            figures.now.map(TimeText.clock) ?? "-", rate(rates.taken), rate(rates.refused), rate(rates.events),
            number(figures.activities["active"]), number(figures.activities["stale"]),
            number(figures.activities["ended"]), number(figures.timersArmed), number(figures.timersOverdue),
            time(figures.lateness?.p50), time(figures.lateness?.p99), time(figures.lateness?.maximum),
            time(figures.commit?.p99), rate(rates.calls), number(figures.providers), number(figures.subscribers),
            number(figures.laggingSubscribers),
        ]
        let line = zip(cells, columns).map { padded($0, $1.1) }.joined(separator: " ")
        return figures.isDiskFull ? "\(line) DISK FULL" : line
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
