public import FoundationEssentials

/// An action that a control or a widget performs.
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

    /// Does it. What it changes must be in place when it returns: the control's value, or the widget's timeline, is
    /// asked for next.
    ///
    /// - Throws: anything; what was shown before is then shown again.
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
    /// A text that the control shows for a moment; nil: none. It stands with the control, beside the value that is asked
    /// for after the action, until the next value or action. A widget has no place for it.
    var status: String? { get }
    /// What is to be opened, told by the event of the control's action: at most 2 048 bytes, and a longer one is left out;
    /// nil: nothing. A widget opens by its taps.
    var url: URL? { get }
}

extension IntentResult {
    /// Nothing.
    public var url: URL? { nil }
}

/// The usual result of an action.
public struct IntentResultContainer: IntentResult, Hashable {
    /// A text that the control shows for a moment.
    public var status: String?
    /// What is to be opened.
    public var url: URL?

    /// A result of these.
    public init(status: String? = nil, url: URL? = nil) {
        self.status = status
        self.url = url
    }
}

extension IntentResult where Self == IntentResultContainer {
    /// It is done.
    public static func result() -> IntentResultContainer { IntentResultContainer() }

    /// It is done, and the control shows this for a moment.
    public static func result(status: String) -> IntentResultContainer { IntentResultContainer(status: status) }

    /// It is done, and this is to be opened.
    public static func result(opening url: URL, status: String? = nil) -> IntentResultContainer {
        IntentResultContainer(status: status, url: url)
    }
}
