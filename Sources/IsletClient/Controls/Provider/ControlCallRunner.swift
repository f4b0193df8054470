/// Runs the handlers of calls and makes replies of what they give and throw.
struct ControlCallRunner: Sendable {
    let controls: [String: ControlDefinition]
    let tell: @Sendable (ControlProviderEvent) -> Void

    /// Runs the handler of one call.
    func reply(to call: ProviderCall) async -> ProviderReply {
        guard let control = controls[call.kind] else {
            return .failed(message: "'\(call.kind)' is not declared here", isRetryable: false)
        }
        do {
            return .answer(
                try await ControlContext.$current.withValue(ControlContext(call)) {
                    switch call.purpose {
                    case .value: try await control.value(call.configuration)
                    case .perform(let value): try await control.perform(call.configuration, value: value)
                    case .options(let parameter): try await control.options(of: parameter)
                    }
                })
        } catch {
            // Of a call that nobody waits for, nothing needs to be said.
            if !Task.isCancelled { tell(.callFailed(kind: call.kind, control: call.control, error: error)) }
            guard let error = error as? ControlCallError else {
                return .failed(message: String(describing: error), isRetryable: false)
            }
            return .failed(message: error.message, isRetryable: error.isRetryable)
        }
    }
}
