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
    case unavailable(Unavailable)
    /// A backup could not be made; why, in the system's words.
    case backupFailed(String)
    /// Apple's own refusals (apple-semantics 2.4).
    case authorization(AuthorizationRefusal)

    /// Why a frame is no command.
    package enum BadMessage: UInt8, Sendable, CaseIterable {
        case emptyFrame, frameTooLong, tooManyFrames, invalidJSON, invalidUTF8, notAnObject, tooDeep, missingOp
    }

    /// Why a field's value is refused.
    package enum BadField: UInt8, Sendable, CaseIterable {
        case wrongType, tooLong, badCharacters, outOfRange, notAUUID, unknownValue, twice, backwards, badCursor
        /// The field has no place beside another one of the command.
        case notAllowedHere
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

/// All fields that a command may have, for errors that name theirs.
package enum Field: UInt8, Sendable, CaseIterable {
    case op, req, client, ttl, ifRevision, minSeq, source, ack
    case app, type, attributes, contentState, staleDate, relevanceScore, style, startDate, alert, pushType
    case device, key, id, background, ifExists, timestamp, dismissalPolicy, after, by, to
    case state, order, limit, cursor, activitiesEnabled, frequentPushesEnabled, event
    case nonce, apps, prefix, credit, from, path

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
        }
    }
}
