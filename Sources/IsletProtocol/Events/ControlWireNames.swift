package import IsletCore

// The contract's words for the core's cases of controls, as in `WireNames.swift`.

extension ControlState {
    package var wireName: StaticString {
        switch self {
        case .loading: "loading"
        case .preview: "preview"
        case .shown: "shown"
        case .reloading: "reloading"
        case .acting: "acting"
        case .authenticating: "authenticating"
        case .disabled: "disabled"
        case .removed: "removed"
        }
    }
}

extension ControlTemplate {
    package var wireName: StaticString {
        switch self {
        case .toggle: "toggle"
        case .button: "button"
        }
    }
}

extension ControlValueSource {
    package var wireName: StaticString {
        switch self {
        case .preview: "preview"
        case .provider: "provider"
        case .optimistic: "optimistic"
        }
    }
}

extension CallFailure {
    package var wireName: StaticString {
        switch self {
        case .none: "none"
        case .noProvider: "noProvider"
        case .providerLost: "providerLost"
        case .timedOut: "timedOut"
        case .threw: "threw"
        case .badAnswer: "badAnswer"
        case .busy: "busy"
        case .unknownOutcome: "unknownOutcome"
        }
    }
}

extension ControlCause {
    package var wireName: StaticString {
        switch self {
        case .command: "command"
        case .request: "request"
        case .push: "push"
        case .person: "person"
        case .action: "action"
        case .sibling: "sibling"
        case .configuration: "configuration"
        case .registration: "registration"
        case .retry: "retry"
        case .provider: "provider"
        case .timeout: "timeout"
        case .providerLost: "providerLost"
        case .authentication: "authentication"
        case .lock: "lock"
        case .unlock: "unlock"
        case .recovery: "recovery"
        case .uninstall: "uninstall"
        }
    }
}

extension ControlAuthenticationPolicy {
    package var wireName: StaticString {
        switch self {
        case .alwaysAllowed: "alwaysAllowed"
        case .requiresAuthentication: "requiresAuthentication"
        case .requiresLocalDeviceAuthentication: "requiresLocalDeviceAuthentication"
        }
    }
}

extension ControlEventName {
    package var wireName: StaticString {
        switch self {
        case .added: "control.added"
        case .configured: "control.configured"
        case .shown: "control.shown"
        case .failed: "control.failed"
        case .reloading: "control.reloading"
        case .acting: "control.acting"
        case .performed: "control.performed"
        case .authenticating: "control.authenticating"
        case .cancelled: "control.cancelled"
        case .redacted: "control.redacted"
        case .revealed: "control.revealed"
        case .removed: "control.removed"
        }
    }
}
