extension RetryWindow {
    /// Forgets the answers that are older than the window, at most ``maximumForgottenPerTurn`` of them.
    ///
    /// - Returns: Whether there are more.
    @discardableResult
    package mutating func forgetExpired(at now: Instant) -> Bool {
        for _ in 0..<Self.maximumForgottenPerTurn {
            guard let due = nextExpiry(), due <= now else { return false }
            forget(oldest)
        }
        return nextExpiry().map { $0 <= now } ?? false
    }

    /// The domain time at which the oldest answer is to be forgotten; nil where none is remembered.
    package func nextExpiry() -> Instant? {
        guard oldest != .max else { return nil }
        let entry = entries[oldest]
        return entry.at > hold.after ? max(entry.at + limits.span, hold.until) : entry.at + limits.span
    }

    /// None is forgotten for its age within a whole window from now: commits were held back, by a full disk or a lock, and
    /// nobody was given the answers that waited; or time has leapt. Whoever waits for one sends the command again.
    ///
    /// - Parameter begin: Since when they have been, or where the leap began.
    package mutating func keepAll(at now: Instant, since begin: Instant) {
        if hold.until <= begin { hold.after = begin + -limits.span }
        hold.until = max(hold.until, now + limits.span)
    }

    /// All answers are restored: those are forgotten that the process before had forgotten, or would have now, had it gone on.
    /// The others are remembered for a whole window: nobody was answered meanwhile, and whoever waits sends again.
    ///
    /// - Parameter last: The domain time that the process before has come to.
    package mutating func startAgain(at now: Instant, after last: Instant) {
        while forgetExpired(at: min(now, last)) {}
        guard now > last, oldest != .max else { return }
        let after = last + -limits.span
        hold = RetryHold(after: hold.until > last ? min(hold.after, after) : after, until: now + limits.span)
    }

    /// Forgets the oldest answer of its client, which the oldest of all is, too.
    mutating func forget(_ slot: Slot) {
        let entry = entries[slot]
        precondition(clients[entry.client].oldest == slot, "answers are forgotten in their order")
        let number = payloads.withBytes(entry.bytes) { bytes in
            RetryNumber(bytes.bindMemory(to: UInt8.self).span.extracting(..<Int(entry.reqCount)))
        }
        if let number {
            clients[entry.client].forgot(number)
            traceChanged(entry.client)
        }
        unlink(slot)
        remove(slot)
        releaseIfIdle(entry.client)
    }

    /// Removes an entry that is in no list.
    mutating func remove(_ slot: Slot) {
        let entry = entries[slot]
        let id = clients[entry.client].id
        let hash = payloads.withBytes(entry.bytes) { bytes in
            RetryWindow.keyHash(id, bytes.bindMemory(to: UInt8.self).span.extracting(..<Int(entry.reqCount)))
        }
        index.remove(hash, slot)
        payloads.remove(entry.bytes)
        entries.remove(slot)
    }

    // MARK: Finding

