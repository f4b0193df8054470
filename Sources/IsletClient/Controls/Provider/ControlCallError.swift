/// What a provider or an action throws to say more than that it failed; every other error is a failure for good.
public enum ControlCallError: Error, Sendable, Hashable {
    /// Another provider of the kind may be asked for the same value, inside the same deadline. Actions never run twice.
    case retryable(String)
    /// Nobody else would do better; the control shows what it did, and its value is asked for later.
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
