/// Why an activity may not start, in Apple's twelve cases and under Apple's names.
public enum ActivityAuthorizationError: String, Error, Sendable, Hashable, CaseIterable {
    /// Attributes and content together are larger than the limit (4 KB).
    case attributesTooLarge
    /// The device does not support Live Activities.
    case unsupported
    /// The person switched them off for the app.
    case denied
    /// The device is at its maximum already.
    case globalMaximumExceeded
    /// The app is at its maximum on this device already.
    case targetMaximumExceeded
    /// The app lacks the needed declaration.
    case unsupportedTarget
    /// The app is in the background.
    case visibility
    /// The activity could not be saved.
    case persistenceFailure
    /// The caller has no process identity.
    case missingProcessIdentifier
    /// The caller lacks the entitlement.
    case unentitled
    /// The id is none.
    case malformedActivityIdentifier
    /// An activity that exists, or existed, cannot be made again.
    case reconnectNotPermitted
}
