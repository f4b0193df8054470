/// What happens to a provider, for logs and figures.
public enum ProviderEvent: Sendable {
    /// The service asks it from now on, about these kinds.
    case registered(controls: [String], widgets: [String])
    /// Its calls are cancelled; it registers again by itself.
    case connectionLost(reason: String)
    /// The service cannot take it now, or another provider declares a kind differently, which may have been killed and
    /// be gone in some seconds, or something is placed that needs what was declared before; it tries again by itself.
    case registrationRefused(ServiceError)
    /// The service would not have an answer, such as one that came twice. What breaks a rule is a failure instead.
    case answerRefused(ServiceError)
    /// A handler threw this, or gave what the contract does not take, such as a timeline without entries; `id` is the
    /// control or the widget, nil where the call was about none.
    case callFailed(kind: String, id: String?, error: any Error)
}
