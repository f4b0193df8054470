/// Why a command was not executed: the closed set behind the contract's error codes.
///
/// A refusal leaves no state behind, makes no event and uses no sequence number.
package enum Refusal: Error, Equatable, Sendable {
    /// The frame is no command at all.
    case badMessage(BadMessage, offset: Int)
    /// The op as it stands in the frame.
    case unknownOp(FrameRange)
    /// The field's name as it stands in the frame.
    case unknownField(FrameRange)
    case missingField(Field)
    case badField(Field, BadField)
    /// A date that looks like other units; `meant` is what was probably meant, nil where nothing fits.
    case implausibleDate(Field, meant: Instant?)
    case notFound
    /// No provider ever declared this control kind.
    case kindUnknown(FrameRange)
    /// No such provider is registered on this connection; the call that was answered, where one was.
    case providerUnknown(call: FrameRange?)
    /// The configuration does not fit its kind's parameters: the first one that is missing, unknown or of another type.
    case badConfiguration(parameter: [UInt8])
    /// A widget is to be drawn in a way that its kind does not have: the member that does not fit.
    indirect case badRendering(member: [UInt8], BadField)
    /// A declaration of a control kind is malformed.
    indirect case badDeclaration(BadDeclaration)
    /// Another live provider declares the kind differently, or what is placed of it needs what stands.
    indirect case kindConflict(KindConflict)
    /// What a provider answered is of the wrong type or too long.
    case badAnswer(call: FrameRange, BadField)
    /// A timeline that a provider gave is none.
    indirect case badTimeline(call: FrameRange, BadTimeline)
    /// The app is no member of the group, whose name stands there.
    case notAMember(FrameRange)
    /// There is no such group.
    case groupUnknown(FrameRange)
    /// There is such a group already.
    case groupExists(FrameRange)
    /// A group that has keys is not removed.
    case groupHasKeys(FrameRange, count: Int)
    /// The provider was never asked that, or has answered already.
    case unknownCall(FrameRange)
    /// The entity has another revision than `ifRevision`.
    case revisionConflict(present: UInt64)
    /// The key is held by this open activity.
    case keyHeld(by: EntityID, revision: UInt64)
    case expired
    case busy(retryAfter: Milliseconds)
    case requestReused
    case outcomeUnknown
    /// A replay from before the oldest event that is kept.
    case tooOld(oldest: UInt64)
    case tooMany(limit: Int)
    case quotaExceeded(limit: Int)
    /// A device has as many apps with settings of their own, or in the background, as it may.
    case tooManyAppsOnDevice(limit: Int)
    /// What providers declare of kinds has as many bytes, all together, as it may.
    case tooMuchDeclared(limit: Int)
    case unavailable(Unavailable)
    /// A backup could not be made; why, in the system's words.
    case backupFailed(String)
    /// Apple's own refusals (apple-semantics 2.4).
    case authorization(AuthorizationRefusal)

    /// Why a frame is no command.
    package enum BadMessage: UInt8, Sendable, CaseIterable {
        case emptyFrame, frameTooLong, tooManyFrames, invalidJSON, invalidUTF8, notAnObject, tooDeep
    }

    /// Why a field's value is refused.
    package enum BadField: UInt8, Sendable, CaseIterable {
        case wrongType, tooLong, badCharacters, outOfRange, notAUUID, unknownValue, twice, backwards, badCursor
        /// The field has no place beside another one of the command.
        case notAllowedHere
        /// A member of a declaration that must stand does not, or one stands that there is not.
        case missing, unknown
    }

    /// Why something cannot be had here and now.
    package enum Unavailable: UInt8, Sendable, CaseIterable {
        /// `clock.advance` on a clock that is not manual.
        case clockNotManual
        /// The rule that this command needs is off.
        case ruleOff
        case stopping
        /// There is no room on the disk for the journal; it goes on by itself when there is.
        case diskFull
        /// There is nothing to copy: everything is in memory.
        case storeInMemory
        /// A backup is being made already.
        case backupRunning
        /// The operation belongs on another endpoint.
        case wrongEndpoint
        /// Nobody provides the control kind now.
        case noProvider
        /// The provider threw, went away, or answered what it may not.
        case providerFailed
        case providerTimedOut
    }

    /// Those of Apple's `ActivityAuthorizationError` that a server can meet.
    package enum AuthorizationRefusal: Equatable, Sendable {
        case attributesTooLarge(bytes: Int, limit: Int)
        /// Live Activities are switched off for the app.
        case denied
        /// The key is muted after a person dismissed it (a rule, off by default).
        case muted(until: Instant)
        case globalMaximumExceeded(limit: Int)
        case targetMaximumExceeded(limit: Int)
        case visibility
        case reconnectNotPermitted
    }
}

