import IsletCore
import IsletProtocol

/// The commands about app groups. What they answer as `seq` is of the stream of the group's owner.
extension Partition {
    /// A change of a group: once, however often it is sent (see `change`).
    func changeGroup(_ operation: GroupOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let outcome: Engine.GroupOutcome
        switch operation {
        case .create(let address, let members): outcome = createGroup(address, members, frame)
        case .admit(let address, let member): outcome = engine.admit(member, to: address, frame)
        case .leave(let address): outcome = engine.leaveGroup(address, frame)
        case .remove(let address): outcome = engine.removeGroup(address, frame)
        case .set(let address, let value):
            outcome = engine.setGroupKey(address, value: value, envelope, frame, at: now.domain)
        case .delete(let address): outcome = engine.deleteGroupKey(address, envelope, frame, at: now.domain)
        case .notify(let address, let name):
            outcome = engine.notifyGroup(address, signal: name, frame, at: now.domain)
        case .get, .list, .info: preconditionFailure("a read is no change")
        }
        let result = answerGroup(outcome, envelope, frame)
        // Behind the answer, which shows what was deleted: its slot is free once its event has left.
        encodeEvents(frame, envelope)
        return result
    }

    private func createGroup(
        _ address: GroupAddress, _ members: FrameRange?, _ frame: Span<UInt8>
    ) -> Engine.GroupOutcome {
        var names: [[UInt8]] = []
        if let members {
            do throws(Refusal) {
                names = try GroupMembers.read(members, of: frame)
            } catch {
                return .refused(error)
            }
        }
        return engine.createGroup(address, members: names, frame)
    }

    private func answerGroup(
        _ outcome: Engine.GroupOutcome, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        switch outcome {
        case .applied(let group, let slot):
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("outcome", name: "applied")
                writer.group(group, slot, of: engine)
            }
        case .ignored(let group, let slot, let reason):
            statistics.ignored += 1
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("outcome", name: "ignored")
                writer.field("reason", name: reason.wireName)
                writer.group(group, slot, of: engine)
            }
        case .refused(let refusal): return refuse(envelope, frame, refusal)
        }
    }

    /// The app on whose stream a read with `minSeq` waits; nil where there is nothing to wait for.
    func stream(of operation: Operation, _ frame: Span<UInt8>) -> [UInt8]? {
        guard case .group(let operation) = operation else { return operation.app.map { frame.bytes($0) } }
        guard let found = try? engine.findGroup(operation.address, frame) else { return nil }
        return engine.apps[engine.groups[found.group].owner].name
    }

    // MARK: Reads

    func readGroup(_ operation: GroupOperation, _ envelope: Envelope, _ frame: Span<UInt8>) -> FrameResult {
        let group: GroupID
        do throws(Refusal) {
            group = try engine.findGroup(operation.address, frame).group
        } catch {
            return refuse(envelope, frame, error)
        }
        switch operation {
        case .get(let address):
            guard let slot = engine.groupSlot(group, address.key, frame), let record = engine.groups.record(at: slot)
            else { return refuse(envelope, frame, .notFound) }
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("seq", engine.apps[engine.groups[group].owner].seq)
                writer.key("group")
                writer.groupItem(record, of: engine)
                writer.endObject()
            }
        case .info:
            return answerFromEngine { writer, engine in
                writer.beginAnswer(envelope, frame, ok: true)
                writer.field("seq", engine.apps[engine.groups[group].owner].seq)
                writer.key("group")
                writer.groupInfo(group, of: engine)
                writer.endObject()
            }
        case .list where isAnswerFull: return refuse(envelope, frame, .busy(retryAfter: Self.fullAnswerRetry))
        case .list(let list): return self.list(list, group, envelope, frame)
        case .create, .admit, .leave, .remove, .set, .delete, .notify: preconditionFailure("a change is no read")
        }
    }

    /// A page of a group's keys in their order. They are found by halving and no page is longer than a frame, so it
    /// needs no further turns.
    private func list(
        _ list: GroupList, _ group: GroupID, _ envelope: Envelope, _ frame: Span<UInt8>
    ) -> FrameResult {
        let keys = engine.groupKeys(
            of: group, prefix: list.prefix.map { frame.bytes($0) } ?? [], after: list.cursor.map { frame.bytes($0) })
        return answerFromEngine { writer, engine in
            writer.beginAnswer(envelope, frame, ok: true)
            writer.field("seq", engine.apps[engine.groups[group].owner].seq)
            writer.key("items")
            writer.beginArray()
            let start = writer.count
            var last: GroupItem?
            var next = keys.first
            while next < keys.all.upperBound, next - keys.first < list.limit,
                let record = engine.groups.record(at: engine.groups[group].keys[next]),
                last == nil
                    || writer.count - start + record.value.count + Self.longestKeyRow <= ListBounds.maximumBytes
            {
                writer.groupItem(record, of: engine)
                last = record
                next += 1
            }
            writer.endArray()
            writer.field("total", keys.all.count)
            if next < keys.all.upperBound, let last {
                let key = engine.withBytes(of: last.key) { [UInt8]($0) }
                writer.field("next", plain: key)
            }
            writer.endObject()
        }
    }

    /// What a key's row has at most beside its value: three names and what stands between them.
    private static let longestKeyRow = 512

    // MARK: Events

    func encode(_ event: GroupEvent, _ frame: Span<UInt8>, _ envelope: Envelope?) {
        eventWriter.removeAll()
        eventWriter.topic(of: event, in: engine)
        let topicCount = eventWriter.count
        eventWriter.beginDocument()
        eventWriter.event(event, epoch: epoch, frame: frame, envelope: envelope, of: engine)
        image.removeAll()
        if isDurable { image.image(of: event, in: engine) }
        append(
            app: event.app, seq: event.seq, previous: event.previous, at: event.at, entity: engine.identity(of: event),
            revision: event.revision, topicCount: topicCount)
    }
}

extension JSONWriter {
    /// The end of an answer to a change.
    fileprivate mutating func group(_ group: GroupID, _ slot: Slot?, of engine: borrowing Engine) {
        field("seq", engine.apps[engine.groups[group].owner].seq)
        key("group")
        shortGroup(group, slot.flatMap { engine.groups.record(at: $0) }, of: engine)
        endObject()
    }
}
