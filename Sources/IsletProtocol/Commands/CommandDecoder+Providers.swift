import IsletCore

extension CommandDecoder {
    /// How many calls a provider may take at a time.
    static let capacities: ClosedRange<Int64> = 1...1_024
    /// The longest `status`, `tint` and `actionHint` of an answer, in bytes as they were sent.
    static let maximumAnswerText = 256
    /// The longest `message` of a failure, in bytes as it was sent.
    static let maximumFailureText = 1_024

    /// The longest URL, in bytes as it was sent.
    static let maximumURL = 2_048

    /// `provider.register`. Its declarations are checked here, and read by ``KindDeclarations`` when they are taken.
    func providerRegister(_ frame: Span<UInt8>) throws(Refusal) -> ProviderRegister {
        let app = try requiredText(.app, .app, frame)
        let provider = try requiredID(.provider, frame)
        let kinds = try array(.kinds)
        let widgets = try array(.widgets)
        guard kinds != nil || widgets != nil else { throw .missingField(.kinds) }
        if let kinds { _ = try KindDeclarations.read(frame, at: kinds) }
        if let widgets { _ = try WidgetDeclarations.read(frame, at: widgets) }
        var register = ProviderRegister(app: app, provider: provider, kinds: kinds, widgets: widgets)
        register.capacity = try integer(.capacity, in: Self.capacities, frame) ?? register.capacity
        return register
    }

    func providerAnswer(_ frame: Span<UInt8>) throws(Refusal) -> ProviderAnswer {
        var answer = ProviderAnswer(
            provider: try requiredID(.provider, frame), call: try requiredText(.call, .name, frame))
        answer.value = self[.value]?.range
        answer.status = try carriedText(.status, atMost: Self.maximumAnswerText)
        answer.isActive = try flag(.isActive)
        answer.tint = try carriedText(.tint, atMost: Self.maximumAnswerText)
        answer.actionHint = try carriedText(.actionHint, atMost: Self.maximumAnswerText)
        answer.isDisabled = try flag(.disabled)
        answer.url = try carriedText(.url, atMost: Self.maximumURL)
        answer.entries = try array(.entries)
        answer.policy = self[.policy]?.range
        answer.needsLogin = try flag(.needsLogin)
        return answer
    }

    func providerFail(_ frame: Span<UInt8>) throws(Refusal) -> ProviderFail {
        var fail = ProviderFail(
            provider: try requiredID(.provider, frame), call: try requiredText(.call, .name, frame))
        fail.message = try carriedText(.message, atMost: Self.maximumFailureText)
        fail.isRetryable = try flag(.retryable) ?? fail.isRetryable
        return fail
    }
}
