package import IsletCore

/// A registered provider: fails cleanly once it is gone and its number was given to another.
package struct ProviderRef: Hashable, Sendable, BitwiseCopyable {
    package var number: UInt32
    package var generation: UInt32

    static let none = ProviderRef(number: .max, generation: 0)
}

extension ProviderTable {
    /// The bounds and times of the table; times in milliseconds of real time.
    package struct Limits: Sendable {
        /// Values and options that wait, of one kind.
        package var waitingValues = 65_536
        /// Of which this many may be those of controls and widgets, where all providers of their kind answer nothing: what is
        /// asked for a command has room beside them.
        package var waitingReads = 32_768
        /// And so many where one answers, and is only busy…
        package var nextReads = 1
        /// …or where it is not known: the next one, and the one by which a provider is tried.
        package var doubtfulReads = 2
        /// For how long one that has answered may answer nothing before it counts as such that answers nothing, where its probe
        /// failed as well; one that never answered does with its first probe. Both since others began to wait.
        package var patience: Milliseconds = 10_000
        /// Beyond so many calls of all kinds it holds them back too.
        package var openReads = 393_216
        /// Actions that wait, of one kind.
        package var waitingActions = 1_024
        /// Retries that wait for another provider, of one kind; beyond, the first failure stands.
        package var waitingRetries = 256
        /// Calls that wait or are in flight, of all kinds.
        package var maximumCalls = 524_288
        /// Calls that are over and whose late answers are known as such; beyond, the oldest is no longer known exactly.
        package var lateCalls = 65_536
        /// For how long a late answer is no fault.
        package var lateSpan = Engine.lateActionSpan
        /// For how long after its registration a provider may answer as many calls of an earlier run of the service as its
        /// capacity has, before they count as faults.
        package var strangerSpan: Milliseconds = 60_000
        /// How often each provider is pinged.
        package var pingEvery: Milliseconds = 5_000
        /// How often while it has calls: a connection that is gone shows when something is sent.
        package var pingBusy: Milliseconds = 500
        /// A provider is dropped when nothing was heard of it for so long.
        package var pingLimit: Milliseconds = 15_000
        /// When the table itself was not advanced for this long after something was due, or its owner took no messages for this
        /// long, as while a commit hangs that much waits for, nobody could be heard, and the silence counts from anew.
        package var stall: Milliseconds = 1_000
        /// So many faults within ``faultSpan`` drop a provider.
        package var faultLimit = 16
        package var faultSpan: Milliseconds = 60_000
        /// For how long a provider that was dropped for its faults, and its connection, may not register.
        package var banSpan: Milliseconds = 60_000
        /// Providers that may not register, of which the table knows; beyond, the oldest may again.
        package var maximumBans = 1_024
        /// So many failures in a row open a provider's breaker…
        package var breakerFailures = 5
        /// …for this long the first time, twice as long each further time…
        package var breakerFirst: Milliseconds = 1_000
        /// …but not longer than this.
        package var breakerLongest: Milliseconds = 30_000
        package var maximumProviders = 1_024
        package var maximumKindsPerProvider = 256
        /// A provider's calls in flight.
        package var maximumCapacity = 1_024
        /// Calls that one ``ProviderTable/advance(to:)`` ends, of each sort of reason.
        package var workPerAdvance = 4_096

        package init() {}
    }

    /// What a call is for; at most one call has the same at a time.
    package enum Purpose: Hashable, Sendable, BitwiseCopyable {
        /// A control's value. Read only: may be retried.
        case value(SlotRef)
        /// A control's action. Sent at most once, whatever happens.
        case perform(SlotRef)
        /// A widget's timeline. Read only: may be retried.
        case timeline(SlotRef)
        /// A widget's action. Sent at most once, whatever happens.
        case performWidget(SlotRef)
        /// What no placed control or widget waits for, by the owner's number. Read only: may be retried.
        case question(UInt64)

        /// Whether somebody waits for it, so that it does not wait for a breaker.
        var aside: CircuitBreaker.Aside? {
            switch self {
            case .perform, .performWidget: .action
            case .question: .question
            case .value, .timeline: nil
            }
        }

        /// Whether it is never sent twice.
        var isAction: Bool {
            switch self {
            case .perform, .performWidget: true
            case .value, .timeline, .question: false
            }
        }

        /// Whether it is the value or the timeline of what is placed.
        var isRead: Bool {
            switch self {
            case .value, .timeline: true
            case .perform, .performWidget, .question: false
            }
        }
    }

