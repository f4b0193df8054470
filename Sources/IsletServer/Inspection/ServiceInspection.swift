package import IsletMetrics

/// How a service that runs stands, for those who watch it.
package enum ServiceHealth: Equatable, Sendable {
    /// It takes commands, and what it acknowledges is as durable as its guarantee says.
    case ok
    /// It takes none, or does not answer; why.
    case notReady(String)
    /// It stops.
    case stopping
    /// It does what it can, and nothing is committed: a disk that stalls, or another process's lock.
    case commitHangs
    /// Changes are refused until there is room on the disk.
    case diskFull
}

/// What may be asked of a running service from inside its process: figures, metrics, health. Safe from any task.
package struct ServiceInspection: Sendable {
    /// How long ``health()`` waits for the partition.
    package static let patience = Duration.seconds(1)

    /// All metrics of the process; others may be made there.
    package var metrics: PrometheusMetrics { service.metrics }

    private let service: ServiceMetrics
    private let host: EngineHost
    /// Where the journal's files are; nil where there are none.
    private let directory: String?
    private let probe = HealthProbe()

    init(_ host: EngineHost, _ service: ServiceMetrics, directory: String?) {
        self.host = host
        self.service = service
        self.directory = directory
    }

    /// All metrics in Prometheus' text format 0.0.4, the service's figures taken anew.
    package func metricsText() async -> [UInt8] {
        service.update(await host.reading())
        if let directory, let room = JournalRoom(directory: directory) { service.update(room) }
        return metrics.text()
    }

    /// All figures, as `service.stats` answers them.
    package func reading() async -> ServiceReading { await host.reading() }

    /// How it stands; answers within ``patience`` also where the partition does not.
    package func health() async -> ServiceHealth {
        let (host, probe) = (host, probe)
        return await withCheckedContinuation { continuation in
            let waiter = HealthProbe.Waiter(continuation)
            switch probe.add(waiter) {
            case .asked: break
            case .toBeAsked: Task { probe.answer(await host.health()) }
            case .tooMany: return waiter.give(HealthProbe.silence)
            }
            Task {
                try? await Task.sleep(for: Self.patience)
                waiter.give(HealthProbe.silence)
            }
        }
    }
}
