package import IsletCore

/// Whether and how a client may try a refused command again.
package enum RetryAdvice: UInt8, Sendable {
    /// The same command will be refused again.
    case never
    /// The same command may succeed later.
    case later
    /// After a look at the present state, another command may succeed.
    case refresh

    package var wireName: StaticString {
        switch self {
        case .never: "never"
        case .later: "later"
        case .refresh: "refresh"
        }
    }
}

extension Refusal {
    /// The contract's error code.
    package var code: StaticString {
        switch self {
        case .badMessage: "badMessage"
        case .unknownOp: "unknownOp"
        case .unknownField: "unknownField"
        case .missingField: "missingField"
        case .badField, .badConfiguration, .badRendering, .badDeclaration: "badField"
        case .implausibleDate: "implausibleDate"
        case .notFound, .kindUnknown, .providerUnknown, .groupUnknown: "notFound"
        case .revisionConflict, .keyHeld, .kindConflict, .groupExists, .groupHasKeys: "conflict"
        case .badAnswer, .badTimeline: "badAnswer"
        case .notAMember: "unauthorized"
        case .unknownCall: "unknownCall"
        case .expired: "expired"
        case .busy: "busy"
        case .requestReused: "requestReused"
        case .outcomeUnknown: "outcomeUnknown"
        case .tooOld: "tooOld"
        case .tooMany: "tooMany"
        case .quotaExceeded, .tooManyAppsOnDevice, .tooMuchDeclared: "quotaExceeded"
        case .unavailable, .backupFailed: "unavailable"
        case .authorization(.attributesTooLarge): "attributesTooLarge"
        case .authorization(.denied), .authorization(.muted): "denied"
        case .authorization(.globalMaximumExceeded): "globalMaximumExceeded"
        case .authorization(.targetMaximumExceeded): "targetMaximumExceeded"
        case .authorization(.visibility): "visibility"
        case .authorization(.reconnectNotPermitted): "reconnectNotPermitted"
        }
    }

    package var retry: RetryAdvice {
        switch self {
        case .badMessage, .unknownOp, .unknownField, .missingField, .badField, .implausibleDate, .notFound,
            .requestReused, .tooMany, .authorization(.attributesTooLarge), .authorization(.reconnectNotPermitted),
            .unavailable(.clockNotManual), .unavailable(.ruleOff), .unavailable(.storeInMemory),
            .unavailable(.wrongEndpoint), .backupFailed, .kindUnknown, .providerUnknown, .badConfiguration,
            .badRendering, .badDeclaration, .badAnswer, .badTimeline, .unknownCall, .notAMember, .groupUnknown:
            .never
        case .expired, .busy, .quotaExceeded, .tooManyAppsOnDevice, .tooMuchDeclared, .unavailable(.stopping),
            .unavailable(.diskFull), .unavailable(.backupRunning), .unavailable(.noProvider),
            .unavailable(.providerFailed), .unavailable(.providerTimedOut), .authorization(.denied),
            .authorization(.muted), .authorization(.globalMaximumExceeded), .authorization(.targetMaximumExceeded),
            .authorization(.visibility):
            .later
        case .revisionConflict, .keyHeld, .kindConflict, .groupExists, .groupHasKeys, .outcomeUnknown, .tooOld: .refresh
        }
    }

    /// At most this many characters of a frame are repeated in an error.
    static let maximumQuote = 128

