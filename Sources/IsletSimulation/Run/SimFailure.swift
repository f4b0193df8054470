/// Something was not as the oracle says.
package struct SimFailure: Error, CustomStringConvertible, Sendable {
    package var message: String

    init(_ message: String) {
        self.message = message
    }

    package var description: String { message }
}
