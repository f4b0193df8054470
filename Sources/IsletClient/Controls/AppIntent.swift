/// An action that a control performs.
///
///     struct OpenGarageIntent: AppIntent {
///         func perform() async throws -> some IntentResult {
///             try await garage.open()
///             return .result(status: "Opening")
///         }
///     }
///
/// An action runs at most once for a tap: it is not tried again where it fails, nor where its provider dies.
public protocol AppIntent: Sendable {
    /// What it gives.
    associatedtype PerformResult: IntentResult

    /// Whether it waits until its device is unlocked.
    static var authenticationPolicy: IntentAuthenticationPolicy { get }

    /// Does it. What it changes must be in place when it returns: the control's value is asked for next.
    ///
    /// - Throws: anything; the control then shows what it showed before.
    func perform() async throws -> PerformResult
}

extension AppIntent {
    /// ``IntentAuthenticationPolicy/alwaysAllowed``.
    public static var authenticationPolicy: IntentAuthenticationPolicy { .alwaysAllowed }
}

/// An action that brings about a value: that of a toggle.
public protocol SetValueIntent: AppIntent {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The **new** value, which is set before ``AppIntent/perform()``: absolute, not the opposite of whatever is there.
    var value: Value { get set }
}

/// When an action may run.
public enum IntentAuthenticationPolicy: String, Sendable, Hashable, CaseIterable {
    /// Always.
    case alwaysAllowed
    /// Once the person has authenticated.
    case requiresAuthentication
    /// Once the person has authenticated on this very device.
    case requiresLocalDeviceAuthentication
}

/// What an action gives.
public protocol IntentResult: Sendable {
    /// A text that the control shows until its value is there again; nil: none.
    var status: String? { get }
}

/// The usual result of an action.
public struct IntentResultContainer: IntentResult, Hashable {
    /// A text that the control shows until its value is there again.
    public var status: String?

    /// A result with this text.
    public init(status: String? = nil) {
        self.status = status
    }
}

extension IntentResult where Self == IntentResultContainer {
    /// It is done.
    public static func result() -> IntentResultContainer { IntentResultContainer() }

    /// It is done, and the control shows this until its value is there again.
    public static func result(status: String) -> IntentResultContainer { IntentResultContainer(status: status) }
}
