/// What a provider said of when its kind is relevant, found by the configurations that it is about: a device has
/// thousands of widgets, and a list a hundred rows.
struct KindRelevance: Equatable, Sendable {
    let list: [WidgetRelevance]
    /// The exact bytes of the JSON array.
    let json: [UInt8]
    /// What the kind declares for what configurations leave out: a provider may write these out, or not, and means the
    /// same widgets.
    let defaults: ConfigurationForm.Defaults
    /// The places in the list of what is about any configuration.
    private var general: [Int] = []
    /// Of each configuration that rows are about, the places of these.
    private var rows: [[Int]] = []
    /// From the hash of a spelling of a configuration to those that have it, with their places in ``rows``; of each
    /// configuration what was written, as most widgets have it, and its form.
    private var spellings: [UInt64: [(bytes: [UInt8], row: Int)]] = [:]

    init(list: [WidgetRelevance], json: [UInt8], defaults: ConfigurationForm.Defaults) {
        (self.list, self.json, self.defaults) = (list, json, defaults)
        for (place, item) in list.enumerated() {
            guard let configuration = item.configuration else {
                general.append(place)
                continue
            }
            let form = configuration.withUnsafeBytes { ConfigurationForm($0, fillingIn: defaults) }
            let row = form.bytes.withUnsafeBytes { find(spelling: $0) } ?? rows.count
            if row == rows.count { rows.append([]) }
            rows[row].append(place)
            for spelling in [configuration, form.bytes] { add(spelling, row) }
        }
    }

    private mutating func add(_ spelling: [UInt8], _ row: Int) {
        let hash = spelling.withUnsafeBytes { NameTable.hash($0) }
        guard spellings[hash]?.contains(where: { $0.bytes == spelling }) != true else { return }
        spellings[hash, default: []].append((spelling, row))
    }

    static func == (one: KindRelevance, other: KindRelevance) -> Bool {
        one.json == other.json && one.list == other.list && one.defaults == other.defaults
    }

    /// The same, of a kind that declares these defaults.
    func fillingIn(_ defaults: ConfigurationForm.Defaults) -> KindRelevance {
        defaults == self.defaults ? self : KindRelevance(list: list, json: json, defaults: defaults)
    }

    /// The row of a configuration, however it is written.
    private func find(_ configuration: UnsafeRawBufferPointer) -> Int? {
        if rows.isEmpty { return nil }
        return find(spelling: configuration)
            ?? ConfigurationForm(configuration, fillingIn: defaults).bytes.withUnsafeBytes { find(spelling: $0) }
    }

    private func find(spelling: UnsafeRawBufferPointer) -> Int? {
        spellings[NameTable.hash(spelling)]?.first { known in
            known.bytes.withUnsafeBytes { equal($0, spelling) }
        }?.row
    }

    /// What it says of a widget at a date.
    struct Verdict {
        /// The first place in the list that is in effect; nil: none.
        var place: Int?
        /// When a row that is about the widget begins or ends next.
        var changesAt = Instant.never
    }

    /// - Parameter configuration: the widget's, as it was written.
    func verdict(of configuration: UnsafeRawBufferPointer, at now: Instant) -> Verdict {
        var verdict = Verdict()
        for place in general { look(at: place, now, &verdict) }
        if let row = find(configuration) {
            for place in rows[row] { look(at: place, now, &verdict) }
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
