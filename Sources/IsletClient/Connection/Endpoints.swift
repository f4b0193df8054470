/// Where the service is: the three of one service, which streams look at before they tell anything.
public struct Endpoints: Sendable, Hashable {
    /// Commands and queries.
    public var commands: String
    /// Events, watermarks and joins.
    public var events: String
    /// Snapshots and replays.
    public var bulk: String

    /// The defaults of `islet serve`, where nothing else is named.
    public init(
        commands: String = "tcp://127.0.0.1:7411",
        events: String = "tcp://127.0.0.1:7412",
        bulk: String = "tcp://127.0.0.1:7413"
    ) {
        self.commands = commands
        self.events = events
        self.bulk = bulk
    }
}
