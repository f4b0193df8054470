package import ZeroMQ

/// Why the service cannot start: an address that cannot be served.
package struct StartError: Error, Equatable, Sendable {
    /// As it was configured.
    package var address: String
    package var reason: ZeroMQError

    package init(address: String, reason: ZeroMQError) {
        self.address = address
        self.reason = reason
    }

    /// Does something with an address, and names the address where it fails.
    static func at<Value: ~Copyable>(
        _ address: String, _ body: (String) throws(ZeroMQError) -> Value
    ) throws(StartError) -> Value {
        do throws(ZeroMQError) {
            return try body(address)
        } catch {
            throw StartError(address: address, reason: error)
        }
    }
}

extension StartError: CustomStringConvertible {
    package var description: String { "cannot serve at \(address): \(reason)" }
}
