/// A connected client, as ZeroMQ names it on one of the two ROUTER sockets.
package struct Peer: Hashable {
    var destination: OutboundMessages.Destination
    package private(set) var routingID: [UInt8]

    package init(destination: OutboundMessages.Destination, routingID: [UInt8]) {
        self.destination = destination
        self.routingID = routingID
    }

    /// A subscriber, which has no name but its connection's number.
    init(subscriberAt descriptor: Int32) {
        self.init(destination: .events, routingID: withUnsafeBytes(of: descriptor) { Array($0) })
    }

    /// Whether it has named itself, so that its next connection may bear the same name. A ROUTER makes the others up,
    /// each once, and all of them begin with a zero.
    package var isNamed: Bool { routingID.first.map(Self.beginsName) ?? false }

    /// Whether a routing id that begins so is a name.
    static func beginsName(_ byte: UInt8) -> Bool { byte != 0 }

    /// A subscriber whose connection nobody knows.
    static let unknownSubscriber = Peer(destination: .events, routingID: [])
}
