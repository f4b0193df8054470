package import IsletCore

/// A set of fields: one bit for each.
package struct FieldSet: Equatable, Sendable, BitwiseCopyable {
    private var bits: UInt128 = 0

    package init() {}

    package init(_ fields: [Field]) {
        for field in fields { insert(field) }
    }

    @inline(__always) init(only field: Field) {
        insert(field)
    }

    package var isEmpty: Bool { bits == 0 }

    @inline(__always) package func contains(_ field: Field) -> Bool {
        bits & (1 << UInt128(field.index)) != 0
    }

    @inline(__always) package mutating func insert(_ field: Field) {
        bits |= 1 << UInt128(field.index)
    }

    @inline(__always) func isDisjoint(with other: FieldSet) -> Bool {
        bits & other.bits == 0
    }

    @inline(__always) mutating func formUnion(_ other: FieldSet) {
        bits |= other.bits
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

extension Field {
    /// The raw value, but without a call into the module that declares it.
    ///
    /// Proof: an enum without payloads of at most 256 cases is one byte, which numbers the cases from 0 in their order;
    /// the raw values do the same. A test compares the two for every case.
    @inline(__always) package var index: Int {
        Int(unsafeBitCast(self, to: UInt8.self))
    }
}
