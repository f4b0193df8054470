/// Where a placed control stands (apple-semantics 4.2).
package enum ControlState: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Its first value is asked for, or the first one since it was configured: the preview is shown.
    case loading
    /// The first value failed: the preview is shown, the truth is unknown, and it is asked for again.
    case preview
    /// A value of the provider is shown.
    case shown
    /// A value is shown while a newer one is asked for.
    case reloading
    /// Its action runs; a toggle shows the value that was wished for.
    case acting
    /// Its action waits until the device is unlocked.
    case authenticating
    /// Drawn, but without interaction, as its provider says.
    case disabled
    /// Gone for good.
    case removed
}

/// What a control is drawn as.
package enum ControlTemplate: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// `ControlWidgetToggle`: on or off, and an action that sets one of the two.
    case toggle
    /// `ControlWidgetButton`: an action; no state of its own.
    case button
}

/// Where the value that a control shows comes from.
package enum ControlValueSource: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The kind's `previewValue`: the truth is unknown.
    case preview
    /// The provider.
    case provider
    /// A tap, whose action is not through yet.
    case optimistic
}

/// Why a control changed.
package enum ControlCause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// A command about this control.
    case command
    /// A reload that was asked for: by id, kind or app, or by a reader that wants a fresh value.
    case request
    case push
    /// A person tapped.
    case person
    /// An action was through: its control's value is asked for.
    case action
    /// An action of another control of a kind that reloads its siblings.
    case sibling
    case configuration
    /// A provider of its kind came.
    case registration
    /// The time of another try after a failure.
    case retry
    /// A provider's answer.
    case provider
    case timeout
    case providerLost
    /// The device was unlocked, so that an action may run, or was not in time.
    case authentication
    case lock
    case unlock
    /// The service was restarted.
    case recovery
    case uninstall
}

/// The name of a control's event.
package enum ControlEventName: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, configured, shown, failed, reloading, acting, performed, authenticating, cancelled, redacted, revealed
    case removed
}

/// When a control's action may run (App Intents' `IntentAuthenticationPolicy`, apple-semantics 4.1).
package enum ControlAuthenticationPolicy: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case alwaysAllowed
    case requiresAuthentication
    case requiresLocalDeviceAuthentication
}
