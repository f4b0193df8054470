import IsletCore

extension CommandDecoder {
    func settingsAddress(_ frame: Span<UInt8>) throws(Refusal) -> SettingsAddress {
        SettingsAddress(app: try requiredText(.app, .app, frame), device: try text(.device, .name, frame))
    }

    func settingsSet(_ frame: Span<UInt8>) throws(Refusal) -> SettingsSet {
        var set = SettingsSet(address: try settingsAddress(frame))
        set.activitiesEnabled = try flag(.activitiesEnabled)
        set.frequentPushesEnabled = try flag(.frequentPushesEnabled)
        if set.activitiesEnabled == nil, set.frequentPushesEnabled == nil { throw .missingField(.activitiesEnabled) }
        return set
    }

    func deviceEvent(_ frame: Span<UInt8>) throws(Refusal) -> DeviceEvent {
        let device = try requiredText(.device, .name, frame)
        let kind: DeviceEventKind? = try word(
            .event, frame,
            [
                "lock": .lock, "unlock": .unlock, "collapse": .collapse, "leave": .leave, "reboot": .reboot,
                "appForeground": .appForeground, "appBackground": .appBackground, "uninstall": .uninstall,
                "standByStart": .standByStart, "standByEnd": .standByEnd, "developerModeOn": .developerModeOn,
                "developerModeOff": .developerModeOff, "localeChange": .localeChange,
                "appearanceChange": .appearanceChange, "locationChange": .locationChange,
                "sessionStart": .sessionStart, "sessionEnd": .sessionEnd,
            ])
        guard let kind else { throw .missingField(.event) }
        let app = try text(.app, .app, frame)
        switch kind {
        case .lock, .unlock, .collapse, .leave, .reboot, .standByStart, .standByEnd, .developerModeOn,
            .developerModeOff, .localeChange, .appearanceChange, .locationChange:
            if app != nil { throw .badField(.app, .notAllowedHere) }
        case .appForeground, .appBackground, .uninstall, .sessionStart, .sessionEnd:
            if app == nil { throw .missingField(.app) }
        }
        return DeviceEvent(device: device, kind: kind, app: app)
    }

    func clockAdvance(_ frame: Span<UInt8>) throws(Refusal) -> ClockAdvance {
        let span = try integer(.by, frame)
        let date = try date(.to, frame)
        if let span {
            if date != nil { throw .badField(.to, .notAllowedHere) }
            guard span >= 0 else { throw .badField(.by, .backwards) }
            return .by(span)
        }
        guard let date else { throw .missingField(.by) }
        return .to(date)
    }
}
