package import HTTPTypes
import IsletClient
import IsletServer

/// Who may ask at all: programs of this machine, and pages that came from here.
///
/// A page of another site that is open in the browser of somebody on this machine can reach this address as well, by its
/// number or, with a name of its own that suddenly means 127.0.0.1 (DNS rebinding), as if it came from here.
package enum RequestGuard {
    /// Why a request is not looked at; nil where it is.
    package static func refusal(of head: HTTPRequest, isForScripts: Bool) -> Reply? {
        guard head.path?.first == "/" else {
            return .refusal(.badRequest, .badMessage, "a path is wanted that begins with a slash")
        }
        guard let host = head.authority, head.headerFields[values: .host].isEmpty else {
            return .refusal(.badRequest, .badMessage, "one header field Host is wanted")
        }
        guard isLoopback(host) else {
            return .refusal(
                .forbidden, .unauthorized, "served to this machine only: Host is neither localhost nor 127.0.0.1")
        }
        let origins = head.headerFields[values: .origin]
        guard origins.allSatisfy({ $0.lowercased() == "http://" + host.lowercased() }) else {
            return .refusal(.forbidden, .unauthorized, "served to its own pages only: Origin is another one than Host")
        }
        // What browsers say even where they send no Origin, such as for an image.
        let sites = head.headerFields[values: .fetchSite]
        guard !isForScripts || sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            return .refusal(.forbidden, .unauthorized, "served to its own pages only: asked for by another site")
        }
        return nil
    }

    /// Whether a Host names this machine's loopback interface, with any port (it may be forwarded) or none.
    package static func isLoopback(_ host: String) -> Bool {
        var name = host.lowercased()[...]
        if let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") {
            let port = name[name.index(after: colon)...]
            guard !port.isEmpty, port.allSatisfy({ $0.isASCII && $0.isNumber }), UInt16(port) != nil else {
                return false
            }
            name = name[..<colon]
        }
        return name == "localhost" || name == "[::1]" || EndpointAddress.isLoopback(name)
    }
}