    /// One sentence for a person.
    package func message(_ frame: Span<UInt8>) -> String {
        switch self {
        case .badMessage(let reason, let offset): "\(reason.sentence) (at byte \(offset))"
        case .unknownOp(let op): "there is no op '\(frame.quoted(op))'"
        case .unknownField(let name): "the op has no field '\(frame.quoted(name))'"
        case .missingField(let field): "the field '\(field.path)' is missing"
        case .badField(let field, let reason): "the field '\(field.path)' \(reason.sentence)"
        case .implausibleDate(let field, let meant):
            "the field '\(field.path)' is not in milliseconds since 1970"
                + (meant.map { "; \($0.milliseconds) was probably meant" } ?? "")
        case .notFound: "there is no such entity in this app"
        case .kindUnknown(let kind): "no provider has declared the kind '\(frame.quoted(kind))'"
        case .providerUnknown: "no such provider is registered on this connection"
        case .badConfiguration(let name): "the configuration does not fit the parameter '\(Self.quoted(name))'"
        case .badRendering(let member, let reason):
            "the member '\(Self.quoted(member))' of the rendering \(reason.sentence)"
        case .badDeclaration(let bad): "\(bad.path) \(bad.reason.sentence)"
        case .kindConflict(let conflict): conflict.sentence
        case .badAnswer(_, let reason): "the answer \(reason.sentence)"
        case .badTimeline(_, let bad): bad.sentence
        case .notAMember(let group): "the app is no member of the group '\(frame.quoted(group))'"
        case .groupUnknown(let group): "there is no group '\(frame.quoted(group))'"
        case .groupExists(let group): "there is a group '\(frame.quoted(group))' already"
        case .groupHasKeys(let group, let count):
            "the group '\(frame.quoted(group))' has \(count) \(count == 1 ? "key" : "keys"), which are deleted before it is removed"
        case .unknownCall: "this provider was not asked that, or has answered already"
        case .revisionConflict(let present): "the entity has revision \(present)"
        case .keyHeld(let holder, _): "the key is held by the open activity \(holder)"
        case .expired: "its ttl was over before it could be executed"
        case .busy(let retryAfter): "too much is waiting; try again in \(retryAfter) ms"
        case .requestReused: "this client has used this req for another command"
        case .outcomeUnknown:
            "this req, or a higher number of this client, is not remembered any more: it is not executed now, and may "
                + "have been before"
        case .tooOld(let oldest): "the oldest event that is kept is \(oldest); take a snapshot"
        case .tooMany(let limit): "that is more than \(limit)"
        case .quotaExceeded(let limit): "the limit of \(limit) is reached"
        case .tooManyAppsOnDevice(let limit):
            "\(limit) apps have settings of their own on this device or are in the background there, which is the limit: "
                + "set one back to what holds on all devices, or report one in the foreground or uninstalled"
        case .tooMuchDeclared(let limit):
            "the declarations of all kinds together would have more than \(limit) bytes, which is the limit: "
                + "declare less, or first declare other kinds with less"
        case .unavailable(let reason): reason.sentence
        case .backupFailed(let reason): "there is no backup: \(reason)"
        case .authorization(let refusal): refusal.sentence
        }
    }
}

extension Refusal {
    /// Text that an error repeats, cut, since it may be anything.
    static func quoted(_ text: [UInt8]) -> String {
        text.span.quoted(FrameRange(0..<text.count), hasEscapes: false)
    }
}

extension BadDeclaration {
    /// The member from the registration on, such as `kinds[0].parameters[1].type`.
    var path: String { member.isEmpty ? "\(array.name)[\(index)]" : "\(array.name)[\(index)].\(member)" }
}

extension Span<UInt8> {
    /// Text of the frame that an error repeats: with its escapes read, and cut, since it may be anything.
    func quoted(_ range: FrameRange, hasEscapes: Bool = true) -> String {
        let text = JSONText(range: range, hasEscapes: hasEscapes).string(in: self)
        guard text.unicodeScalars.count > Refusal.maximumQuote else { return text }
        var cut = String.UnicodeScalarView()
        cut.append(contentsOf: text.unicodeScalars.prefix(Refusal.maximumQuote))
        return String(cut) + "…"
    }
}

extension Field {
    /// The name in errors, with the field that it stands in.
    var path: String {
        switch self {
        case .after: "dismissalPolicy.after"
        default: "\(name)"
        }
    }
}

extension Refusal.BadMessage {
    var sentence: String {
        switch self {
        case .emptyFrame: "the frame is empty"
        case .frameTooLong: "a frame has at most 65536 bytes"
        case .tooManyFrames: "a message has at most 256 commands"
        case .invalidJSON: "the frame is not well-formed JSON"
        case .invalidUTF8: "the frame is not well-formed UTF-8"
        case .notAnObject: "the frame is not one JSON object"
        case .tooDeep: "the JSON is nested deeper than 64"
        }
    }
}