    static func keyHash(_ client: EntityID, _ req: Span<UInt8>) -> UInt64 {
        // `Hasher` is keyed anew in each process, and both parts come from outside.
        var hasher = Hasher()
        hasher.combine(client)
        req.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static func clientHash(_ client: EntityID) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(client)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    func find(_ claim: RetryClaim, _ req: Span<UInt8>) -> Slot? {
        index.find(claim.keyHash) { slot in
            let entry = entries[slot]
            guard Int(entry.reqCount) == req.count, clients[entry.client].id == claim.client else { return false }
            return payloads.withBytes(entry.bytes) { bytes in
                req.withUnsafeBytes { equal($0, UnsafeRawBufferPointer(rebasing: bytes[..<Int(entry.reqCount)])) }
            }
        }
    }

    func findClient(_ id: EntityID) -> Slot? {
        clientIndex.find(RetryWindow.clientHash(id)) { clients[$0].id == id }
    }

    // MARK: Clients

    /// The claim's client, made where it is new, and not idle any more.
    mutating func takeClient(_ claim: RetryClaim) -> Slot {
        guard let known = findClient(claim.client) else {
            let slot = clients.insert(RetryClient(id: claim.client))
            clientIndex.insert(RetryWindow.clientHash(claim.client), slot)
            return slot
        }
        if clients[known].isIdle { unlinkIdle(known) }
        return known
    }

    /// Forgets a client of which nothing is remembered, unless some of its numbers are known to be forgotten.
    mutating func releaseIfIdle(_ client: Slot) {
        guard clients[client].isIdle else { return }
        guard !clients[client].isForgettable else { return removeClient(client) }
        linkIdle(client)
        forgetIdleClients()
    }

    /// Forgets the clients beyond the bound that have been idle for longest. While answers are restored nobody knows which
    /// clients are.
    mutating func forgetIdleClients() {
        guard countedThrough.isEmpty else { return }
        while idleClients > Self.maximumIdleClients {
            let longestIdle = oldestIdle
            unlinkIdle(longestIdle)
            removeClient(longestIdle)
        }
    }

    /// Puts idle clients into the order in which they were used. Their traces came back in the order of their keys, but each
    /// was written soon after its client's last number was forgotten, and names the batch of that time. One without a trace
    /// has lost its answers just now.
    mutating func sortIdleClients() {
        var idle: [(through: UInt64, place: Int, client: Slot)] = []
        var next = oldestIdle
        while next != .max {
            idle.append((countedThrough[clients[next].id] ?? .max, idle.count, next))
            next = clients[next].newerIdle
        }
        idle.sort { ($0.through, $0.place) < ($1.through, $1.place) }
        for (_, _, client) in idle {
            unlinkIdle(client)
            linkIdle(client)
        }
    }

    mutating func traceChanged(_ client: Slot) {
        guard recordsTraces, !clients[client].isTraceChanged else { return }
        clients[client].isTraceChanged = true
        changedTraces.append(clients[client].id)
    }

    /// Adds a client of which nothing but a trace is remembered.
    mutating func insertIdle(_ client: RetryClient) {
        guard findClient(client.id) == nil else { return }
        let slot = clients.insert(client)
        clientIndex.insert(RetryWindow.clientHash(client.id), slot)
        releaseIfIdle(slot)
    }

    private mutating func removeClient(_ client: Slot) {
        traceChanged(client)
        clientIndex.remove(RetryWindow.clientHash(clients[client].id), client)
        clients.remove(client)
    }

    /// Puts a client at the end of the list of idle ones.
    private mutating func linkIdle(_ client: Slot) {
        clients[client].olderIdle = newestIdle
        if newestIdle == .max { oldestIdle = client } else { clients[newestIdle].newerIdle = client }
        newestIdle = client
        idleClients += 1
    }

    private mutating func unlinkIdle(_ client: Slot) {
        let (older, newer) = (clients[client].olderIdle, clients[client].newerIdle)
        if older == .max { oldestIdle = newer } else { clients[older].newerIdle = newer }
        if newer == .max { newestIdle = older } else { clients[newer].olderIdle = older }
        clients[client].olderIdle = .max
        clients[client].newerIdle = .max
        idleClients -= 1
    }

    // MARK: The list of all answers

    /// Puts an answer at the end of its client's list and of the list of all.
    mutating func link(_ slot: Slot, _ client: Slot) {
        entries[slot].older = newest
        if newest == .max { oldest = slot } else { entries[newest].newer = slot }
        newest = slot
        let last = clients[client].newest
        if last == .max { clients[client].oldest = slot } else { entries[last].nextOfClient = slot }
        clients[client].newest = slot
        clients[client].answers += 1
    }

    private mutating func unlink(_ slot: Slot) {
        let entry = entries[slot]
        if entry.older == .max { oldest = entry.newer } else { entries[entry.older].newer = entry.newer }
        if entry.newer == .max { newest = entry.older } else { entries[entry.newer].older = entry.older }
        clients[entry.client].oldest = entry.nextOfClient
        if entry.nextOfClient == .max { clients[entry.client].newest = .max }
        clients[entry.client].answers -= 1
    }
}
