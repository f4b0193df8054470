/// What happens to a provider, for logs and figures.
public enum ControlProviderEvent: Sendable {
    /// The service asks it from now on.
    case registered(kinds: [String])
    /// Its calls are cancelled; it registers again by itself.
    case connectionLost(reason: String)
    /// The service cannot take it now; it tries again by itself.
    case registrationRefused(ServiceError)
    /// The service would not have an answer, such as one that came twice.
    case answerRefused(ServiceError)
    /// A handler threw this.
    case callFailed(kind: String, control: String?, error: any Error)
}
