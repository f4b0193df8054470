/// What providers said of kinds of widgets when they were asked: when these are relevant, and what is recommended.
package struct KindSayings: Sendable {
    /// At most as many bytes are kept. Of recommendations that find no room the provider is asked each time; of a
    /// relevance without room the one before stays.
    package static let maximumBytes = 64 << 20

    /// When and for which configuration kinds are relevant.
    private(set) var relevance: [DeclaredKindID: KindRelevance] = [:]
    /// What providers recommend, until it is invalidated: JSON arrays.
    private(set) var recommendations: [DeclaredKindID: [UInt8]] = [:]
    /// The bytes of all these, as they were sent.
    private(set) var bytes = 0

    /// Keeps what is recommended; false: there is no room, and nothing is kept of the kind.
    mutating func keep(_ json: [UInt8], recommendedOf kind: DeclaredKindID) -> Bool {
        setRecommendations(nil, of: kind)
        guard bytes + json.count <= Self.maximumBytes else { return false }
        setRecommendations(json, of: kind)
        return true
    }

    /// Keeps when a kind is relevant; false: there is no room, and nothing has changed.
    mutating func keep(_ new: KindRelevance, of kind: DeclaredKindID) -> Bool {
        guard bytes - (relevance[kind]?.json.count ?? 0) + new.json.count <= Self.maximumBytes else { return false }
        setRelevance(new, of: kind)
        return true
    }

    /// Takes back what is recommended, or forgets it; whatever has room.
    mutating func setRecommendations(_ json: [UInt8]?, of kind: DeclaredKindID) {
        bytes += (json?.count ?? 0) - (recommendations[kind]?.count ?? 0)
        recommendations[kind] = json
    }

    /// The same of a relevance.
    mutating func setRelevance(_ new: KindRelevance?, of kind: DeclaredKindID) {
        bytes += (new?.json.count ?? 0) - (relevance[kind]?.json.count ?? 0)
        relevance[kind] = new
    }
}
