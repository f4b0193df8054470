package import IsletCore

/// A set of fields: one bit for each.
package struct FieldSet: Equatable, Sendable, BitwiseCopyable {
    private var bits: UInt64 = 0

    package init() {}

    package init(_ fields: [Field]) {
        for field in fields { insert(field) }
    }

    package var isEmpty: Bool { bits == 0 }

    @inline(__always) package func contains(_ field: Field) -> Bool {
        bits & (1 << UInt64(field.rawValue)) != 0
    }

    @inline(__always) package mutating func insert(_ field: Field) {
        bits |= 1 << UInt64(field.rawValue)
    }

    package func union(_ other: FieldSet) -> FieldSet {
        var both = self
        both.bits |= other.bits
        return both
    }

    @inline(__always) package func isSubset(of other: FieldSet) -> Bool {
        bits & ~other.bits == 0
    }
}
