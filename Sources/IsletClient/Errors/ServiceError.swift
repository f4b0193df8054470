/// An error that the service answered with.
public struct ServiceError: Error, Sendable, Hashable {
    /// What went wrong.
    public var code: ErrorCode
    /// The service's own words, for people.
    public var message: String
    /// What to do about it.
    public var retry: RetryClass
    /// The figures behind it, such as `{"bytes":4310,"limit":4096}`; empty where there are none.
    public var detail: RawObject
    /// Milliseconds of real time after which a `busy` service should be asked again; nil where it does not say.
    public var retryAfter: Int64?

    /// An error of these parts.
    public init(
        code: ErrorCode, message: String, retry: RetryClass = .never, detail: RawObject = [:], retryAfter: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.retry = retry
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Reads the `error` member of an answer; nil where it has no code.
    ///
    /// An error may also stand as its bare code, as in the answer to a join.
    init?(_ json: RawJSON) {
        if let name = json.string {
            self.init(code: ErrorCode(name: name), message: name)
            return
        }
        guard let object = json.object, let name = object["code"]?.string else { return nil }
        self.init(
            code: ErrorCode(name: name),
            message: object["message"]?.string ?? name,
            retry: object["retry"]?.string.flatMap(RetryClass.init(rawValue:)) ?? .never,
            detail: object["detail"]?.object ?? [:],
            retryAfter: object["retryAfter"]?.integer)
    }
}

extension ServiceError {
    /// Whether the same question will be refused each time. `tooMany` of pulls is a matter of the moment.
    var isForGood: Bool { retry == .never && code != .busy && code != .tooMany && code != .tooOld }
}

extension ServiceError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { message == code.name ? message : "\(message) (\(code.name))" }
}
