/// What a provider said of when its kind is relevant, found by the configurations that it is about: a device has
/// thousands of widgets, and a list a hundred rows.
struct KindRelevance: Equatable, Sendable {
    let list: [WidgetRelevance]
    /// The exact bytes of the JSON array.
    let json: [UInt8]
    /// The places in the list of what is about any configuration.
    private var general: [Int] = []
    /// The configurations that rows are about, each with the places of these.
    private var configurations: [(bytes: [UInt8], places: [Int])] = []
    /// From the hash of a configuration to those that have it, as places in ``configurations``.
    private var byHash: [UInt64: [Int]] = [:]

    init(list: [WidgetRelevance], json: [UInt8]) {
        (self.list, self.json) = (list, json)
        for (place, item) in list.enumerated() {
            guard let configuration = item.configuration else {
                general.append(place)
                continue
            }
            if let known = configuration.withUnsafeBytes({ find($0) }) {
                configurations[known].places.append(place)
            } else {
                let hash = configuration.withUnsafeBytes { NameTable.hash($0) }
                byHash[hash, default: []].append(configurations.count)
                configurations.append((configuration, [place]))
            }
        }
    }

    static func == (one: KindRelevance, other: KindRelevance) -> Bool {
        one.json == other.json && one.list == other.list
    }

    private func find(_ configuration: UnsafeRawBufferPointer) -> Int? {
        byHash[NameTable.hash(configuration)]?.first { number in
            configurations[number].bytes.withUnsafeBytes { equal($0, configuration) }
        }
    }

    /// What it says of a widget at a date.
    struct Verdict {
        /// The first place in the list that is in effect; nil: none.
        var place: Int?
        /// When a row that is about the widget begins or ends next.
        var changesAt = Instant.never
    }

    /// - Parameter configuration: the widget's, byte for byte.
    func verdict(of configuration: UnsafeRawBufferPointer, at now: Instant) -> Verdict {
        var verdict = Verdict()
        for place in general { look(at: place, now, &verdict) }
        if let known = find(configuration) {
            for place in configurations[known].places { look(at: place, now, &verdict) }
        }
        return verdict
    }

    private func look(at place: Int, _ now: Instant, _ verdict: inout Verdict) {
        let item = list[place]
        if item.isInEffect(at: now) { verdict.place = min(verdict.place ?? place, place) }
        if let from = item.from, from > now { verdict.changesAt = min(verdict.changesAt, from) }
        if let to = item.to, to > now { verdict.changesAt = min(verdict.changesAt, to) }
    }
}
