import IsletCore
import IsletProtocol

extension JSONWriter {
    /// The member `stats` of `service.stats`.
    mutating func stats(_ reading: ServiceReading) {
        key("stats")
        beginObject()
        field("now", reading.now)
        field("uptime", reading.uptime)
        field("version", string: ServiceCard.version)
        field("guarantee", string: reading.guarantee)
        key("commands")
        beginObject()
        field("taken", reading.commands.taken)
        field("applied", reading.commands.applied)
        field("ignored", reading.commands.ignored)
        field("refused", reading.commands.refused)
        endObject()
        field("events", reading.events)
        field("joins", reading.joins)
        field("apps", reading.apps)
        field("devices", reading.devices)
        entities(reading)
        timers(reading)
        field("lateness", reading.lateness)
        field("answer", reading.answers)
        field("commit", reading.commits)
        providers(reading.providers)
        key("subscribers")
        beginObject()
        field("reporting", reading.subscribers.reporting)
        field("lagging", reading.subscribers.lagging)
        field("maximumLag", reading.subscribers.maximumLag)
        field("silent", reading.subscribers.silent)
        endObject()
        key("clients")
        beginObject()
        field("cut", reading.cutClients)
        endObject()
        waiting(reading.waiting)
        if let journal = reading.journal { self.journal(journal) }
        field("diskFull", reading.isDiskFull)
        if reading.clockAhead > 0 { field("clockAhead", reading.clockAhead) }
        field("stopping", reading.isStopping)
        if let bytes = reading.residentBytes {
            key("memory")
            beginObject()
            field("resident", bytes)
            endObject()
        }
        endObject()
    }

    private mutating func waiting(_ kinds: [WorkFigures]) {
        key("waiting")
        beginObject()
        for kind in kinds {
            key(plain: Array(kind.work.rawValue.utf8).span)
            beginObject()
            field("count", kind.usage.count)
            field("bytes", kind.usage.bytes)
            field("refused", kind.refusals)
            endObject()
        }
        endObject()
    }

    private mutating func entities(_ reading: ServiceReading) {
        field("entities", reading.entities)
        key("activities")
        beginObject()
        for state in ActivityState.allCases { field(state.wireName, reading.activities[Int(state.rawValue)]) }
        endObject()
        key("controls")
        beginObject()
        for state in ControlState.allCases where state != .removed {
            field(state.wireName, reading.controls[Int(state.rawValue)])
        }
        endObject()
        key("widgets")
        beginObject()
        for state in WidgetState.allCases where state != .removed {
            field(state.wireName, reading.widgets[Int(state.rawValue)])
        }
        endObject()
        key("groups")
        beginObject()
        field("groups", reading.groups.groups)
        field("keys", reading.groups.keys)
        field("bytes", reading.groups.bytes)
        endObject()
    }

    private mutating func timers(_ reading: ServiceReading) {
        key("timers")
        beginObject()
        field("armed", reading.timers.armed)
        field("overdue", reading.timers.overdue)
        if reading.timers.nextAt.isSet { field("nextAt", reading.timers.nextAt) }
        endObject()
    }

    private mutating func providers(_ providers: ServiceReading.Providers) {
        key("providers")
        beginObject()
        field("connected", providers.connected)
        field("calls", providers.totals.calls)
        field("waiting", providers.waiting)
        field("held", providers.held)
        field("inFlight", providers.inFlight)
        field("failures", providers.totals.failures)
        field("timedOut", providers.totals.timedOut)
        field("dropped", providers.dropped)
        field("call", providers.spans)
        endObject()
    }

    /// The member `journal` of `service.info` and `service.stats`.
    mutating func journal(_ journal: JournalReading) {
        key("journal")
        beginObject()
        field("epoch", plain: journal.epoch.span)
        field("committed", journal.committed)
        field("snapshot", journal.snapshot)
        field("lastCommit", journal.lastCommit)
        field("commit", journal.commits)
        field("isFull", journal.free != nil)
        if let free = journal.free { field("free", free) }
        if journal.isSegmentDelayed { field("segmentDelayed", true) }
        endObject()
    }
}
