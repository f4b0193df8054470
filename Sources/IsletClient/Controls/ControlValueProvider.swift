/// Computes the value of all controls of a kind.
///
///     struct TorchProvider: ControlValueProvider {
///         let previewValue = false
///         func currentValue() async throws -> Bool { try await torch.isLit }
///     }
///
/// One instance serves all controls of its kind, several at a time.
public protocol ControlValueProvider: Sendable {
    /// What the kind's controls are about; `Bool` for most toggles.
    associatedtype Value: Sendable & Codable

    /// What the gallery shows, and a control whose value is not known yet: the look of something that is off.
    var previewValue: Value { get }

    /// The truth, now. The service waits for it as long as the kind's deadline says, then cancels the task.
    ///
    /// - Throws: anything; the control keeps its last value and the service asks again later. With
    ///   ``ProviderCallError/retryable(_:)`` it may ask another provider at once.
    func currentValue() async throws -> Value
}

/// Computes the value of controls that a person configures.
public protocol AppIntentControlValueProvider: Sendable {
    /// What a person configures.
    associatedtype Configuration: ControlConfigurationIntent
    /// What the kind's controls are about.
    associatedtype Value: Sendable & Codable

    /// What the gallery shows, and a control whose value is not known yet.
    func previewValue(configuration: Configuration) -> Value

    /// The truth about what is configured, now; else as ``ControlValueProvider/currentValue()``.
    func currentValue(configuration: Configuration) async throws -> Value
}
