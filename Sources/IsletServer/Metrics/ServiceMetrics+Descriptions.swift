package import IsletMetrics

extension ServiceMetrics {
    /// What each of the service's metrics is.
    package static let descriptions: [MetricDescription] = [
        MetricDescription("islet_info", .gauge, help: "What this service is; always 1."),
        MetricDescription("islet_start_time_seconds", .gauge, help: "When it started, in seconds since 1970."),
        MetricDescription("islet_commands_taken_total", .counter, help: "Commands that came, reads among them."),
        MetricDescription(
            "islet_commands_total", .counter,
            help: "Changes that were applied or ignored as ActivityKit ignores them, and commands that were refused."),
        MetricDescription("islet_events_total", .counter, help: "Events that were made."),
        MetricDescription("islet_joins_total", .counter, help: "Joins of subscribers that were answered."),
        MetricDescription(
            "islet_clients_cut_total", .counter, help: "Clients that were cut because they did not read their answers."),
        MetricDescription("islet_connections", .gauge, help: "Connections of each socket."),
        MetricDescription(
            "islet_connections_refused_total", .counter, help: "Connections that were shut, since there were too many."),
        MetricDescription("islet_subscriptions", .gauge, help: "Topics that subscribers have subscribed to."),
        MetricDescription(
            "islet_subscribers_cut_total", .counter,
            help: "Subscribers that were cut, since they had too many subscriptions."),
        MetricDescription("islet_waiting", .gauge, help: "What waits or is remembered for peers, by kind."),
        MetricDescription("islet_waiting_bytes", .gauge, help: "What that weighs."),
        MetricDescription("islet_waiting_limit", .gauge, help: "How much of it there may be, of all peers together."),
        MetricDescription(
            "islet_waiting_refused_total", .counter,
            help: "What might not wait, since there was as much of it as there may be, of its peer or of all."),
        MetricDescription(
            "islet_answer_seconds", duration,
            help: "From the receipt of a message with a change until its answer was handed to the socket."),
        MetricDescription(
            "islet_commit_seconds", duration, help: "From the hand-over of a batch to the journal until its commit."),
        // Deadlines are dated in milliseconds.
        MetricDescription(
            "islet_lateness_seconds", .histogram(bounds: Array(MetricDescription.durationBounds.drop { $0 < 0.001 }) + [60]),
            help: "How late deadlines took effect, in real time."),
        MetricDescription("islet_entities", .gauge, help: "Entities in each state."),
        MetricDescription("islet_apps", .gauge, help: "Apps that were ever named."),
        MetricDescription("islet_devices", .gauge, help: "Devices of which anything is known."),
        MetricDescription("islet_groups", .gauge, help: "App groups."),
        MetricDescription("islet_group_keys", .gauge, help: "Keys of all app groups."),
        MetricDescription("islet_group_value_bytes", .gauge, help: "Bytes of all values of app groups."),
        MetricDescription("islet_timers_armed", .gauge, help: "Deadlines that are to come."),
        MetricDescription("islet_timers_overdue", .gauge, help: "Deadlines that are due and have not taken effect."),
        MetricDescription("islet_providers", .gauge, help: "Providers that are registered."),
        MetricDescription(
            "islet_providers_dropped_total", .counter, help: "Providers that left, were lost or were given up."),
        MetricDescription(
            "islet_provider_calls_total", .counter,
            help: "Calls to providers that were answered, failed, took too long, or were lost with their provider."),
        MetricDescription("islet_provider_calls_waiting", .gauge, help: "Calls that wait for a provider."),
        MetricDescription("islet_provider_calls_in_flight", .gauge, help: "Calls that providers have."),
        MetricDescription(
            "islet_provider_call_seconds", duration, help: "From sending a call to its answer or failure."),
        MetricDescription("islet_subscribers", .gauge, help: "Subscribers that report how far they are."),
        MetricDescription(
            "islet_subscribers_lagging", .gauge, help: "Subscribers that are more than 10000 events behind in an app."),
        MetricDescription(
            "islet_subscribers_silent", .gauge, help: "Subscribers that follow events and report nothing of themselves."),
        MetricDescription(
            "islet_subscriber_lag_max", .gauge, help: "How many events the subscriber that is furthest behind has to come."),
        MetricDescription("islet_journal_bytes", .gauge, help: "Bytes of the files of the data directory."),
        MetricDescription("islet_journal_free_bytes", .gauge, help: "Bytes that are free on the disk of the data directory."),
        MetricDescription(
            "islet_commit_age_seconds", .gauge,
            help: "For how long the commit that is under way has taken so far; 0 where none is."),
        MetricDescription("islet_disk_full", .gauge, help: "1 while commands are refused because the disk is full."),
        MetricDescription(
            "islet_journal_segment_delayed", .gauge,
            help: "1 while the journal can begin no new segment, so that the present one grows."),
        MetricDescription(
            "islet_clock_ahead_seconds", .gauge,
            help: "How far domain time is ahead of a wall clock that was set back: it stands still until that has caught up."),
        MetricDescription("islet_stopping", .gauge, help: "1 while the service stops."),
        MetricDescription("islet_resident_bytes", .gauge, help: "Memory of the process that is resident."),
    ]

    private static var duration: MetricDescription.Kind { .histogram(bounds: MetricDescription.durationBounds) }
}
