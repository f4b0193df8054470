/// Which known name was probably meant.
package enum Spelling {
    /// The known name that is closest to a misspelt one, if it is close at all: a third of its letters may be wrong, and
    /// two of five. Of fewer than five one may be, or they stand in another order, or something is behind them.
    package static func closest(to name: String, among known: [String]) -> String? {
        let nearest = known.map { (name: $0, distance: distance(fold(name), fold($0))) }.min {
            $0.distance < $1.distance
        }
        guard let nearest, nearest.distance <= max(2, name.count / 3) else { return nil }
        let (given, known) = (fold(name), fold(nearest.name))
        let isClose =
            nearest.distance < 2 || given.count > 4 || given.sorted() == known.sorted() || given.starts(with: known)
        return isClose ? nearest.name : nil
    }

    private static func fold(_ name: String) -> [UInt8] {
        Array(name.lowercased().utf8)
    }

    /// How many letters are to be put in, taken out or replaced (Levenshtein).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let substitution = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substitution, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
