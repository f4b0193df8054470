package import IsletClient

/// The service's figures as a top shows them, from `service.stats`, or from `service.info` of a service that has no
/// stats. What a service does not say is nil.
package struct TopFigures: Sendable, Equatable {
    /// How many of a family are in each state, in the service's order.
    struct States: Sendable, Equatable {
        var counts: [(name: String, count: Int64)] = []

        static func == (one: States, other: States) -> Bool {
            one.counts.elementsEqual(other.counts) { $0.name == $1.name && $0.count == $1.count }
        }

        var total: Int64 { counts.reduce(0) { $0.addingClamped($1.count) } }

        subscript(name: String) -> Int64? { counts.first { $0.name == name }?.count }
    }

    /// Percentiles, in milliseconds.
    struct Spread: Sendable, Equatable {
        var p50: Double
        var p99: Double
        var maximum: Double
        /// Whether it is of the last minute, not since the start.
        var isRecent: Bool
    }

    /// Domain time in milliseconds since 1970.
    var now: Int64?
    /// How many times faster than real time domain time runs.
    var speed = 1.0
    /// Milliseconds.
    var uptime: Int64?
    var version: String?
    var guarantee: String?
    // Totals since the service's start, of which rates are made.
    var taken: Int64?
    var ignored: Int64?
    var refused: Int64?
    var events: Int64?
    var calls: Int64?
    var apps: Int64?
    var activities = States()
    var controls = States()
    var widgets = States()
    var timersArmed: Int64?
    var timersOverdue: Int64?
    var nextAt: Int64?
    var lateness: Spread?
    var answer: Spread?
    var commit: Spread?
    var call: Spread?
    var providers: Int64?
    var callsWaiting: Int64?
    var callsInFlight: Int64?
    var callFailures: Int64?
    var subscribers: Int64?
    var laggingSubscribers: Int64?
    var maximumLag: Int64?
    var residentBytes: Int64?
    var isDiskFull = false
    var isStopping = false

    init() {}

    /// Reads the member `stats` of the answer to `service.stats`.
    package init(stats: RawObject) {
        now = stats["now"]?.integer
        uptime = stats["uptime"]?.integer
        version = stats["version"]?.string
        guarantee = stats["guarantee"]?.string
        let commands = stats["commands"]?.object
        taken = commands?["taken"]?.integer
        ignored = commands?["ignored"]?.integer
        refused = commands?["refused"]?.integer
        events = stats["events"]?.integer
        apps = stats["apps"]?.integer
        readStates(stats, activities: "activities")
        let timers = stats["timers"]?.object
        timersArmed = timers?["armed"]?.integer
        timersOverdue = timers?["overdue"]?.integer
        nextAt = timers?["nextAt"]?.integer
        lateness = Spread(stats["lateness"])
        answer = Spread(stats["answer"])
        commit = Spread(stats["commit"])
        let providers = stats["providers"]?.object
        self.providers = providers?["connected"]?.integer
        calls = providers?["calls"]?.integer
        callsWaiting = providers?["waiting"]?.integer
        callsInFlight = providers?["inFlight"]?.integer
        callFailures = providers?["failures"]?.integer
        call = Spread(providers?["call"])
        let subscribers = stats["subscribers"]?.object
        self.subscribers = subscribers?["reporting"]?.integer
        laggingSubscribers = subscribers?["lagging"]?.integer
        maximumLag = subscribers?["maximumLag"]?.integer
        residentBytes = stats["memory"]?.object?["resident"]?.integer
        isDiskFull = stats["diskFull"]?.bool ?? false
        isStopping = stats["stopping"]?.bool ?? false
    }

    /// Reads the member `info` of the answer to `service.info`.
    package init(info: RawObject) {
        now = info["clock"]?.object?["now"]?.integer
        uptime = info["uptime"]?.integer
        version = info["version"]?.string
        guarantee = info["guarantee"]?.string
        taken = info["commands"]?.integer
        events = info["events"]?.integer
        readStates(info, activities: "entities")
        timersArmed = info["timers"]?.integer
        lateness = Spread(info["lateness"])
        providers = info["providers"]?.integer
        isDiskFull = info["diskFull"]?.bool ?? false
    }

    private mutating func readStates(_ object: RawObject, activities: String) {
        self.activities = States(object[activities])
        controls = States(object["controls"])
        widgets = States(object["widgets"])
    }
}

extension TopFigures.States {
    init(_ json: RawJSON?) {
        counts = json?.object?.members.compactMap { member in
            member.value.integer.map { (member.name, $0) }
        } ?? []
    }
}

extension TopFigures.Spread {
    /// Of the last minute where that has anything; nil where nothing was measured at all.
    init?(_ json: RawJSON?) {
        guard let object = json?.object else { return nil }
        let isMicroseconds = object["unit"]?.string == "us"
        let recent = object["recent"]?.object.flatMap { ($0["count"]?.integer ?? 0) > 0 ? $0 : nil }
        let source = recent ?? object
        guard (source["count"]?.integer ?? 0) > 0, let p50 = source["p50"]?.integer, let p99 = source["p99"]?.integer,
            let maximum = source["max"]?.integer
        else { return nil }
        let unit = isMicroseconds ? 1_000.0 : 1
        self.init(
            p50: Double(p50) / unit, p99: Double(p99) / unit, maximum: Double(maximum) / unit, isRecent: recent != nil)
    }
}

/// What happened in a second of real time between two readings.
package struct TopRates: Sendable, Equatable {
    var taken: Double?
    var ignored: Double?
    var refused: Double?
    var events: Double?
    var calls: Double?

    init() {}

    /// The rates between two readings of figures; nil where either does not say it.
    ///
    /// - Parameter milliseconds: of real time between the two.
    package init(from old: TopFigures, to new: TopFigures, milliseconds: Int64) {
        // Less than before: it has started anew between the two.
        guard milliseconds > 0, (new.uptime ?? 0) >= (old.uptime ?? 0) else { return }
        func rate(_ path: KeyPath<TopFigures, Int64?>) -> Double? {
            guard let before = old[keyPath: path], let after = new[keyPath: path], after >= before else { return nil }
            return Double(after.subtractingClamped(before)) * 1_000 / Double(milliseconds)
        }
        taken = rate(\.taken)
        ignored = rate(\.ignored)
        refused = rate(\.refused)
        events = rate(\.events)
        calls = rate(\.calls)
    }
}
