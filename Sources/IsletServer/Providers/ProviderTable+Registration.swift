package import IsletCore

extension ProviderTable {
    /// Takes in a provider, or what a known one declares now.
    ///
    /// From the same connection nothing else changes but that it does not drain any more. From another one, the calls of
    /// the old one are lost, of which values are asked for again, also of the new one.
    ///
    /// - Parameters:
    ///   - kinds: the owner's numbers of the kinds that it serves.
    ///   - capacity: how many calls it takes at a time; brought into 1...``Limits/maximumCapacity``.
    package mutating func register(
        _ id: EntityID, peer: [UInt8], kinds declared: [UInt32], capacity: Int, at time: Milliseconds
    ) -> Registration {
        if let refusal = refusal(of: id, peer: peer, kinds: declared.count, at: time) { return .refused(refusal) }
        let capacity = min(max(1, capacity), limits.maximumCapacity)
        let old = providerNumbers[id]
        if let old, providers[Int(old)].peer == peer {
            hear(old)
            if providers[Int(old)].isDraining { undrain(old) }
            declare(declared, capacity, by: old)
            return .again(reference(to: old))
        }
        let number = insertProvider(id, peer: peer, capacity)
        if let old {
            joinAll(declared, number, capacity)
            lose(old, .replaced)
            serve(number)
            return .again(reference(to: number))
        }
        declare(declared, capacity, by: number)
        return .registered(reference(to: number))
    }

    /// Why a provider that declares so many kinds may not register; nil where it may.
    package mutating func refusal(
        of id: EntityID, peer: [UInt8], kinds count: Int, at time: Milliseconds
    ) -> RegistrationRefusal? {
        clock(time)
        if let end = banEnd(id, peer) { return .banned(retryAfter: end - now) }
        guard count <= limits.maximumKindsPerProvider else { return .tooManyKinds }
        let hasRoom = providerNumbers[id] != nil || providerNumbers.count < limits.maximumProviders
        return hasRoom ? nil : .tooManyProviders
    }

    /// It takes no new calls any more; those that it was sent are left to it.
    ///
    /// - Returns: whether there is such a provider on this connection.
    package mutating func drain(_ id: EntityID, peer: [UInt8], at time: Milliseconds) -> Bool {
        clock(time)
        guard let number = number(of: id, peer) else { return false }
        guard !providers[Int(number)].isDraining else { return true }
        providers[Int(number)].isDraining = true
        for place in providers[Int(number)].kinds {
            kinds[Int(place)].open -= 1
            abandonWaiting(of: place)
        }
        giveBackUnsent(of: number)
        return true
    }

    /// It says goodbye.
    ///
    /// - Returns: whether there was such a provider on this connection.
    package mutating func leave(_ id: EntityID, peer: [UInt8], at time: Milliseconds) -> Bool {
        clock(time)
        guard let number = number(of: id, peer) else { return false }
        lose(number, .left)
        return true
    }

    /// Nothing can be sent to a connection any more: its providers are gone.
    package mutating func unreachable(_ peer: [UInt8], at time: Milliseconds) {
        clock(time)
        guard let peerNumber = peerNumbers[peer] else { return }
        for number in providers.indices where providers[number].peerNumber == peerNumber && !providers[number].isGone {
            lose(UInt32(number), .unreachable)
        }
    }

    /// A registration is about to come over a connection that bears this name: whoever registered over another one of the
    /// same name is gone, unless it was heard over this one since. A client may give its connections a name of its own
    /// choice, so that a new run has the old one's.
    ///
    /// - Parameter connection: its descriptor, nil where that is not known.
    package mutating func registers(_ peer: [UInt8], over connection: Int32?, at time: Milliseconds) {
        guard let number = peerNumbers[peer].map(Int.init) else { return }
        let isAnother = peers[number].connection.map { $0 != connection ?? $0 } ?? false
        if isAnother { return unreachable(peer, at: time) }
        clock(time)
        for provider in liveProviders(of: number) where providers[provider].isCutOff {
            lose(UInt32(provider), .unreachable)
        }
    }

    /// A registration came over this connection.
    ///
    /// - Parameter isCutOff: whether that has ended since.
    package mutating func registered(_ peer: [UInt8], over connection: Int32?, isCutOff: Bool = false) {
        guard let number = peerNumbers[peer].map(Int.init) else { return }
        peers[number].connection = isCutOff ? nil : connection ?? peers[number].connection
        if isCutOff { cutOff(number) }
    }

    /// A connection has ended. What it was sent cannot be answered any more, which silence or the next message to it tells,
    /// unless another connection has taken its name.
    package mutating func ended(_ connection: Int32) {
        for number in peers.indices where peers[number].connection == connection && peers[number].providers > 0 {
            peers[number].connection = nil
            cutOff(number)
        }
    }

    private mutating func cutOff(_ peer: Int) {
        for number in liveProviders(of: peer) where !providers[number].isCutOff {
            providers[number].isCutOff = true
            providers[number].heardAt = peers[peer].lastHeard
            cutOffs += 1
        }
    }

    private func liveProviders(of peer: Int) -> [Int] {
        providers.indices.filter { Int(providers[$0].peerNumber) == peer && !providers[$0].isGone }
    }

    /// A message came from a connection, whatever it was: a sign of life of its providers; but not of those that are
    /// cut off, since whoever bears the name now need not be they.
    package mutating func heard(from peer: [UInt8], at time: Milliseconds) {
        clock(time)
        listenedAt = now
        guard let number = peerNumbers[peer].map(Int.init) else { return }
        peers[number].lastHeard = now
    }

