/// The labels of one series, in the order of their names.
struct MetricLabels: Hashable, Sendable {
    let pairs: [Pair]

    struct Pair: Hashable, Sendable {
        var name: String
        var value: String
    }

    /// Names are made valid; of two that are alike the first stands.
    init(_ dimensions: [(String, String)]) {
        var pairs: [Pair] = []
        for (name, value) in dimensions {
            let name = MetricName.label(name)
            if !pairs.contains(where: { $0.name == name }) { pairs.append(Pair(name: name, value: value)) }
        }
        self.pairs = pairs.sorted { $0.name < $1.name }
    }
}