    /// What may be expected of the providers of a kind that take calls.
    enum Outlook {
        /// The breaker of one is closed.
        case good
        /// Of none, but it may well close again.
        case doubtful
        /// All have failed a probe, and answered nothing for ``Limits/patience`` or nothing ever, since reads began to wait that
        /// had not failed themselves, where there are such.
        case hopeless
    }

    /// A call that is over, and whose answer may still come.
    package struct LateCall: Equatable, Sendable, BitwiseCopyable {
        package var purpose: Purpose
        /// The owner's number of its kind.
        package var kind: UInt32
    }

    /// Why a call in flight is taken back; the words of `provider.cancel`.
    package enum CancelReason: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case timedOut, superseded, removed, stopping
    }

    /// Why a provider is no longer in the table.
    package enum DropReason: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// Too many answers that were of the wrong type, given twice or never asked for; it is banned for a while.
        case faults
        /// Nothing was heard of it for too long.
        case silent
        /// It registered again on another connection; the new one is in the table.
        case replaced
        /// Its connection is gone.
        case unreachable
        /// It said goodbye.
        case left
    }

    /// What the owner has to do, in this order.
    package enum Effect: Equatable, Sendable, BitwiseCopyable {
        /// Send a call to a provider. `within`: what is left of its time, at least 1 ms.
        case send(CallID, to: ProviderRef, Purpose, attempt: Int, within: Milliseconds)
        /// Tell a provider that nobody waits for a call any more.
        case cancel(CallID, at: ProviderRef, CancelReason)
        /// A read that waited waits no more, since its providers answer again: the owner asks for it when there is room, see
        /// ``ProviderTable/hasRoomForReads(of:failed:)``. No provider ever got it, and nothing is held against it.
        case givenBack(Purpose, isAwaited: Bool)
        /// A call is over without an answer. `wasSent`: whether any provider ever got it.
        case failed(Purpose, CallFailure, wasSent: Bool)
        /// Send a ping.
        case ping(ProviderRef)
        /// A provider is no longer in the table; all its calls were ended or moved before.
        case dropped(ProviderRef, DropReason)
    }

    /// What came of a registration.
    package enum Registration: Equatable, Sendable, BitwiseCopyable {
        /// A new one.
        case registered(ProviderRef)
        /// It was known, and what it declares is replaced.
        case again(ProviderRef)
        case refused(RegistrationRefusal)
    }

    /// Why a provider may not register.
    package enum RegistrationRefusal: Equatable, Sendable, BitwiseCopyable {
        /// There are ``Limits/maximumProviders`` already.
        case tooManyProviders
        /// More than ``Limits/maximumKindsPerProvider``.
        case tooManyKinds
        /// It was dropped for its faults, and may come back after so many milliseconds.
        case banned(retryAfter: Milliseconds)
    }

    /// What came of a request.
    package enum Request: Equatable, Sendable, BitwiseCopyable {
        /// It is sent or waits, and ends with an answer or ``Effect/failed(_:_:wasSent:)`` unless it is cancelled.
        case accepted
        /// Nobody takes calls for the kind.
        case noProvider
        /// Too many wait.
        case busy
    }

    /// What came of an answer or a failure that a provider sent.
    package enum Verdict: Equatable, Sendable, BitwiseCopyable {
        /// It was asked for. An answer ends the call; of a failure the effects tell whether it is retried or over.
        case taken(Purpose)
        /// Nobody waits for it any more: to be dropped in silence. An action has had its effect nevertheless, so what it
        /// was for is told where it is still known.
        case late(Purpose?)
        /// It was never asked for, or answered already: a fault.
        case unknownCall
        /// There is no such provider on this connection.
        case notRegistered

        /// Whether nobody waits for it any more.
        package var isLate: Bool {
            if case .late = self { true } else { false }
        }
    }

    /// What came of a cancellation.
    package enum Cancellation: Equatable, Sendable, BitwiseCopyable {
        /// There was no such call.
        case unknown
        /// It was not sent yet, and will not be (or, of a value, not for a second time).
        case waiting
        /// A provider has it, and is told.
        case inFlight
    }
}
