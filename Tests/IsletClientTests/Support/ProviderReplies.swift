import IsletClient
import Testing

/// What a provider of these kinds says to calls, one after the other, without its own id.
func replies(
    to calls: String..., @WidgetBundleBuilder kinds: () -> [ProviderKind]
) async throws -> [String] {
    var said: [String] = []
    try await withFakeService { fake in
        await fake.answerCommands { command, _ in
            command["req"] == nil ? nil : ["ok": .bool(true), "pingLimit": .integer(600_000)]
        }
        let run = ProviderRun(IsletSession(app: "com.example.home", endpoints: fake.endpoints), kinds: kinds)
        try await run.registered()
        for call in calls {
            let frame = try #require(RawObject(Array(call.utf8)))
            let id = try #require(frame["call"]?.string)
            await fake.say(frame)
            try await within { await fake.wait { $0.received.contains { $0["call"]?.string == id } } }
            var reply = try #require(await fake.received.first { $0["call"]?.string == id })
            reply["provider"] = nil
            said.append(reply.description)
        }
        try await run.stop()
    }
    return said
}

/// The registration of a provider of these kinds.
func registration(@WidgetBundleBuilder of kinds: () -> [ProviderKind]) async throws -> RawObject {
    var registration: RawObject?
    try await withFakeService { fake in
        let run = ProviderRun(IsletSession(app: "com.example.home", endpoints: fake.endpoints), kinds: kinds)
        try await run.registered()
        registration = await fake.received.first
        try await run.stop()
    }
    return try #require(registration)
}
