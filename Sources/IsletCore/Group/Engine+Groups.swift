/// App groups: keys and values that several apps share.
extension Engine {
    /// The key in a slot, where it is of an app's group and its topic begins with a prefix.
    func listedGroupItem(at slot: Slot, app: AppID, prefix: [UInt8]) -> ListedEntity? {
        nil
    }

    /// Whether the topic of a key begins with a prefix.
    func groupTopic(at slot: Slot, hasPrefix prefix: [UInt8]) -> Bool {
        false
    }
}
