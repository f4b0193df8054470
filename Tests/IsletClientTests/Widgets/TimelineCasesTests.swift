import Foundation
import IsletClient
import Synchronization
import Testing

/// The table that the Python client is held against too (test_islet_py_misfits.py): what handlers of timelines give
/// that cannot be shown fails its call, and is no fault: after sixteen the service drops a provider with all its kinds.
@Suite(.timeLimit(.minutes(10))) struct TimelineCasesTests {
    private static let path = #filePath.replacing(
        "IsletClientTests/Widgets/TimelineCasesTests.swift", with: "EndToEnd/support/timeline_cases.json")

    private struct Case {
        let name: String
        let timeline: Timeline<WeatherEntry>
        let family: WidgetFamily
        /// What is in the message of the failure; nil: it is shown.
        let says: String?

        init(_ members: RawObject) throws {
            name = try #require(members["name"]?.string)
            family = members["family"]?.string.flatMap(WidgetFamily.init(rawValue:)) ?? .systemMedium
            let given = try #require(members["entries"]?.elements).map { try Self.entry(try #require($0.object)) }
            let entries = (0..<(members["times"]?.integer ?? 1)).flatMap { _ in given }
            if members["needsLogin"]?.bool == true, entries.count == 1 {
                timeline = .needsLogin(entries[0])
            } else {
                let after = members["policy"]?.object?["after"]?.integer
                timeline = Timeline(entries: entries, policy: after.map { .after(Self.date($0)) } ?? .atEnd)
            }
            says = members["says"]?.string
        }

        private static func date(_ milliseconds: Int64) -> Date {
            Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        }

        private static func entry(_ members: RawObject) throws -> WeatherEntry {
            func url(ofBytes count: RawJSON?) throws -> URL? {
                guard let count = count?.integer else { return nil }
                let url: URL = try #require(URL(string: String(repeating: "x", count: Int(count))))
                return url
            }
            var entry = WeatherEntry(date: date(try #require(members["date"]?.integer)), degrees: 1)
            if let score = members["score"]?.double {
                entry.relevance = .init(score: Float(score), duration: members["duration"]?.double ?? 0)
            }
            entry.widgetURL = try url(ofBytes: members["urlBytes"])
            for link in members["links"]?.object?.members ?? [] {
                let url: URL = try #require(link.value.string.flatMap(URL.init(string:)))
                entry.widgetLinks[link.name] = url
            }
            if let url = try url(ofBytes: members["linkBytes"]) { entry.widgetLinks["a"] = url }
            return entry
        }

        /// A `Date` is never sent as one that the service does not take, and one entry alone can need a login.
        static func canBeSaid(_ members: RawObject) -> Bool {
            let says = members["says"]?.string ?? ""
            return !says.contains("is no date") && !says.contains("needs a login")
        }
    }

    @Test func `what cannot be shown fails its call with plain words, and the provider stays`() async throws {
        let text = try String(contentsOf: URL(filePath: Self.path), encoding: .utf8)
        let rows = try #require(RawObject(Array(text.utf8))?["cases"]?.elements).compactMap(\.object)
        let cases = try rows.filter(Case.canBeSaid).map(Case.init)
        #expect(cases.count > 20)
        let given = Mutex<Timeline<WeatherEntry>>(Timeline(entries: [], policy: .atEnd))
        let provider = WeatherProvider(timeline: { _ in given.withLock(\.self) })
        try await withSession { connection in
            let (failures, failed) = AsyncStream.makeStream(of: String.self)
            let (registrations, registered) = AsyncStream.makeStream(of: Void.self)
            let service = ProviderService(
                session: Islet.session,
                onEvent: { event in
                    switch event {
                    case .registered: registered.yield()
                    case .callFailed(_, _, let error): failed.yield("\(error)")
                    case .answerRefused(let error): failed.yield("refused: \(error)")
                    case .connectionLost(let reason): failed.yield("lost: \(reason)")
                    case .registrationRefused(let error): failed.yield("not registered: \(error)")
                    }
                }
            ) {
                WeatherWidget(provider: provider).body
                    .supportedFamilies([.systemSmall, .systemMedium, .accessoryInline])
            }
            let running = Task { try await service.run() }
            try await within { for await _ in registrations { return } }
            var said = failures.makeAsyncIterator()
            for each in cases {
                given.withLock { $0 = each.timeline }
                let id = try await WidgetCenter.shared.add(kind: "weather", family: each.family)
                if let says = each.says {
                    let message = await said.next() ?? ""
                    #expect(message.contains(says), "\(each.name): \(message)")
                } else {
                    // Each is answered, and so none of those before was a fault too many.
                    try await within {
                        while try await WidgetCenter.shared.widget(id)?.members["timelineAt"] == nil {
                            await Task.yield()
                        }
                    }
                }
            }
            running.cancel()
            try await running.value
            failed.finish()
            #expect(await said.next() == nil)
        }
    }
}
