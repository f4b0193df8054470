import IsletClient

/// The service that a recording is played into: its clock, its history, and what it has.
struct ReplayTarget {
    /// Whether it moves only when it is told to.
    let isManual: Bool
    /// Milliseconds of its time in one of real time, where it runs.
    let speed: Double
    /// Its time when it was asked.
    var now: Int64
    /// Of its streams; nil where it says none.
    let epoch: String?
    /// What it has, such as `1 204 activities, 12 controls`; nil where it is empty.
    let holdings: String?

    /// - Parameters:
    ///   - info: the answer to `service.info`.
    ///   - stats: the answer to `service.stats`.
    init(_ info: Answer, _ stats: Answer) throws(IsletError) {
        guard let clock = info["info"]?.object?["clock"]?.object, let now = clock["now"]?.integer else {
            throw .unreadable("no clock in service.info")
        }
        self.now = now
        isManual = clock["kind"]?.string == "manual"
        speed = clock["speed"]?.double ?? 1
        epoch = info["info"]?.object?["epoch"]?.string
        holdings = Self.holdings(stats["stats"]?.object ?? [:])
    }

    private static func holdings(_ stats: RawObject) -> String? {
        func inStates(_ family: String) -> Int64 {
            (stats[family]?.object?.members ?? []).reduce(0) { $0.addingClamped($1.value.integer ?? 0) }
        }
        let counts = [
            (inStates("activities"), "activity", "activities"), (inStates("controls"), "control", "controls"),
            (inStates("widgets"), "widget", "widgets"),
            (stats["groups"]?.object?["groups"]?.integer ?? 0, "group", "groups"),
        ]
        let parts = counts.filter { $0.0 > 0 }.map { count, one, several in
            "\(RecoveryText.grouped(Int(clamping: count))) \(count == 1 ? one : several)"
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
