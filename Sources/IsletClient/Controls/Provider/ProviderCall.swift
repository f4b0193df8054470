/// One call of the service to a provider.
package struct ProviderCall: Sendable {
    /// What is wanted.
    package enum Purpose: Sendable, Hashable {
        /// The value of a control.
        case value
        /// Its action; with the new value of a toggle.
        case perform(value: Bool?)
        /// The options of a parameter.
        case options(parameter: String)
    }

    /// Unique among the calls of a run, other than the service's id.
    package let number: UInt64
    /// The service's name for it.
    package let id: String
    package let purpose: Purpose
    package let app: String
    package let kind: String
    /// The control's id; nil for options.
    package let control: String?
    package let device: String?
    package let configuration: RawObject
    package let attempt: Int
    /// Who answers later is not heard.
    package let deadline: ContinuousClock.Instant

    /// Reads a frame of the service; nil where it is no call.
    init?(_ frame: RawObject, number: UInt64, now: ContinuousClock.Instant) {
        guard let id = frame["call"]?.string, let kind = frame["kind"]?.string else { return nil }
        switch frame["op"]?.string {
        case "control.value": purpose = .value
        case "control.perform": purpose = .perform(value: frame["value"]?.bool)
        case "control.options":
            guard let parameter = frame["parameter"]?.string else { return nil }
            purpose = .options(parameter: parameter)
        default: return nil
        }
        self.number = number
        self.id = id
        self.kind = kind
        app = frame["app"]?.string ?? ""
        control = frame["control"]?.string
        device = frame["device"]?.string
        configuration = frame["configuration"]?.object ?? [:]
        attempt = frame["attempt"]?.integer.flatMap(Int.init(exactly:)) ?? 1
        let within = frame["within"]?.integer ?? 1_000
        deadline = now + .milliseconds(min(max(0, within), Self.maximumWithin))
    }

    /// The longest deadline, by the contract.
    private static let maximumWithin: Int64 = 60_000
}

/// What a provider says to a call.
package enum ProviderReply: Sendable, Hashable {
    /// These members of `provider.answer`.
    case answer(RawObject)
    /// It failed; another provider may be asked for the same value.
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
            if !message.isEmpty { members["message"] = .text(message, atMost: ControlLimits.message) }
            if isRetryable { members["retryable"] = .bool(true) }
            return members.json.bytes
        }
    }
}