    /// A provider says that it lives. Where it was cut off it has another connection of the same name then, and so have
    /// all that were there with it: they are one process's, which alone knows what they are called.
    ///
    /// - Parameter connection: over which it says so; nil where that is not known or has ended.
    /// - Returns: whether there is such a provider on this connection.
    package mutating func pong(_ id: EntityID, peer: [UInt8], over connection: Int32?, at time: Milliseconds) -> Bool {
        clock(time)
        guard let number = number(of: id, peer) else { return false }
        if let connection, providers[Int(number)].isCutOff {
            let peer = Int(providers[Int(number)].peerNumber)
            peers[peer].connection = connection
            for provider in liveProviders(of: peer) where providers[provider].isCutOff {
                providers[provider].isCutOff = false
                cutOffs -= 1
            }
        }
        hear(number)
        return true
    }

    /// A provider was named over its connection: a sign of its life, and of all that are there with it.
    mutating func hear(_ number: UInt32) {
        let peer = Int(providers[Int(number)].peerNumber)
        guard providers[Int(number)].isCutOff else {
            peers[peer].lastHeard = now
            return
        }
        for provider in liveProviders(of: peer) where providers[provider].isCutOff { providers[provider].heardAt = now }
    }

    /// When something was heard last that is a sign of a provider's life.
    func lastHeard(of number: UInt32) -> Milliseconds {
        let number = Int(number)
        guard !providers[number].isCutOff else { return providers[number].heardAt }
        return peers[Int(providers[number].peerNumber)].lastHeard
    }

    /// The number of a provider, where it is on this connection.
    func number(of id: EntityID, _ peer: [UInt8]) -> UInt32? {
        guard let number = providerNumbers[id], providers[Int(number)].peer == peer else { return nil }
        return number
    }

    func reference(to number: UInt32) -> ProviderRef {
        ProviderRef(number: number, generation: providers[Int(number)].generation)
    }

    /// Brings a provider's kinds to what it declares, and gives it what waits for it.
    private mutating func declare(_ declared: [UInt32], _ capacity: Int, by number: UInt32) {
        let before = providers[Int(number)].kinds
        joinAll(declared, number, capacity)
        for place in before where !providers[Int(number)].kinds.contains(place) {
            quit(place, number)
            giveBackUnsent(of: number, kind: place)
        }
        serve(number)
    }

    /// Puts a provider into the kinds that it declares, and takes its capacity.
    private mutating func joinAll(_ declared: [UInt32], _ number: UInt32, _ capacity: Int) {
        providers[Int(number)].capacity = capacity
        var places: [UInt32] = []
        for kind in declared {
            let place = self.place(of: kind)
            guard !places.contains(place) else { continue }
            places.append(place)
            if !kinds[Int(place)].providers.contains(number) {
                kinds[Int(place)].providers.append(number)
                kinds[Int(place)].open += 1
            }
        }
        providers[Int(number)].kinds = places
        providers[Int(number)].nextKind = 0
        for place in places { noteCrowd(of: place) }
    }

    /// Takes a provider out of a kind; the calls that it was sent stay its own.
    mutating func quit(_ place: UInt32, _ number: UInt32) {
        kinds[Int(place)].providers.removeAll { $0 == number }
        if !providers[Int(number)].isDraining { kinds[Int(place)].open -= 1 }
        abandonWaiting(of: place)
        forgetIfUnused(place)
    }

    private mutating func undrain(_ number: UInt32) {
        providers[Int(number)].isDraining = false
        for place in providers[Int(number)].kinds { kinds[Int(place)].open += 1 }
    }

    private mutating func insertProvider(_ id: EntityID, peer: [UInt8], _ capacity: Int) -> UInt32 {
        let peerNumber = insertPeer(peer)
        let number = freeProviders.popLast() ?? UInt32(providers.count)
        let generation = Int(number) < providers.count ? providers[Int(number)].generation &+ 1 : 0
        var provider = Provider(id, peer: peer, peerNumber: peerNumber, generation: generation, at: now, limits)
        provider.strangersLeft = capacity
        if Int(number) < providers.count { providers[Int(number)] = provider } else { providers.append(provider) }
        providerNumbers[id] = number
        attend(number)
        return number
    }

    private mutating func insertPeer(_ peer: [UInt8]) -> UInt32 {
        let number: UInt32
        if let known = peerNumbers[peer] {
            number = known
            peers[Int(number)].lastHeard = now
        } else if let free = freePeers.popLast() {
            number = free
            peers[Int(number)] = ProviderPeer(routingID: peer, lastHeard: now)
            peerNumbers[peer] = number
        } else {
            number = UInt32(peers.count)
            peers.append(ProviderPeer(routingID: peer, lastHeard: now))
            peerNumbers[peer] = number
        }
        peers[Int(number)].providers += 1
        return number
    }

    mutating func removePeer(_ number: UInt32) {
        peers[Int(number)].providers -= 1
        guard peers[Int(number)].providers == 0 else { return }
        peerNumbers[peers[Int(number)].routingID] = nil
        freePeers.append(number)
    }

    /// The place of a kind, which is made where it is not known.
    private mutating func place(of kind: UInt32) -> UInt32 {
        if let place = kindPlaces[kind] { return place }
        let place = freeKinds.popLast() ?? UInt32(kinds.count)
        let entry = ProvidedKind(number: kind)
        if Int(place) < kinds.count { kinds[Int(place)] = entry } else { kinds.append(entry) }
        kindPlaces[kind] = place
        return place
    }

    /// Forgets a kind that nobody provides and for which no call is left.
    mutating func forgetIfUnused(_ place: UInt32) {
        let place = Int(place)
        guard kinds[place].providers.isEmpty, kinds[place].calls == 0, !kinds[place].isOrphan,
            !kinds[place].isCrowded
        else { return }
        kindPlaces[kinds[place].number] = nil
        freeKinds.append(UInt32(place))
    }
}
