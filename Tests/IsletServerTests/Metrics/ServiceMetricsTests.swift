import IsletCore
import IsletJournal
import IsletMetrics
import IsletServer
import Testing

@Suite struct ServiceMetricsTests {
    private let metrics = PrometheusMetrics(ServiceMetrics.descriptions)

    /// The samples after a service has done something, by their names with labels.
    private func samples(after body: (PartitionService) throws -> Void) throws -> [String: Double] {
        let service = try PartitionService()
        try body(service)
        let figures = ServiceMetrics(metrics, version: "0.1.0", guarantee: "full", startedAt: 1_800_000_000.5)
        figures.update(service.partition.reading())
        var samples: [String: Double] = [:]
        for line in String(decoding: metrics.text(), as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            let name = try #require(parts.first)
            #expect(samples[String(name)] == nil, "\(name) stands twice")
            samples[String(name)] = Double(try #require(parts.last))
        }
        return samples
    }

    @Test func commandsAndEntitiesAreThoseOfTheReading() throws {
        let start = #"{"op":"activity.start","app":"com.x","type":"T","attributes":{},"contentState":{},"key":"a"}"#
        let samples = try samples { service in
            service.send(start)
            service.send(start)
            service.send(#"{"op":"activity.update","app":"com.x","key":"a","contentState":{}}"#)
            service.send(#"{"op":"service.ping"}"#)
        }
        #expect(samples[#"islet_commands_total{outcome="applied"}"#] == 1)
        #expect(samples[#"islet_commands_total{outcome="refused"}"#] == 1)
        #expect(samples[#"islet_commands_total{outcome="ignored"}"#] == 1)
        #expect(samples["islet_commands_taken_total"] == 4)
        #expect(samples["islet_events_total"] == 1)
        #expect(samples[#"islet_entities{family="activity",state="active"}"#] == 1)
        #expect(samples[#"islet_entities{family="widget",state="shown"}"#] == 0)
        #expect(samples["islet_timers_armed"] == 1)
        #expect(samples[#"islet_info{guarantee="full",version="0.1.0"}"#] == 1)
        #expect(samples["islet_start_time_seconds"] == 1_800_000_000.5)
        #expect(samples["islet_disk_full"] == 0)
    }

    @Test func aCommitThatDoesNotEndHasAnAge() throws {
        let samples = try samples { service in
            service.holdsCommits = true
            service.turn { $0.take(#"{"op":"activity.start","app":"com.x","type":"T","attributes":{},"contentState":{}}"#) }
            service.pass(milliseconds: 2_499)
            service.turn { _ in }
        }
        #expect(samples["islet_commit_age_seconds"] == 2.5)
    }

    @Test func commitsAreAHistogramInSeconds() throws {
        let samples = try samples { service in
            for span in [90, 2_000, 2_000, 40_000, 70_000_000] {
                service.partition.take(.committed(through: 0, microseconds: span))
            }
        }
        #expect(samples[#"islet_commit_seconds_bucket{le="0.0001"}"#] == 1)
        #expect(samples[#"islet_commit_seconds_bucket{le="0.0025"}"#] == 3)
        #expect(samples[#"islet_commit_seconds_bucket{le="0.05"}"#] == 4)
        #expect(samples[#"islet_commit_seconds_bucket{le="10"}"#] == 4)
        #expect(samples[#"islet_commit_seconds_bucket{le="+Inf"}"#] == 5)
        #expect(samples["islet_commit_seconds_count"] == 5)
        #expect(abs((samples["islet_commit_seconds_sum"] ?? 0) - 70.04409) < 1e-9)
    }

    @Test func everyMetricOfTheServiceIsDescribedAndNoLabelHoldsWhatAClientChose() throws {
        let samples = try samples { service in
            service.send(#"{"op":"activity.start","app":"com.x","type":"Tee","attributes":{},"contentState":{},"device":"d"}"#)
        }
        let described = Set(ServiceMetrics.descriptions.map(\.name))
        #expect(described.count == ServiceMetrics.descriptions.count)
        for sample in samples.keys {
            var name = String(sample.prefix { $0 != "{" })
            for suffix in ["_bucket", "_sum", "_count"] where !described.contains(name) && name.hasSuffix(suffix) {
                name.removeLast(suffix.count)
            }
            #expect(described.contains(name), "\(sample)")
            for chosen in ["com.x", "Tee", "\"d\""] { #expect(!sample.contains(chosen)) }
        }
        // The rest is of the process and its files.
        let shown = Set(samples.keys.map { String($0.prefix { $0 != "{" }) })
        let silent = described.filter { name in !shown.contains { $0.hasPrefix(name) } }
        #expect(silent.isSubset(of: ["islet_resident_bytes", "islet_journal_bytes", "islet_journal_free_bytes"]))
    }

    @Test func aSecondReadingTakesThePlaceOfTheFirst() throws {
        let service = try PartitionService()
        let figures = ServiceMetrics(metrics, version: "0.1.0", guarantee: "full", startedAt: 0)
        for _ in 0..<3 {
            figures.update(service.partition.reading())
            service.send(#"{"op":"service.ping"}"#)
        }
        figures.update(service.partition.reading())
        #expect(metrics.counter("islet_commands_taken_total").value == 3)
    }

    @Test func theRoomOfAFolderIsThatOfItsFiles() throws {
        let empty = try #require(JournalRoom(directory: "/proc/self"))
        #expect(empty.used == 0)
        #expect(JournalRoom(directory: "/nowhere/at/all") == nil)
        let tests = try #require(JournalRoom(directory: "/usr/bin"))
        #expect(tests.used > 0 && tests.free > 0)
    }
}
