import IsletCore
import IsletProtocol

/// Looks at what a handler gave before it is sent, by the rules of the contract: what the service refuses is a fault of
/// the whole provider, which it drops after some of them with all its other kinds. What breaks a rule here fails its
/// own call.
struct AnswerCheck {
    let call: ProviderCall
    /// The parameters of the call's kind, where it is of widgets; nil where they are not known.
    let parameters: [KindParameter]?

    /// - Parameter answer: the members that a handler's answer would have.
    /// - Throws: ``ProviderCallError/failed(_:)`` with what, the value and the limit.
    func check(_ answer: RawObject) throws(ProviderCallError) {
        switch call.purpose {
        case .control(.options), .widget(.options): try check(options: answer["value"]?.elements ?? [])
        case .widget(.timeline): try checkTimeline(answer)
        case .widget(.snapshot): try check(entries: answer["entries"]?.elements ?? [], atMost: 1)
        case .widget(.recommendations): try check(recommendations: answer["value"]?.elements ?? [])
        case .widget(.relevance): try check(relevance: answer["value"]?.elements ?? [])
        case .control(.value), .control(.perform), .widget(.perform): break
        }
    }

    // MARK: Timelines

    private func checkTimeline(_ answer: RawObject) throws(ProviderCallError) {
        let entries = answer["entries"]?.elements ?? []
        try check(entries: entries, atMost: call.maximumEntries)
        if answer["needsLogin"]?.bool == true, entries.count != 1 {
            throw .failed("a timeline that needs a login has \(entries.count) entries, and must have one")
        }
        if let after = answer["policy"]?.object?["after"] { _ = try date(after) }
    }

    private func check(entries: [RawJSON], atMost limit: Int) throws(ProviderCallError) {
        guard !entries.isEmpty else {
            throw .failed(
                "the timeline has no entries, and must have one: it may say that there is nothing to show")
        }
        guard entries.count <= limit else { throw .failed("there are \(entries.count) entries, and may be \(limit)") }
        var last: Int64?
        for (index, entry) in entries.enumerated() {
            let date: Int64
            do throws(ProviderCallError) {
                date = try check(entry: entry.object ?? [:])
            } catch {
                throw .failed("entries[\(index)]: \(error.message)")
            }
            if let last, date < last {
                throw .failed(
                    "entries[\(index)] is at \(date), before entries[\(index - 1)] at \(last): they stand in the order "
                        + "of their dates")
            }
            last = date
        }
    }

    /// Gives its date.
    private func check(entry: RawObject) throws(ProviderCallError) -> Int64 {
        let date = try date(entry["date"] ?? .null)
        if let relevance = entry["relevance"]?.object { try checkScore(of: relevance) }
        if let url = entry["url"] { try check(url, as: "the url") }
        let links = entry["links"]?.object?.members ?? []
        if let family = call.family, !family.allowsLinks, !links.isEmpty {
            throw .failed("\(family.rawValue) has no place for links, and there are \(links.count)")
        }
        for link in links {
            guard Self.isName(link.name) else {
                throw .failed(
                    "'\(link.name.prefix(100))' is no name of a link: it has 1 to 64 letters, digits and . _ : - in it")
            }
            try check(link.value, as: "the link \(link.name)")
        }
        return date
    }

    private func checkScore(of relevance: RawObject) throws(ProviderCallError) {
        let score = relevance["score"] ?? .null
        guard let number = score.double, number >= 0, Float(number).isFinite else {
            throw .failed("the score \(score) is no number from 0 to \(Float.greatestFiniteMagnitude)")
        }
        guard let duration = relevance["duration"] else { return }
        guard let span = duration.integer, (0...Self.longestDuration).contains(span) else {
            throw .failed("the duration \(duration) is no number of milliseconds from 0 to \(Self.longestDuration)")
        }
    }

    private func check(_ url: RawJSON, as what: String) throws(ProviderCallError) {
        let size = url.count - 2
        guard size <= ProviderLimits.url else {
            throw .failed("\(what) has \(size) bytes, and may have \(ProviderLimits.url)")
        }
    }

    private func date(_ json: RawJSON) throws(ProviderCallError) -> Int64 {
        guard let date = json.integer, CommandDecoder.plausibleDates.contains(date) else {
            throw .failed("\(json) is no date: in milliseconds since 1970 it would not be from 2001 to 2286")
        }
        return date
    }

    private static let longestDuration: Int64 = 1 << 53

    /// Whether the contract takes it as a name.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    // MARK: What is offered

    private func check(options: [RawJSON]) throws(ProviderCallError) {
        try check(options.count, "options", atMost: KindParameter.Option.maximumCount)
        if options.contains(where: { $0.object?["value"]?.isNull ?? true }) {
            throw .failed("an option is null, which stands for no value")
        }
    }

    private func check(recommendations: [RawJSON]) throws(ProviderCallError) {
        try check(recommendations.count, "recommendations", atMost: RecommendationsReading.maximumCount)
        guard let parameters else { return }
        for recommendation in recommendations {
            let configuration = recommendation.object?["configuration"] ?? .null
            guard let misfit = KindParameter.misfit(of: configuration.bytes.span, to: parameters) else { continue }
            throw .failed(
                "the configuration \(configuration.description.prefix(100)) does not fit the parameter "
                    + "'\(String(decoding: misfit, as: UTF8.self).prefix(100))'")
        }
    }

    private func check(relevance: [RawJSON]) throws(ProviderCallError) {
        try check(relevance.count, "times of relevance", atMost: RelevanceReading.maximumCount)
        for each in relevance {
            let from = try each.object?["from"].map(date)
            let to = try each.object?["to"].map(date)
            if let from, let to, to < from {
                throw .failed("a relevance ends at \(to), before it begins at \(from)")
            }
        }
    }

    private func check(_ count: Int, _ what: String, atMost limit: Int) throws(ProviderCallError) {
        guard count <= limit else { throw .failed("there are \(count) \(what), and may be \(limit)") }
    }
}
