extension Array {
    /// Empties a buffer that is used again for one batch after the other. One with room for more than `limit` is given
    /// back where less than a quarter of it was used: not while batches are large, since each would have its pages made anew.
    /// One that is empty already stays as it is: that says nothing of the batches.
    package mutating func removeAll(givingBackBeyond limit: Int) {
        guard !isEmpty else { return }
        removeAll(keepingCapacity: Swift.max(4 * count, limit) >= capacity)
    }
}