/// What is wrong with a timeline.
package struct BadTimeline: Error, Equatable {
    package enum Reason: UInt8, Sendable, CaseIterable {
        case emptyTimeline, tooManyEntries, entriesOutOfOrder
        /// An unknown member, no date, or a value of another type.
        case badEntry
        case implausibleDate, linksNotAllowed, badRelevance, badPolicy
        /// What asks for a login is one entry.
        case needsLoginEntries
    }

    package var reason: Reason
    /// The place of the entry, from 0.
    package var index: Int?
    package var limit: Int?

    package init(_ reason: Reason, index: Int? = nil, limit: Int? = nil) {
        self.reason = reason
        self.index = index
        self.limit = limit
    }
}

/// What is wrong with one declaration of a registration.
package struct BadDeclaration: Equatable, Sendable {
    /// The array that it stands in: `kinds` or `widgets`.
    package var array: Field = .kinds
    /// Its place there, from 0.
    package var index: Int
    /// The path to the member, such as `parameters[1].type`; empty for the declaration itself.
    package var member: String
    package var reason: Refusal.BadField

    package init(index: Int, member: String, reason: Refusal.BadField) {
        self.index = index
        self.member = member
        self.reason = reason
    }
}

/// How the declaration of a kind differs from the one that other providers, or what is placed, live by.
package struct KindConflict: Equatable, Sendable {
    package var kind: [UInt8]
    /// The member in which the two differ (``ControlKindDeclaration/difference(from:)``, and that of widgets).
    package var member: String
    /// The exact bytes of the declaration that stands, and of the one that is refused.
    package var declared: [UInt8]
    package var offered: [UInt8]
    /// How many controls or widgets are placed that need the member as it stands; 0: another provider lives by it.
    package var placed: Int

    package init(kind: [UInt8], member: String, declared: [UInt8], offered: [UInt8], placed: Int) {
        self.kind = kind
        self.member = member
        self.declared = declared
        self.offered = offered
        self.placed = placed
    }
}

/// All fields that a command may have, for errors that name theirs.
package enum Field: UInt8, Sendable, CaseIterable {
    case op, req, client, ttl, ifRevision, minSeq, source, ack
    case app, type, attributes, contentState, staleDate, relevanceScore, style, startDate, alert, pushType
    case device, key, id, background, ifExists, timestamp, dismissalPolicy, after, by, to
    case state, order, limit, cursor, activitiesEnabled, frequentPushesEnabled, event
    case nonce, apps, prefix, credit, from, path
    case kind, configuration, value, maxAge, parameter, provider, kinds, capacity
    case call, status, isActive, tint, actionHint, disabled, message, retryable
    case widgets, family, rendering, entries, policy, needsLogin, url, link, action, parameters, at, query, identifiers
    case isPreview, group, member, members, name

    /// As it is written in commands.
    package var name: StaticString {
        switch self {
        case .op: "op"
        case .req: "req"
        case .client: "client"
        case .ttl: "ttl"
        case .ifRevision: "ifRevision"
        case .minSeq: "minSeq"
        case .source: "source"
        case .ack: "ack"
        case .app: "app"
        case .type: "type"
        case .attributes: "attributes"
        case .contentState: "contentState"
        case .staleDate: "staleDate"
        case .relevanceScore: "relevanceScore"
        case .style: "style"
        case .startDate: "startDate"
        case .alert: "alert"
        case .pushType: "pushType"
        case .device: "device"
        case .key: "key"
        case .id: "id"
        case .background: "background"
        case .ifExists: "ifExists"
        case .timestamp: "timestamp"
        case .dismissalPolicy: "dismissalPolicy"
        case .after: "after"
        case .by: "by"
        case .to: "to"
        case .state: "state"
        case .order: "order"
        case .limit: "limit"
        case .cursor: "cursor"
        case .activitiesEnabled: "activitiesEnabled"
        case .frequentPushesEnabled: "frequentPushesEnabled"
        case .event: "event"
        case .nonce: "nonce"
        case .apps: "apps"
        case .prefix: "prefix"
        case .credit: "credit"
        case .from: "from"
        case .path: "path"
        case .kind: "kind"
        case .configuration: "configuration"
        case .value: "value"
        case .maxAge: "maxAge"
        case .parameter: "parameter"
        case .provider: "provider"
        case .kinds: "kinds"
        case .capacity: "capacity"
        case .call: "call"
        case .status: "status"
        case .isActive: "isActive"
        case .tint: "tint"
        case .actionHint: "actionHint"
        case .disabled: "disabled"
        case .message: "message"
        case .retryable: "retryable"
        case .widgets: "widgets"
        case .family: "family"
        case .rendering: "rendering"
        case .entries: "entries"
        case .policy: "policy"
        case .needsLogin: "needsLogin"
        case .url: "url"
        case .link: "link"
        case .action: "action"
        case .parameters: "parameters"
        case .at: "at"
        case .query: "query"
        case .identifiers: "identifiers"
        case .isPreview: "isPreview"
        case .group: "group"
        case .member: "member"
        case .members: "members"
        case .name: "name"
        }
    }
}
