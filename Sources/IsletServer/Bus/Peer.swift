/// A connected client, as ZeroMQ names it on one of the two ROUTER sockets.
package struct Peer: Hashable {
    var destination: OutboundMessages.Destination
    var routingID: [UInt8]
}
