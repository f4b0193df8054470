/// What a provider says to a call.
package enum ProviderReply: Sendable, Hashable {
    /// These members of `provider.answer`.
    case answer(RawObject)
    /// It failed; another provider may be asked for the same.
    case failed(message: String, isRetryable: Bool)

    /// The frame that says it.
    func frame(call: String, provider: String) -> [UInt8] {
        switch self {
        case .answer(let answer):
            var members: RawObject = [
                "op": .string("provider.answer"), "provider": .string(provider), "call": .string(call),
            ]
            for member in answer.members { members[member.name] = member.value }
            return members.json.bytes
        case .failed(let message, let isRetryable):
            var members: RawObject = [
                "op": .string("provider.fail"), "provider": .string(provider), "call": .string(call),
            ]
            if !message.isEmpty { members["message"] = .text(message, atMost: ProviderLimits.message) }
            if isRetryable { members["retryable"] = .bool(true) }
            return members.json.bytes
        }
    }
}
