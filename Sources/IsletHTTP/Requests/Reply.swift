package import HTTPTypes
import IsletClient

/// An answer of HTTP whose body is known as a whole.
package struct Reply: Sendable, Equatable {
    package var status: HTTPResponse.Status
    package var fields = HTTPFields()
    package var body: [UInt8] = []

    /// An answer of JSON that is not to be kept by anybody.
    static func json(_ status: HTTPResponse.Status, _ body: [UInt8]) -> Reply {
        Reply(status: status, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: body)
    }

    static func json(_ status: HTTPResponse.Status, _ object: RawObject) -> Reply {
        json(status, object.json.bytes)
    }

    /// A refusal in the form of the contract's.
    static func refusal(
        _ status: HTTPResponse.Status, _ code: ErrorCode, _ message: String, retry: RetryClass = .never
    ) -> Reply {
        let error: RawObject = [
            "code": .string(code.name), "message": .string(message), "retry": .string(retry.rawValue),
        ]
        return json(status, ["ok": .bool(false), "error": error.json])
    }

    /// A refusal because the service gave no answer.
    init(_ error: BridgeError) {
        self =
            switch error {
            case .starting: .refusal(.serviceUnavailable, .unavailable, "the service is starting", retry: .later)
            case .stopping: .refusal(.serviceUnavailable, .unavailable, "the service is stopping", retry: .later)
            case .busy: .refusal(.serviceUnavailable, .busy, "too many commands wait for answers", retry: .later)
            case .timedOut:
                .refusal(
                    .gatewayTimeout, .outcomeUnknown,
                    "no answer within 10 s: the command may or may not have been executed", retry: .refresh)
            case .unanswered:
                .refusal(
                    .gatewayTimeout, .outcomeUnknown,
                    "no answer before the service stopped: the command may or may not have been executed",
                    retry: .refresh)
            case .failed(let reason): .refusal(.badGateway, .unavailable, reason, retry: .later)
            }
    }

    init(status: HTTPResponse.Status, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension HTTPFields {
    /// What every answer carries. Nothing of the board comes from elsewhere or runs inside of another page, and no file
    /// is taken for something that it is not.
    static let protecting: HTTPFields = [
        .contentSecurityPolicy: "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        .xContentTypeOptions: "nosniff",
        .referrerPolicy: "no-referrer",
        .crossOriginResourcePolicy: "same-origin",
        .frameOptions: "DENY",
    ]
}

extension HTTPField.Name {
    static let referrerPolicy = known("Referrer-Policy")
    static let crossOriginResourcePolicy = known("Cross-Origin-Resource-Policy")
    static let frameOptions = known("X-Frame-Options")
    package static let fetchSite = known("Sec-Fetch-Site")
    package static let host = known("Host")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("no name of a header field: \(name)") }
        return name
    }
}
