import IsletClient
import Testing

/// What is declared of kinds, as the service gets it.
@Suite(.timeLimit(.minutes(10))) struct ControlDefinitionTests {
    private func kinds(
        @WidgetBundleBuilder _ controls: () -> [ProviderKind]
    ) async throws -> (frame: RawObject, kinds: [RawObject]) {
        let frame = try await registration(of: controls)
        return (frame, frame["kinds"]?.elements?.compactMap(\.object) ?? [])
    }

    @Test func `a toggle is declared with its preview and its deadlines`() async throws {
        let (frame, kinds) = try await kinds { LampControl(lamp: Lamp()) }
        #expect(frame["op"]?.string == "provider.register")
        #expect(frame["app"]?.string == "com.example.home")
        #expect(frame["capacity"]?.integer == 16)
        #expect(frame["provider"]?.string?.count == 36)
        #expect(
            kinds.map(\.description) == [
                #"{"kind":"lamp","template":"toggle","displayName":"The lamp","description":"Switches it","#
                    + #""tint":"yellow","previewValue":false,"hasValue":true,"valueDeadline":30000,"#
                    + #""actionDeadline":60000}"#
            ])
    }

    @Test func `a configurable kind is declared with its parameters and their defaults`() async throws {
        let (_, kinds) = try await kinds { ThermostatControl() }
        let kind = try #require(kinds.first)
        #expect(kind["template"]?.string == "button")
        #expect(kind["previewValue"]?.description == #"{"degrees":0,"room":"kitchen"}"#)
        #expect(kind["hasValue"]?.bool == true)
        #expect(kind["actionHint"]?.string == "Opens the window")
        #expect(kind["privacySensitive"]?.bool == true)
        #expect(kind["authenticationPolicy"]?.string == "requiresAuthentication")
        #expect(kind["promptsForUserConfiguration"]?.bool == true)
        #expect(kind["reloadsSiblings"]?.bool == true)
        #expect(
            kind["parameters"]?.elements?.map(\.description) == [
                #"{"name":"room","type":"string","title":"Room","default":"kitchen","dynamicOptions":true}"#,
                #"{"name":"scale","type":"enum","default":"celsius","#
                    + #""options":[{"value":"celsius"},{"value":"fahrenheit"}]}"#,
                #"{"name":"offset","type":"integer","isOptional":true}"#,
            ])
    }

    @Test func `a button without a provider has no value`() async throws {
        let (_, kinds) = try await kinds {
            StaticControlConfiguration(kind: "bell") { ControlWidgetButton("Bell", action: TestControl()) }
        }
        #expect(
            kinds.map(\.description) == [
                #"{"kind":"bell","template":"button","displayName":"Bell","hasValue":false}"#
            ])
    }

    @Test func `each instance has an id of its own`() async throws {
        let first = ProviderService { LampControl(lamp: Lamp()) }
        let second = ProviderService { LampControl(lamp: Lamp()) }
        #expect(first.id != second.id)
    }

    @Test func `what cannot be registered is refused before`() async throws {
        let session = IsletSession(app: "com.example.home", endpoints: .free)
        await #expect(throws: IsletError.invalid("the kind 'test' is declared twice")) {
            try await ProviderService(session: session) {
                TestControl()
                TestControl()
            }.run()
        }
        await #expect(throws: IsletError.invalid("a provider serves at least one kind")) {
            try await ProviderService(session: session) {}.run()
        }
        await #expect(throws: IsletError.invalid("a provider's capacity is 1 to 1 024")) {
            try await ProviderService(session: session, capacity: 0) { TestControl() }.run()
        }
        await #expect(throws: IsletError.notConfigured) {
            try await ProviderService { TestControl() }.run()
        }
    }

    @Test func `a default that is no number for JSON is refused where its kind is declared`() async throws {
        let session = IsletSession(app: "com.example.home", endpoints: .free)
        let error = await #expect(throws: IsletError.self) {
            try await ProviderService(session: session) {
                AppIntentControlConfiguration(kind: "dimmer", intent: DimmerIntent.self) { _ in
                    ControlWidgetButton("Dimmer", action: TestControl())
                }
            }.run()
        }
        guard case .invalid(let message)? = error else {
            Issue.record("not refused as invalid: \(String(describing: error))")
            return
        }
        #expect(message.hasPrefix("dimmer: the defaults of its configuration cannot be written as JSON"))
    }
}

/// A configuration that JSON does not have.
private struct DimmerIntent: ControlConfigurationIntent {
    var level = Double.infinity

    static let parameters: [IntentParameter] = [.number("level")]
}
