import IsletCore
import IsletProtocol

/// Runs the handlers of calls and makes replies of what they give and throw.
struct ProviderCallRunner: Sendable {
    let kinds: KindTable
    let tell: @Sendable (ProviderEvent) -> Void

    /// Runs the handler of one call.
    func reply(to call: ProviderCall) async -> ProviderReply {
        do {
            let call = try await findingEntities(of: call)
            // The person has been told that it failed.
            try Task.checkCancellation()
            let answer = try await ProviderContext.$current.withValue(ProviderContext(call)) {
                switch call.purpose {
                case .control(let request): try await control(call, request)
                case .widget(let request): try await widget(call, request)
                }
            }
            try AnswerCheck(call: call, parameters: parameters(of: call)).check(answer)
            let size = answer.json.count
            guard size <= ProviderLimits.answer else {
                throw ProviderCallError.failed(
                    "the answer has \(size) bytes, and may have \(ProviderLimits.answer)")
            }
            return .answer(answer)
        } catch {
            // Of a call that nobody waits for, nothing needs to be said.
            if !Task.isCancelled { tell(.callFailed(kind: call.kind, id: call.instance, error: error)) }
            guard let error = error as? ProviderCallError else {
                return .failed(message: Self.reason(of: error), isRetryable: false)
            }
            return .failed(message: error.message, isRetryable: error.isRetryable)
        }
    }

    /// What an error says of itself. The name of an enumeration's case says little without that of its type.
    private static func reason(of error: any Error) -> String {
        let (type, description) = (String(describing: type(of: error)), String(describing: error))
        if error is any CustomStringConvertible || description.hasPrefix(type) { return description }
        return "\(type): \(description)"
    }

    /// The call as its handler gets it. The queries have it as it came.
    private func findingEntities(of call: ProviderCall) async throws -> ProviderCall {
        guard !call.configuration.members.isEmpty else { return call }
        return try await ProviderContext.$current.withValue(ProviderContext(call)) {
            do {
                switch call.purpose {
                case .control:
                    guard let control = kinds.control(call.kind) else { return call }
                    return call.configured(try await control.findingEntities(of: call.configuration))
                case .widget:
                    guard let widget = kinds.widget(call.kind) else { return call }
                    return call.configured(try await widget.findingEntities(of: call.configuration))
                }
            } catch {
                guard call.purpose.readsConfiguration else { return call }
                throw error
            }
        }
    }

    private func control(_ call: ProviderCall, _ request: ProviderCall.ControlRequest) async throws -> RawObject {
        guard let control = kinds.control(call.kind) else { throw Self.notDeclared(call.kind) }
        switch request {
        case .value: return try await control.value(call.configuration)
        case .perform(let value): return try await control.perform(call.configuration, value: value)
        case .options(let parameter, let query):
            return try await control.parameters.options(of: parameter, query)
        }
    }

    private func widget(_ call: ProviderCall, _ request: ProviderCall.WidgetRequest) async throws -> RawObject {
        guard let widget = kinds.widget(call.kind) else { throw Self.notDeclared(call.kind) }
        switch request {
        case .timeline(let context): return try await widget.timeline(call.configuration, in: context)
        case .snapshot(let context): return try await widget.snapshot(call.configuration, in: context)
        case .perform(let action, let parameters): return try await widget.perform(action, parameters)
        case .options(let parameter, let query):
            return try await widget.parameters.options(of: parameter, query)
        case .recommendations: return try await widget.recommendations()
        case .relevance: return try await widget.relevance()
        }
    }

    /// Those that recommendations must fit.
    private func parameters(of call: ProviderCall) -> [KindParameter]? {
        switch call.purpose {
        case .widget(.recommendations):
            guard let declaration = try? kinds.widget(call.kind)?.declaration() else { return nil }
            return try? WidgetDeclarations.readOne(declaration.bytes.span).parameters
        case .control, .widget(.timeline), .widget(.snapshot), .widget(.perform), .widget(.options),
            .widget(.relevance):
            return nil
        }
    }

    private static func notDeclared(_ kind: String) -> ProviderCallError {
        .failed("'\(kind)' is not declared here")
    }
}
