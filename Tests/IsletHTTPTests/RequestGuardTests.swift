import HTTPTypes
import IsletHTTP
import Testing

struct RequestGuardTests {
    private static func status(
        host: String? = "localhost", path: String = "/", isForScripts: Bool = true,
        _ fields: [(HTTPField.Name, String)] = []
    ) -> Int? {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: path)
        for (name, value) in fields { head.headerFields.append(HTTPField(name: name, value: value)) }
        return RequestGuard.refusal(of: head, isForScripts: isForScripts)?.status.code
    }

    @Test(arguments: ["localhost", "LOCALHOST:7414", "127.0.0.1", "127.255.255.255:65535", "[::1]", "[::1]:80"])
    func theNamesOfThisMachineAreServed(host: String) {
        #expect(Self.status(host: host) == nil)
    }

    @Test(
        arguments: [
            "", "example.com", "localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "127.0.0.256", "127.1",
            "localhost:", "localhost:65536", "localhost:x", "[::1]x", "[::]", "::1", "evil@localhost",
            "127.0.0.1:80:80",
        ])
    func everyOtherNameIsRefused(host: String) {
        #expect(Self.status(host: host) == 403)
    }

    @Test func aRequestWithoutAHostOrAPathIsRefused() {
        #expect(Self.status(host: nil) == 400)
        #expect(Self.status(path: "*") == 400)
        #expect(Self.status([(.host, "localhost")]) == 400)
    }

    @Test func anOriginIsTheHostOrRefused() {
        #expect(Self.status(host: "localhost:1", [(.origin, "http://localhost:1")]) == nil)
        #expect(Self.status(host: "localhost:1", [(.origin, "http://LOCALHOST:1")]) == nil)
        for other in ["http://localhost", "http://localhost:2", "https://localhost:1", "null", "", "localhost:1"] {
            #expect(Self.status(host: "localhost:1", [(.origin, other)]) == 403)
        }
        #expect(Self.status([(.origin, "http://localhost"), (.origin, "http://example.com")]) == 403)
    }

    @Test func otherSitesReachPagesButNoInterface() {
        for site in ["cross-site", "same-site", "nonsense"] {
            #expect(Self.status([(.fetchSite, site)]) == 403)
            #expect(Self.status(isForScripts: false, [(.fetchSite, site)]) == nil)
        }
        #expect(Self.status([(.fetchSite, "same-origin")]) == nil)
        #expect(Self.status([(.fetchSite, "none")]) == nil)
    }
}
