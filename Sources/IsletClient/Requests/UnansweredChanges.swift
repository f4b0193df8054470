/// The changes of a connection that have no answer yet, by their ops, in the order in which they were begun.
package struct UnansweredChanges: Sendable, Hashable {
    /// Handed to the service, or on the way to it: whether they were executed is unknown.
    package var sent: [String] = []
    /// Still here, as there is no connection.
    package var unsent: [String] = []

    /// None.
    package init() {}
}
