import IsletCore
package import IsletMetrics
import IsletProtocol

/// The service's figures among the metrics: everything comes from one ``ServiceReading`` per scrape, so that counting costs
/// the service nothing more. No label ever holds what a client chose.
package struct ServiceMetrics: Sendable {
    /// The registry that these figures are handed to.
    package let metrics: PrometheusMetrics

    /// - Parameters:
    ///   - version: of the service.
    ///   - guarantee: what its acknowledgements outlive.
    ///   - startedAt: seconds since 1970.
    package init(_ metrics: PrometheusMetrics, version: String, guarantee: String, startedAt: Double) {
        self.metrics = metrics
        metrics.gauge("islet_info", [("version", version), ("guarantee", guarantee)]).set(1 as Int64)
        metrics.gauge("islet_start_time_seconds").set(startedAt)
    }

    /// Takes over what a reading says.
    package func update(_ reading: ServiceReading) {
        let commands = reading.commands
        for (outcome, count) in [
            ("applied", commands.applied), ("ignored", commands.ignored), ("refused", commands.refused),
        ] {
            total("islet_commands_total", count, [("outcome", outcome)])
        }
        total("islet_commands_taken_total", commands.taken)
        total("islet_events_total", reading.events)
        total("islet_joins_total", reading.joins)
        total("islet_clients_cut_total", reading.cutClients)
        connections(reading.connections)
        waiting(reading.waiting)
        histogram("islet_answer_seconds", reading.answers)
        histogram("islet_commit_seconds", reading.commits)
        histogram("islet_lateness_seconds", reading.lateness)
        entities(reading)
        providers(reading.providers)
        set("islet_timers_armed", reading.timers.armed)
        set("islet_timers_overdue", reading.timers.overdue)
        set("islet_subscribers", reading.subscribers.reporting)
        set("islet_subscribers_lagging", reading.subscribers.lagging)
        set("islet_subscribers_silent", reading.subscribers.silent)
        metrics.gauge("islet_subscriber_lag_max").set(Double(reading.subscribers.maximumLag))
        metrics.gauge("islet_commit_age_seconds").set(Double(reading.commitAge) / 1_000)
        set("islet_disk_full", reading.isDiskFull ? 1 : 0)
        set("islet_journal_segment_delayed", reading.journal?.isSegmentDelayed == true ? 1 : 0)
        metrics.gauge("islet_clock_ahead_seconds").set(Double(reading.clockAhead) / 1_000)
        set("islet_stopping", reading.isStopping ? 1 : 0)
        if let bytes = reading.residentBytes { set("islet_resident_bytes", bytes) }
    }

    /// Takes over how much room the journal's files take, and how much there is on their disk.
    package func update(_ room: JournalRoom) {
        set("islet_journal_bytes", room.used)
        set("islet_journal_free_bytes", room.free)
    }

    private func connections(_ connections: ConnectionFigures) {
        for (socket, count) in [
            ("commands", connections.commands), ("bulk", connections.bulk), ("events", connections.events),
            ("ingest", connections.ingest),
        ] {
            metrics.gauge("islet_connections", [("socket", socket)]).set(Int64(count))
        }
        total("islet_connections_refused_total", connections.refused)
        set("islet_subscriptions", connections.subscriptions)
        total("islet_subscribers_cut_total", connections.cutSubscribers)
    }

    private func waiting(_ kinds: [WorkFigures]) {
        for kind in kinds {
            let label = [("work", kind.work.rawValue)]
            metrics.gauge("islet_waiting", label).set(Int64(kind.usage.count))
            metrics.gauge("islet_waiting_bytes", label).set(Int64(kind.usage.bytes))
            metrics.gauge("islet_waiting_limit", label).set(Int64(kind.work.limits.count))
            total("islet_waiting_refused_total", kind.refusals, label)
        }
    }

    private func entities(_ reading: ServiceReading) {
        for state in ActivityState.allCases {
            entities("activity", state.wireName, reading.activities[Int(state.rawValue)])
        }
        for state in ControlState.allCases where state != .removed {
            entities("control", state.wireName, reading.controls[Int(state.rawValue)])
        }
        for state in WidgetState.allCases where state != .removed {
            entities("widget", state.wireName, reading.widgets[Int(state.rawValue)])
        }
        set("islet_apps", reading.apps)
        set("islet_devices", reading.devices)
        set("islet_groups", reading.groups.groups)
        set("islet_group_keys", reading.groups.keys)
        set("islet_group_value_bytes", reading.groups.bytes)
    }

    private func entities(_ family: String, _ state: StaticString, _ count: Int) {
        metrics.gauge("islet_entities", [("family", family), ("state", "\(state)")]).set(Int64(count))
    }

    private func providers(_ providers: ServiceReading.Providers) {
        let totals = providers.totals
        for (outcome, count) in [
            ("answered", totals.answered), ("failed", totals.failed), ("timedOut", totals.timedOut),
            ("lost", totals.lost),
        ] {
            total("islet_provider_calls_total", count, [("outcome", outcome)])
        }
        histogram("islet_provider_call_seconds", providers.spans)
        set("islet_providers", providers.connected)
        set("islet_provider_calls_waiting", providers.waiting)
        set("islet_provider_calls_in_flight", providers.inFlight)
        total("islet_providers_dropped_total", providers.dropped)
    }

    private func set(_ name: String, _ value: Int) { metrics.gauge(name).set(Int64(value)) }

    private func total(_ name: String, _ value: UInt64, _ labels: [(String, String)] = []) {
        metrics.counter(name, labels).set(total: value)
    }

    private func histogram(_ name: String, _ spans: SpanReading) {
        let histogram = metrics.histogram(name)
        let perSecond = Double(spans.unit.perSecond)
        histogram.replace(
            cumulative: spans.all.counts(upTo: histogram.bounds.map { Int($0 * perSecond) }), count: spans.all.count,
            sum: Double(spans.sum) / perSecond)
    }
}
