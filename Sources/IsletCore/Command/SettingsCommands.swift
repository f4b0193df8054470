/// An app, on one device or on all.
package struct SettingsAddress: Equatable, Sendable, BitwiseCopyable {
    package var app: FrameRange
    /// Nil: for all devices, and for activities without a device.
    package var device: FrameRange?

    package init(app: FrameRange, device: FrameRange?) {
        self.app = app
        self.device = device
    }
}

/// `settings.set`: a person's switches, as Apple's `ActivityAuthorizationInfo` shows them; nil leaves one as it is.
package struct SettingsSet: Equatable, Sendable, BitwiseCopyable {
    package var address: SettingsAddress
    package var activitiesEnabled: Bool?
    package var frequentPushesEnabled: Bool?

    package init(address: SettingsAddress) {
        self.address = address
    }
}

/// What a device reports.
package enum DeviceEventKind: UInt8, Sendable, BitwiseCopyable {
    case lock, unlock, collapse, leave, reboot
    /// Begins and ends StandBy, and WidgetKit's developer mode.
    case standByStart, standByEnd, developerModeOn, developerModeOff
    /// All its widgets are drawn anew.
    case localeChange, appearanceChange, locationChange
    /// These name an `app`; the last two begin and end an audio or navigation session.
    case appForeground, appBackground, uninstall, sessionStart, sessionEnd
}

/// `device.event`.
package struct DeviceEvent: Equatable, Sendable, BitwiseCopyable {
    package var device: FrameRange
    package var kind: DeviceEventKind
    /// Present for the kinds that name an app.
    package var app: FrameRange?

    package init(device: FrameRange, kind: DeviceEventKind, app: FrameRange?) {
        self.device = device
        self.kind = kind
        self.app = app
    }
}

/// `clock.advance`: moves the manual clock.
package enum ClockAdvance: Equatable, Sendable, BitwiseCopyable {
    case by(Milliseconds)
    case to(Instant)
}
