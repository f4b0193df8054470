/// The contract's causes in plain words.
enum CauseText {
    /// Such as `its stale date came`; nil for one that this command does not know.
    static func reason(_ cause: String) -> String? { reasons[cause] }

    private static let reasons = [
        // Of activities.
        "command": "a client asked for it", "push": "a push asked for it", "staleDate": "its stale date came",
        "startDate": "its start date came", "activeLimit": "it was active for as long as it may be",
        "dismissalPolicy": "its dismissal policy says so", "person": "a person did it", "system": "the system did it",
        "settings": "a switch in the settings was turned", "transient": "it is transient",
        "heartbeat": "of its publisher's heartbeat", "renewal": "it was renewed",
        // Of what is placed.
        "request": "its app asked for a reload", "action": "an action asked for it",
        "sibling": "an action of another one of its kind asked for it", "configuration": "it was configured",
        "registration": "a provider of its kind registered", "retry": "it had failed and its time to try again came",
        "provider": "its provider answered", "timeout": "its provider did not answer in time",
        "providerLost": "its provider was lost", "authentication": "it waited for the device to be unlocked",
        "lock": "the device was locked", "unlock": "the device was unlocked",
        "recovery": "the service was started again", "uninstall": "its app was removed from the device",
        "entry": "the date of an entry came", "atEnd": "its timeline had come to the end",
        "after": "the date of its reload policy came", "held": "a reload that was held was let go",
        "visible": "somebody looks at it", "location": "the device was moved",
        "locale": "the language or region changed",
        "appearance": "the appearance changed", "foreground": "its app came to the foreground",
        "session": "its app is in a session of audio or navigation", "standBy": "the device is in StandBy",
        "developerMode": "developer mode is on", "stack": "its Smart Stack turned",
    ]

    /// What a deadline brings, such as `it goes stale, unless an update comes first`.
    static func outlook(_ cause: String) -> String {
        switch cause {
        case "staleDate": "it goes stale, unless an update comes first"
        case "startDate": "it starts, and its alert is shown"
        case "activeLimit": "it ends: it will have been active for as long as it may be"
        case "dismissalPolicy": "it is removed from the Lock Screen"
        case "heartbeat": "it goes stale or ends, unless its publisher gives a sign of life first"
        case "retry": "its provider is asked again"
        case "entry": "its next entry is shown"
        case "policy": "its provider is asked for the next timeline"
        case "held": "the reload that is held is let go"
        case "relevance": "its relevance is over, and its Smart Stack may turn"
        case "authentication", "authenticationLimit": "the tap that waits for the device to be unlocked is given up"
        case let other: other
        }
    }
}
