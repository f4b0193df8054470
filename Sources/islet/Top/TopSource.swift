import IsletClient
import IsletFilter

/// Reads what a top shows from a service, as a few reads in one message. It knows which ops the service does not have,
/// and asks for those no more until the service was away.
actor TopSource {
    private let service: ServiceOptions
    private var connection: IsletConnection?
    /// The one that follows streams, where the service says that they are elsewhere.
    private var streams: IsletConnection?
    private var apps: [String: StreamPosition] = [:]
    private var appsAskedAt: ContinuousClock.Instant?
    private var appsNote: String?
    private var unknownOps: Set<String> = []
    /// How fast domain time runs, once the service has said it.
    private var speed: Double?
    /// How many rows each app had the last time, of what was asked then.
    private var totals: [String: Int64] = [:]
    private var totalsOf: (tab: TopTab, filter: TopFilter)?
    private let clock = ContinuousClock()
    private let origin = ContinuousClock.now

    /// What the service said the last time.
    private var lastFigures: TopFigures?

    /// So many apps are asked in each reading…
    private static let appsLeast = 64
    /// …and more of them as long as their lists look at no more entities than this together: each looks at all that the
    /// service has of the family.
    private static let looksMax: Int64 = 8 << 20
    /// So many lists go in one message, and no others meanwhile: of those that take several turns a service refuses
    /// what is beyond.
    private static let listsAtOnce = 64
    /// The apps are asked for again after this long.
    private static let appsInterval = Duration.seconds(5)
    private static let appsPatience = Duration.seconds(1)
    /// How long one reading may take.
    static let patience = Duration.seconds(5)

    init(_ service: ServiceOptions) {
        self.service = service
    }

    /// Milliseconds of real time since this was made.
    nonisolated var milliseconds: Int64 { Span(origin.duration(to: .now)).milliseconds }

    /// Asks once.
    ///
    /// - Throws: an `IsletError`; after one the next reading begins anew.
    func read(_ request: TopRequest) async throws(IsletError) -> TopReading {
        do throws(IsletError) {
            return try await attempt(request)
        } catch {
            // Whoever comes back may be another version, elsewhere.
            unknownOps = []
            speed = nil
            lastFigures = nil
            appsAskedAt = nil
            if let streams, streams !== connection { await streams.close() }
            streams = nil
            throw error
        }
    }

    /// A stream of the events of all topics that begin with a prefix.
    func events(_ prefix: String) async throws(IsletError) -> DeliveryStream {
        try await followed().events(prefix)
    }

    /// The connection that tells what events do not say of their entities; nil where there is none now.
    func asking() async -> IsletConnection? { try? await connected() }

    func close() async {
        if let streams, streams !== connection { await streams.close() }
        await connection?.close()
        (connection, streams) = (nil, nil)
    }

    // MARK: Reading

    private func attempt(_ request: TopRequest) async throws(IsletError) -> TopReading {
        let connection = try await connected()
        let (all, note) = request.tab.family == nil ? ([], nil) : await appNames(request)
        let named = Array(all.prefix(appsMax(request.tab)))
        let lists = lists(request, apps: named)
        let panel = panelCommands(request.subject)
        let first = unknownOps.contains("service.stats") ? "service.info" : "service.stats"
        let info = speed == nil ? [Command("service.info")] : []
        let commands = [Command(first)] + info + lists.prefix(Self.listsAtOnce).map(\.command) + panel
        var results = await connection.send(batch: commands, timeout: min(Self.patience, service.timeout.duration))

        var figures = TopFigures()
        switch results.removeFirst() {
        case .success(let answer):
            figures = Self.figures(answer)
        case .failure(let error):
            guard isUnknown(error, first) else { throw error }
            figures = Self.figures(try await connection.send(Command("service.info"), timeout: Self.patience))
        }
        if !info.isEmpty, case .success(let answer) = results.removeFirst() {
            speed = ServiceSpeed.of(info: answer)
        }
        figures.speed = speed ?? 1
        var reading = TopReading(request: request, at: milliseconds, figures: figures, rows: [])
        reading.note = note
        reading.unaskedApps = all.count - named.count
        reading.apps = max(1, named.count)
        let further = await furtherLists(lists, connection)
        let listed = results.prefix(lists.count - further.count) + further
        try take(Array(listed), lists, &reading)
        try await takeFurtherProviders(results.first, &reading, connection)
        try await takeSoonest(&reading, connection)
        let told = results.dropFirst(lists.count - further.count)
        reading.panel = panelLines(request.subject, Array(told), now: figures.now ?? 0)
        lastFigures = figures
        return reading
    }

    /// How many apps are asked in one reading. The first one does not know yet how much there is to look at.
    private func appsMax(_ tab: TopTab) -> Int {
        guard let figures = lastFigures else { return Self.appsLeast }
        let entities: Int64 =
            switch tab {
            case .activities: figures.activities.total
            case .controls: figures.controls.total
            case .widgets: figures.widgets.total
            case .problems, .providers, .subscribers: 0
            }
        return max(Self.appsLeast, Int(Self.looksMax / max(1, entities)))
    }

    /// What comes of the lists that do not go with the other reads.
    private func furtherLists(
        _ lists: [List], _ connection: IsletConnection
    ) async -> [Result<Answer, IsletError>] {
        var results: [Result<Answer, IsletError>] = []
        var rest = lists.dropFirst(Self.listsAtOnce)
        while !rest.isEmpty {
            let part = rest.prefix(Self.listsAtOnce).map(\.command)
            results += await connection.send(batch: part, timeout: min(Self.patience, service.timeout.duration))
            rest = rest.dropFirst(Self.listsAtOnce)
        }
        return results
    }

    /// The providers behind the first page: the rows are filtered and sorted here.
    private func takeFurtherProviders(
        _ first: Result<Answer, IsletError>?, _ reading: inout TopReading, _ connection: IsletConnection
    ) async throws(IsletError) {
        guard reading.request.tab == .providers, case .success(let answer) = first else { return }
        var command = Command("provider.list")
        var next = answer["next"]
        while let cursor = next, !cursor.isNull {
            command["cursor"] = cursor
            let page = try await connection.send(command, timeout: Self.patience)
            reading.rows += page[reading.request.tab.member]?.elements?.compactMap(\.object) ?? []
            next = page["next"]
        }
    }

    private static func figures(_ answer: Answer) -> TopFigures {
        if let stats = answer["stats"]?.object { return TopFigures(stats: stats) }
        return TopFigures(info: answer["info"]?.object ?? [:])
    }

    /// Notes that the service does not have an op.
    private func isUnknown(_ error: IsletError, _ op: String) -> Bool {
        guard case .refused(let refusal) = error, refusal.code == .unknownOp else { return false }
        unknownOps.insert(op)
        return true
    }

    /// A list that is asked for; nil for the app where it is of all.
    private struct List {
        var command: Command
        var app: String?
        /// Whether it looks for one more thing, and does not count.
        var isSearch = false
    }

    private func lists(_ request: TopRequest, apps: [String]) -> [List] {
        if let op = request.tab.listOp {
            guard !unknownOps.contains(op) else { return [] }
            var command = Command(op)
            if request.tab != .providers { command["limit"] = .integer(request.limit) }
            if request.tab == .problems { command["app"] = (request.app ?? request.filter.app).map(RawJSON.string) }
            return [List(command: command)]
        }
        guard let family = request.tab.family else { return [] }
        if let of = totalsOf, of.tab != request.tab || of.filter != request.filter { totals = [:] }
        totalsOf = (request.tab, request.filter)
        let shares = shares(of: request.limit, apps: apps)
        let fields = request.filter.fields(for: request.tab)
        return apps.flatMap { app in
            var command = Command("\(family).list", app: app, fields)
            command["limit"] = .integer(shares[app] ?? 1)
            var lists = [List(command: command, app: app)]
            let isCut = (totals[app] ?? 0) > Int64(shares[app] ?? 1)
            if isCut, request.tab == .activities, let key = request.filter.possibleKey {
                command["key"] = .string(key)
                command["limit"] = .integer(Self.searchLimit)
                lists.append(List(command: command, app: app, isSearch: true))
            }
            return lists
        }
    }

    /// How many rows a word that may be the beginning of a key brings in beside the others.
    private static let searchLimit = 50

    /// How many rows of each app, by how many each had: those with few have them all, the others the same number.
    private func shares(of limit: Int, apps: [String]) -> [String: Int] {
        var shares: [String: Int] = [:]
        var left = limit
        let sorted = apps.sorted { (totals[$0] ?? .max) < (totals[$1] ?? .max) }
        for (index, app) in sorted.enumerated() {
            let even = max(1, left / (sorted.count - index))
            let share = Int(min(Int64(even), max(1, totals[app] ?? .max)))
            shares[app] = share
            left -= share
        }
        return shares
    }

    private func take(
        _ results: [Result<Answer, IsletError>], _ lists: [List], _ reading: inout TopReading
    ) throws(IsletError) {
        var seen: Set<String> = []
        var total: Int64 = 0
        for (list, result) in zip(lists, results) {
            switch result {
            case .success(let answer):
                let rows = answer[reading.request.tab.member]?.elements?.compactMap(\.object) ?? []
                for row in rows where seen.insert(reading.request.tab.identity(row)).inserted {
                    reading.rows.append(row)
                }
                guard !list.isSearch else { break }
                let count = answer["total"]?.integer ?? Int64(rows.count)
                if let app = list.app { totals[app] = count }
                total = total.addingClamped(count)
                if answer["exact"]?.bool == false { reading.isExact = false }
            case .failure(let error):
                guard isUnknown(error, list.command.op) else {
                    guard case .refused(let refusal) = error else { throw error }
                    reading.note = refusal.description
                    break
                }
            }
        }
        reading.total = total
        if reading.request.tab.family == nil, lists.allSatisfy({ unknownOps.contains($0.command.op) }) {
            reading.note = "this service does not list its \(reading.request.tab.title.lowercased())"
            reading.total = nil
        }
    }

    /// Where there are more rows than were asked for, those with the next deadlines are found by the timers.
    private func takeSoonest(_ reading: inout TopReading, _ connection: IsletConnection) async throws(IsletError) {
        let request = reading.request
        guard request.isSoonest, let family = request.tab.family, !unknownOps.contains("timer.list"),
            reading.total ?? 0 > Int64(reading.rows.count)
        else { return }
        var command = Command("timer.list", ["family": .string(family)])
        command["app"] = request.app.map(RawJSON.string)
        command["limit"] = .integer(min(request.limit, Self.timersMax))
        let timers: Answer
        do throws(IsletError) {
            timers = try await connection.send(command, timeout: Self.patience)
        } catch {
            guard isUnknown(error, "timer.list") else { throw error }
            return
        }
        let known = Set(reading.rows.map(request.tab.identity))
        let gets = Self.missing(timers, request.tab, known: known)
        for case .success(let answer) in await connection.send(batch: gets, timeout: Self.patience) {
            if let entity = EntityText.entity(answer) { reading.rows.append(entity) }
        }
        reading.rows = Self.merged(
            reading.rows, timers, request.tab, limit: min(request.limit, Self.timersMax),
            isFiltered: !request.filter.isEmpty)
        reading.hasSoonest = request.filter.isEmpty
    }

    /// What one answer has at most, by the contract.
    private static let timersMax = 1_000

    // MARK: Panels

    /// A panel has so many of the last decisions.
    private static let decisionsMax = 50

    private func panelCommands(_ subject: TopSubject?) -> [Command] {
        guard let subject, let family = subject.tab.family else { return [] }
        let fields: RawObject = ["id": .string(subject.identity)]
        switch subject.aspect {
        case .explanation: return [Command("\(family).explain", app: subject.app, fields)]
        case .details:
            let get = Command("\(family).get", app: subject.app, fields)
            return subject.tab == .widgets ? [get, Command("widget.budget", app: subject.app, fields)] : [get]
        }
    }

    private func panelLines(_ subject: TopSubject?, _ results: [Result<Answer, IsletError>], now: Int64) -> [String]? {
        guard let subject, let first = results.first else { return nil }
        let answer: Answer
        switch first {
        case .success(let success): answer = success
        case .failure(.refused(let error)) where error.code == .notFound: return ["It is there no more."]
        case .failure(let error): return [error.description]
        }
        let plain = Style(isOn: false)
        switch subject.aspect {
        case .explanation:
            return ExplainText.lines(
                answer, last: Self.decisionsMax, others: "islet explain \(subject.identity) --app \(subject.app) --all",
                shown: shown(subject.tab), now: now, style: plain)
        case .details:
            guard let entity = EntityText.entity(answer) else { return ["It says nothing."] }
            var lines = EntityText.memberLines(entity, now: now)
            if let state = entity["state"]?.string { lines.insert("  " + "state".padded(to: 15) + " " + state, at: 0) }
            if results.count > 1, case .success(let answer) = results[1], let budget = answer["budget"]?.object {
                lines += ["", "  RELOADS"] + BudgetText.lines(budget, now: now).map { "  " + $0 }
            }
            return lines
        }
    }

    private func shown(_ tab: TopTab) -> (RawObject) -> String? {
        switch tab {
        case .controls: Controls.shown
        case .widgets: Widgets.shown
        case .problems, .activities, .providers, .subscribers: Activities.shown
        }
    }

    // MARK: Connections

    /// The connection for changes.
    func changing() async throws(IsletError) -> IsletConnection { try await connected() }

    private func connected() async throws(IsletError) -> IsletConnection {
        if let connection { return connection }
        var options = service.connectionOptions
        options.requestPrefix = "top"
        let opened = try await IsletConnection.open(service.endpoints, options: options)
        connection = opened
        return opened
    }

    private func followed() async throws(IsletError) -> IsletConnection {
        if let streams { return streams }
        let connection = try await connected()
        let found: IsletConnection
        if service.asksForStreams {
            let info = try await connection.send(Command("service.info"), timeout: Self.patience)
            found = try await asSaid(info, connection)
        } else {
            found = connection
        }
        // Another one may have opened it meanwhile.
        if let streams {
            if found !== connection { await found.close() }
            return streams
        }
        streams = found
        return found
    }

    /// A connection to where the service says that its streams are.
    private func asSaid(_ info: Answer, _ connection: IsletConnection) async throws(IsletError) -> IsletConnection {
        let endpoints = service.endpoints(asSaidBy: info)
        guard endpoints != service.endpoints else {
            try await service.checkStreams(of: connection, .events)
            return connection
        }
        let found = try await IsletConnection.open(endpoints, options: service.connectionOptions)
        do throws(IsletError) {
            try await service.checkStreams(of: found, .events)
        } catch {
            await found.close()
            throw error
        }
        return found
    }

    /// The apps to be asked, and what is to be said where they cannot be had.
    private func appNames(_ request: TopRequest) async -> (names: [String], note: String?) {
        if let app = request.app { return ([app], nil) }
        if appsAskedAt.map({ clock.now - $0 > Self.appsInterval }) ?? true {
            appsAskedAt = clock.now
            do throws(IsletError) {
                apps = try await followed().apps(timeout: Self.appsPatience)
                appsNote = nil
            } catch {
                apps = [:]
                switch error {
                case .refused: appsNote = "more than 1 000 apps: name one with --app"
                case .timedOut, .endpoint, .overloaded, .cancelled, .closed, .invalid, .unreadable, .notConfigured:
                    appsNote = "the service's events cannot be had, and so not its apps: name one with --app"
                }
            }
        }
        return (apps.keys.filter(request.filter.includes(app:)).sorted(), appsNote)
    }
}