extension Refusal.BadField {
    var sentence: String {
        switch self {
        case .wrongType: "has the wrong type"
        case .tooLong: "is too long"
        case .badCharacters: "has characters that are not allowed, or none"
        case .outOfRange: "is out of range"
        case .notAUUID: "is not a UUID"
        case .unknownValue: "has a value that is not known"
        case .twice: "stands twice"
        case .backwards: "would move the clock back"
        case .badCursor: "is not a cursor of this list, or of before a restart: begin with the first page"
        case .notAllowedHere: "does not go together with another field of the command"
        case .missing: "is missing"
        case .unknown: "does not exist"
        }
    }
}

extension Refusal.Unavailable {
    var sentence: String {
        switch self {
        case .clockNotManual: "the clock of this service is not manual"
        case .ruleOff: "the rule that this command needs is off"
        case .stopping: "the service is stopping"
        case .diskFull: "the disk is full: the service goes on when there is room"
        case .storeInMemory: "everything is in memory: there is nothing to copy"
        case .backupRunning: "another backup is being made"
        case .wrongEndpoint: "this op belongs on another endpoint"
        case .noProvider: "no provider of this kind is there"
        case .providerFailed: "the provider failed"
        case .providerTimedOut: "the provider did not answer in time"
        }
    }

    package var wireName: StaticString {
        switch self {
        case .clockNotManual: "clockNotManual"
        case .ruleOff: "ruleOff"
        case .stopping: "stopping"
        case .diskFull: "diskFull"
        case .storeInMemory: "storeInMemory"
        case .backupRunning: "backupRunning"
        case .wrongEndpoint: "wrongEndpoint"
        case .noProvider: "noProvider"
        case .providerFailed: "providerFailed"
        case .providerTimedOut: "providerTimedOut"
        }
    }
}

extension Refusal.AuthorizationRefusal {
    var sentence: String {
        switch self {
        case .attributesTooLarge(let bytes, let limit):
            "attributes and contentState have \(bytes) of \(limit) bytes together"
        case .denied: "Live Activities are switched off for this app"
        case .muted(let until): "a person dismissed this key; it is muted until \(until.milliseconds)"
        case .globalMaximumExceeded(let limit): "the device has \(limit) open activities already"
        case .targetMaximumExceeded(let limit): "the app has \(limit) open activities on this device already"
        case .visibility: "the app is in the background"
        case .reconnectNotPermitted: "an activity with this id exists"
        }
    }
}

extension BadTimeline {
    var sentence: String {
        let place = index.map { "entries[\($0)]" } ?? "the timeline"
        return switch reason {
        case .emptyTimeline: "the timeline has no entries"
        case .tooManyEntries: "the timeline has more than \(limit ?? 0) entries"
        case .entriesOutOfOrder: "\(place) is earlier than the entry before"
        case .badEntry:
            "\(place) is no entry: it needs a date, content that is an object where it has some, and no other members "
                + "than those of the contract"
        case .implausibleDate: "the date of \(place) is not in milliseconds since 1970"
        case .linksNotAllowed: "\(place) has links, which this family does not have"
        case .badRelevance: "the relevance of \(place) is no score with a duration"
        case .badPolicy: "the policy is none of atEnd, never and {\"after\":ms}"
        case .needsLoginEntries: "what asks for a login is one entry"
        }
    }
}

extension BadTimeline.Reason {
    package var wireName: StaticString {
        switch self {
        case .emptyTimeline: "emptyTimeline"
        case .tooManyEntries: "tooManyEntries"
        case .entriesOutOfOrder: "entriesOutOfOrder"
        case .badEntry: "badEntry"
        case .implausibleDate: "implausibleDate"
        case .linksNotAllowed: "linksNotAllowed"
        case .badRelevance: "badRelevance"
        case .badPolicy: "badPolicy"
        case .needsLoginEntries: "needsLoginEntries"
        }
    }
}

extension KindConflict {
    fileprivate var sentence: String {
        let difference = "the kind '\(Refusal.quoted(kind))' is declared with another '\(member)'"
        guard placed > 0 else { return difference }
        return difference
            + ", which what is placed of it (\(placed)) needs: remove that first, or declare the kind as before"
    }
}
