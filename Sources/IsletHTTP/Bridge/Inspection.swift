package import IsletServer

/// What the pages ask the service itself, past the bus.
package struct Inspection: Sendable {
    /// The metrics in the text format of Prometheus.
    package var metrics: @Sendable () async -> [UInt8]
    /// How the service stands; answers soon, also where the service does not.
    package var health: @Sendable () async -> ServiceHealth

    package init(
        metrics: @escaping @Sendable () async -> [UInt8], health: @escaping @Sendable () async -> ServiceHealth
    ) {
        self.metrics = metrics
        self.health = health
    }
}
