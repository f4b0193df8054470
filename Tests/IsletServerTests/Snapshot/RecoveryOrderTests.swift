import IsletJournal
import IsletServer
import Testing

/// A journal has a batch app by app: in whatever order it gives them back, a start finds what was there.
@Suite struct RecoveryOrderTests {
    private static let apps = ["com.a", "com.b", "com.c"]
    private static let steps = 300
    /// Restarts at each place that is looked at, each with another order.
    private static let orders: UInt64 = 4
    /// Where the clock stands at first.
    private static let begin: UInt64 = 1_800_000_000_000
    private static let devices = ["phone0", "phone1"]

    private struct Place {
        var state: KeptJournal.State
        var rows: [String]
    }

    @Test(
        "ids change hands, devices report, time passes, and the apps of a batch are read in any order",
        arguments: 1...6)
    func anyOrder(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let service = try PartitionService()
        Self.register(service)
        var places: [Place] = []
        var renewals = 0
        for _ in 0..<Self.steps {
            var count = [1, 2, 5, 40][Int(random.next() % 4)]
            // One id at a time is handed around, so that a batch has several lives of it.
            let only: UInt64? = random.next() % 2 == 0 ? random.next() : nil
            service.turn { partition in
                while count > 0 {
                    partition.take(Self.command(&random, only))
                    count -= 1
                }
            }
            renewals += Self.drain(service).count { $0.contains(#""renews":"#) }
            if random.next() % 6 == 0 { try Self.advance(service, by: random.next() % 40 * 60_000) }
            if random.next() % 8 == 0 { service.sweep() }
            if random.next() % 12 == 0 {
                places.append(Place(state: service.journal.state, rows: Self.rows(of: service)))
            }
        }
        places.append(Place(state: service.journal.state, rows: Self.rows(of: service)))
        for family in ["activity", "control", "widget", "group"] {
            let isThere = places.contains { $0.rows.contains { $0.contains("/\(family)/") } }
            #expect(isThere, "seed \(seed) never has a \(family)")
        }
        for text in ["activity.scheduled", "activity.stale", "activity.dismissed", #""isRedacted":true"#] {
            #expect(service.events.contains { $0.json.contains(text) }, "seed \(seed) never has \(text)")
        }
        #expect(renewals > 0, "seed \(seed) never renews")
        for place in places {
            for _ in 0..<Self.orders {
                let order = SeededGenerator(seed: random.next())
                // The start compares each app's digest with what was written, and refuses where they differ.
                let next = try PartitionService(place.state, order: order)
                #expect(Self.rows(of: next) == place.rows, "seed \(seed), after batch \(place.state.lastBatch)")
            }
        }
    }

    /// A bound of its own, so that the code's cannot grow unnoticed.
    private static let askedAtOnce = 4_096

    @Test("what a start asks providers for is asked in pieces, so that others have their turns in between")
    func startInPieces() throws {
        let service = try PartitionService()
        Self.register(service)
        let count = 2 * Self.askedAtOnce + 100
        for first in stride(from: 0, to: count, by: 100) {
            service.turn { partition in
                for _ in first..<min(first + 100, count) {
                    partition.take(#"{"op":"control.add","app":"com.a","kind":"Torch"}"#)
                }
            }
        }
        _ = Self.drain(service)
        let next = try PartitionService(service.journal.state)
        var failed: [Int] = []
        // Nobody provides the kind any more, which each of them is told.
        for _ in 0..<20 {
            let before = next.events.count
            next.turn { _ in }
            failed.append(next.events.count - before)
        }
        #expect(failed.allSatisfy { $0 <= Self.askedAtOnce }, "\(failed)")
        #expect(failed.reduce(0, +) == count && next.events.count == count, "each once: \(failed)")
    }

    /// The answers that came until now.
    private static func drain(_ service: PartitionService) -> [String] { service.tell(.hasRoom) }

    /// The clock goes on; providers, who never answer, are waited for as long as they may take.
    private static func advance(_ service: PartitionService, by span: UInt64) throws {
        service.turn { $0.take(#"{"op":"clock.advance","by":\#(span)}"#) }
        for _ in 0..<2_000 {
            service.pass(milliseconds: 1_000)
            while service.partition.hasProviderWork, service.partition.continueCalls({ _, _ in .sent }) {}
            if drain(service).contains(where: { $0.contains(#""now":"#) }) { return }
        }
        Issue.record("the clock never arrives")
    }

    /// What is listed, by topic, and in which order devices show it. Of controls and widgets no more: a start asks
    /// their providers anew.
    private static func rows(of service: PartitionService) -> [String] {
        _ = drain(service)
        let shown = apps.flatMap { app in
            devices.map { device in
                service.send(
                    #"{"op":"activity.list","app":"\#(app)","device":"\#(device)","order":"presentation","limit":100}"#)
            }
        }
        #expect(shown.allSatisfy { $0.hasPrefix(#"{"ok":true,"activities":"#) })
        return shown + listed(by: service)
    }

    private static func listed(by service: PartitionService) -> [String] {
        apps.flatMap { app in
            let frames = service.pull(#"{"op":"bulk.snapshot","req":"s","app":"\#(app)","credit":4}"#)
            return zip(frames, frames.dropFirst()).filter { $0.0.hasPrefix("\(app)/") }.map { topic, json in
                let isAsked = topic.contains("/control/") || topic.contains("/widget/")
                return isAsked ? topic : "\(topic) \(json)"
            }.sorted()
        }
    }

    private static func register(_ service: PartitionService) {
        for (number, app) in apps.enumerated() {
            let provider = "bbbbbbbb-0000-4000-8000-00000000000\(number)"
            service.turn { partition in
                partition.take(
                    #"{"op":"provider.register","app":"\#(app)","provider":"\#(provider)","kinds":["#
                        + #"{"kind":"Torch","template":"toggle","privacySensitive":true}],"#
                        + #""widgets":[{"kind":"Forecast","families":["systemSmall"]}]}"#,
                    from: "provider \(app)")
            }
        }
    }

    private static func command(_ random: inout SeededGenerator, _ only: UInt64?) -> String {
        func draw(_ count: UInt64) -> UInt64 { random.next() % count }
        if draw(8) == 0 { return report(&random) }
        let number = (only ?? random.next()) % 8
        let app = apps[Int(draw(3))]
        let head = #""app":"\#(app)","id":"aaaaaaaa-0000-4000-8000-00000000000\#(number)""#
        let content = #""contentState":{"n":\#(draw(100))}"#
        let device = draw(2) == 0 ? #","device":"phone\#(draw(2))""# : ""
        let key = draw(2) == 0 ? #","key":"k\#(draw(4))""# : ""
        // One family has an id for some time, so that more comes of it than refusals.
        switch (only ?? random.next()) / 8 % 4 {
        case 0:
            let soon = begin + draw(300) * 60_000
            let dates = [
                "", #","staleDate":\#(soon)"#, #","style":"transient""#,
                #","startDate":\#(begin + draw(3_000) * 60_000),"alert":{"title":"t","body":"b"}"#,
            ][Int(draw(4))]
            return switch draw(6) {
            case 0, 1:
                #"{"op":"activity.start",\#(head),"type":"T","attributes":{},\#(content)\#(device)\#(key)\#(dates)}"#
            case 2: #"{"op":"activity.update",\#(head),\#(content),"staleDate":\#(soon)}"#
            case 3: #"{"op":"activity.end",\#(head),"dismissalPolicy":"\#(draw(2) == 0 ? "immediate" : "default")"}"#
            case 4: #"{"op":"activity.renew",\#(head),\#(content)}"#
            default: #"{"op":"activity.start","app":"\#(app)","type":"T","attributes":{},\#(content)\#(key)\#(dates)}"#
            }
        case 1:
            return draw(2) == 0
                ? #"{"op":"control.add",\#(head),"kind":"Torch"\#(device)}"# : #"{"op":"control.remove",\#(head)}"#
        case 2:
            return draw(2) == 0
                ? #"{"op":"widget.add",\#(head),"kind":"Forecast","family":"systemSmall"\#(device)}"#
                : #"{"op":"widget.remove",\#(head)}"#
        default:
            let group = #""app":"\#(app)","group":"g\#(draw(2))""#
            return switch draw(6) {
            case 0: #"{"op":"group.create",\#(group),"members":["com.a","com.b"]}"#
            case 1: #"{"op":"group.leave",\#(group)}"#
            case 2: #"{"op":"group.delete",\#(group),"key":"k\#(draw(4))"}"#
            default: #"{"op":"group.set",\#(group),"key":"k\#(draw(4))","value":\#(draw(100))}"#
            }
        }
    }

    /// What a device tells: of itself, or of an app on it.
    private static func report(_ random: inout SeededGenerator) -> String {
        let device = devices[Int(random.next() % 2)]
        let events = [
            "lock", "unlock", "lock", "unlock", "collapse", "leave", "reboot", "standByStart", "standByEnd",
            "localeChange", "appForeground", "appBackground", "uninstall",
        ]
        let event = events[Int(random.next() % UInt64(events.count))]
        let isOfApp = event.hasPrefix("app") || event == "uninstall"
        let app = isOfApp ? #","app":"\#(apps[Int(random.next() % 3)])""# : ""
        return #"{"op":"device.event","device":"\#(device)","event":"\#(event)"\#(app)}"#
    }
}
