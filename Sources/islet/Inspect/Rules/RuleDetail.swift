/// What a rule's one line leaves out: when it applies, what follows from it, and what to do about it.
package struct RuleDetail: Sendable, Hashable {
    /// On what it rests.
    package enum Basis: String, Sendable, CaseIterable {
        /// Apple's documentation, its interfaces or its engineers say so.
        case documented
        /// Apple does not say; notes of its talks or reports of developers do.
        case observed
        /// Nobody says; the rule is what follows most plainly from what is known.
        case inferred
        /// It is this service's own, and says nothing about Apple's systems.
        case own

        /// What it means, for people.
        package var text: String {
            switch self {
            case .documented: "Apple documents it"
            case .observed: "Apple does not document it; developers have observed it"
            case .inferred: "an inference: neither Apple nor others describe this case"
            case .own: "this service's own"
            }
        }
    }

    package let basis: Basis
    /// Whole sentences.
    package let text: String

    init(_ basis: Basis, _ text: String) {
        self.basis = basis
        self.text = text
    }
}
