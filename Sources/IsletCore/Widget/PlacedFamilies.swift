/// How many widgets of each family are placed of each kind: a new declaration of a kind may give up those that none is of.
struct PlacedFamilies: Sendable {
    private static let families = WidgetFamily.allCases.count

    /// By kind, and in it by family; as long as the kinds reach of which one was ever placed.
    private var counts: [Int32] = []

    mutating func add(_ family: WidgetFamily, of kind: DeclaredKindID) {
        let place = Self.place(family, kind)
        if place >= counts.count {
            counts.append(contentsOf: repeatElement(0, count: (Int(kind) + 1) * Self.families - counts.count))
        }
        counts[place] += 1
    }

    /// One that was added is no more.
    mutating func remove(_ family: WidgetFamily, of kind: DeclaredKindID) {
        counts[Self.place(family, kind)] -= 1
    }

    func count(_ family: WidgetFamily, of kind: DeclaredKindID) -> Int {
        let place = Self.place(family, kind)
        return place < counts.count ? Int(counts[place]) : 0
    }

    private static func place(_ family: WidgetFamily, _ kind: DeclaredKindID) -> Int {
        Int(kind) * families + Int(family.rawValue)
    }
}
