/// What a provider or an action throws to say more than that it failed; every other error is a failure for good.
///
/// The control or widget shows the beginning of the text, 256 bytes at most, as its `failureReason` to whoever may read the app,
/// and of every other error its description. Put no secret into it.
public enum ProviderCallError: Error, Sendable, Hashable {
    /// Another provider of the kind may be asked for the same, inside the same deadline. Actions never run twice.
    case retryable(String)
    /// Nobody else would do better; what is shown stays, and the service asks again later.
    case failed(String)

    var message: String {
        switch self {
        case .retryable(let message), .failed(let message): message
        }
    }

    var isRetryable: Bool {
        switch self {
        case .retryable: true
        case .failed: false
        }
    }
}
