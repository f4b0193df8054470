/// Where HTTP is served: a numeric host on the loopback interface, and a port.
package struct HTTPAddress: Equatable, Sendable {
    package var host: String
    /// 0: any that is free.
    package var port: Int

    /// The contract's default.
    package static let standard = HTTPAddress(host: "127.0.0.1", port: 7_414)

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The address as a URL.
    package var url: String { "http://\(self)" }
}

extension HTTPAddress: CustomStringConvertible {
    package var description: String { "\(host):\(port)" }
}

extension HTTPAddress {
    /// What a person says: `127.0.0.1:7414`, with `*` or 0 for any free port; nil for a word that means none.
    ///
    /// As with the sockets, only addresses of this machine are taken (contract, "Endpoints").
    package static func checked(_ text: String) throws(HTTPAddressError) -> HTTPAddress? {
        do throws(SettingRefusal) {
            return SettingText.isNone(text) ? nil : try EndpointAddress.checkedHTTP(text)
        } catch {
            throw HTTPAddressError(text: text, reason: error.reason)
        }
    }
}

/// Why a text is no address for HTTP.
package struct HTTPAddressError: Error, Equatable, Sendable {
    package var text: String
    /// Worded to follow "is".
    package var reason: String
}

extension HTTPAddressError: CustomStringConvertible {
    package var description: String { "\"\(text)\" is \(reason)" }
}
