/// Where a placed widget stands.
package enum WidgetState: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// It has no entry, and its provider is asked for a timeline: the placeholder is drawn.
    case loading
    /// It has no entry, and nobody is asked: the placeholder is drawn.
    case placeholder
    /// An entry of its timeline is shown.
    case shown
    /// An entry is shown while a newer timeline is asked for.
    case reloading
    /// An action of its own runs; what it shows is marked as invalidated.
    case acting
    /// Gone for good.
    case removed
}

/// When the next timeline is asked for (`TimelineReloadPolicy`).
package enum TimelineReloadPolicy: Equatable, Sendable, BitwiseCopyable {
    /// When the last entry's date is there; the default.
    case atEnd
    /// Not before a date.
    case after(Instant)
    /// Only when its app asks.
    case never
}

/// Why a widget changed.
package enum WidgetCause: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// A command about this widget.
    case command
    /// Its app asked for a reload.
    case request
    case push
    /// The date of an entry.
    case entry
    /// The reload policies.
    case atEnd, after
    /// The time of another try after a failure.
    case retry
    /// A reload that was held may run.
    case held
    case visible, location, locale, appearance, foreground, session, standBy, developerMode
    /// An action was through: its timeline is asked for.
    case action
    case configuration
    /// A provider of its kind came.
    case registration
    /// A provider's answer.
    case provider
    case timeout
    case providerLost
    /// A person tapped.
    case person
    /// The service was restarted.
    case recovery
    /// The order of its device's Smart Stack changed.
    case stack
    case uninstall
}

/// The name of a widget's event.
package enum WidgetEventName: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case added, configured, reloading, timeline, entry, held, failed, acting, performed, tapped, rotated, removed
}

/// Why a reload is not charged to the budget (apple-semantics 5, exempt).
package enum ReloadExemption: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The app is in the foreground.
    case foreground
    /// The app has an audio or navigation session.
    case session
    /// The widget's own app intent.
    case intent
    case locale
    /// Dynamic Type or accessibility settings changed.
    case appearance
    case standBy
    case developerMode
    /// It has nothing to show yet: it was placed or configured. This service's own.
    case placement
}

/// Why a reload is held.
package enum ReloadHold: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case budget
    case spacing
}
