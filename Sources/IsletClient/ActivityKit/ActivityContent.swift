public import FoundationEssentials
import IsletProtocol

/// What an activity shows, until when that is up to date, and how important it is.
public struct ActivityContent<State: Codable & Hashable & Sendable>: Hashable, Sendable {
    /// The content.
    public var state: State
    /// When it is out of date; nil: never. `distantFuture` is sent as the last date that the service takes, in 2286.
    public var staleDate: Date?
    /// Compared with the other activities of the app only: the highest is shown first.
    public var relevanceScore: Double

    /// A content of these parts.
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}

/// How an activity ends by itself.
public enum ActivityStyle: String, Sendable, Hashable, CaseIterable {
    /// It stays until it is ended, or eight hours are over.
    case standard
    /// It goes when the device is locked, or the person leaves it.
    case transient
}

/// By what an activity is updated from outside.
public enum PushType: Sendable, Hashable {
    /// By a push token of its own.
    case token
    /// By the broadcasts of a channel.
    case channel(String)

    var json: RawJSON {
        switch self {
        case .token: .string("token")
        case .channel(let id): .object([.init("channel", .string(id))])
        }
    }
}

/// How a person is told of an update.
public struct AlertConfiguration: Sendable, Hashable {
    /// What is played.
    public enum Sound: Sendable, Hashable {
        /// The system's.
        case `default`
        /// A file of the app's.
        case named(String)
    }

    /// Shown on the watch.
    public var title: String
    /// Shown on the watch.
    public var body: String
    /// What is played.
    public var sound: Sound

    /// An alert of these parts.
    public init(title: String, body: String, sound: Sound = .default) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    var json: RawJSON {
        let name =
            switch sound {
            case .default: "default"
            case .named(let name): name
            }
        return .object([
            .init("title", .string(title)), .init("body", .string(body)), .init("sound", .string(name)),
        ])
    }
}

/// When an activity that has ended is removed.
public struct ActivityUIDismissalPolicy: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case `default`
        case immediate
        case after(Date)
    }

    let kind: Kind

    /// Up to four hours later, or when the person removes it.
    public static let `default` = ActivityUIDismissalPolicy(kind: .default)
    /// At once.
    public static let immediate = ActivityUIDismissalPolicy(kind: .immediate)
    /// At this date, at most four hours after the end.
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy {
        ActivityUIDismissalPolicy(kind: .after(date))
    }

    var json: RawJSON {
        switch kind {
        case .default: .string("default")
        case .immediate: .string("immediate")
        case .after(let date): .object([.init("after", date.json)])
        }
    }
}

extension Date {
    /// As the bus has dates: whole milliseconds since 1970, so that the present is never in the future. What is before or
    /// behind all that the service takes, such as `distantPast` and `distantFuture`, is its first or its last date (September
    /// 2001, November 2286).
    var json: RawJSON {
        let (first, end) = (CommandDecoder.plausibleDates.lowerBound, CommandDecoder.plausibleDates.upperBound)
        let milliseconds = (timeIntervalSince1970 * 1_000 + Self.inexactness).rounded(.down)
        guard !milliseconds.isNaN else { return .integer(first) }
        return .integer(Int64(min(max(milliseconds, Double(first)), Double(end - 1))))
    }

    /// Seconds as a `Double` may be a little less than the whole milliseconds that they stand for; by less than this, in
    /// milliseconds.
    private static let inexactness = 0.01

    /// A date of the bus.
    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
