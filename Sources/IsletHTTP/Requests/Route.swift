import HTTPTypes

/// What there is to ask for.
enum Route: Equatable {
    case metrics
    /// Does the process live?
    case health
    /// Does it take commands?
    case readiness
    case session
    case commands
    /// A filter, to be read.
    case filter
    case events
    /// A file of the board.
    case asset(String)

    /// By the path of a URL.
    init(path: String) {
        self =
            switch path {
            case "/": .asset("index.html")
            case "/metrics": .metrics
            case "/healthz": .health
            case "/readyz": .readiness
            case "/api/session": .session
            case "/api/commands": .commands
            case "/api/filter": .filter
            case "/api/events": .events
            default: .asset(String(path.dropFirst()))
            }
    }

    /// The methods that it has.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .commands, .filter: [.post]
        case .events: [.get]
        case .metrics, .health, .readiness, .session, .asset: [.get, .head]
        }
    }

    /// Whether only scripts of the board ask for it, and no person that follows a link.
    var isForScripts: Bool {
        switch self {
        case .session, .commands, .filter, .events: true
        case .metrics, .health, .readiness, .asset: false
        }
    }
}
