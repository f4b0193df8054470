import IsletCore

/// Reads of many controls and widgets at once, whatever asks for them: as many as their kinds have room for are asked for
/// at a time, so that none fails because others are before it.
extension Partition {
    /// Whether a read of a control has to wait for room, behind others of its kind where there are any.
    func holdsBack(controlRead kind: UInt32) -> Bool {
        heldReads.hasLine(of: kind) || !providers.hasRoomForReads(of: kind)
    }

    /// The same of a widget.
    func holdsBack(widgetRead kind: UInt32) -> Bool {
        heldWidgetReads.hasLine(of: kind) || !providers.hasRoomForReads(of: kind)
    }

    /// How many reads are held back.
    var heldCalls: Int { heldReads.count + heldWidgetReads.count }

    /// Whether there is room for something that is held back. Few kinds have so much waiting at a time.
    var mayGoOnWithReads: Bool {
        heldReads.kinds.contains { providers.hasRoomForReads(of: $0) }
            || heldWidgetReads.kinds.contains { providers.hasRoomForReads(of: $0) }
    }

    /// Asks for what is held back as far as there is room for it, whatever has made that; its kinds in turn.
    ///
    /// - Parameter room: how many more are asked for in this turn.
    func goOnWithReads(_ room: inout Int) {
        for kind in heldReads.kinds {
            while room > 0, providers.hasRoomForReads(of: kind), let read = heldReads.popFirst(of: kind) {
                room -= 1
                requestValue(read)
            }
        }
        heldReads.turn()
        for kind in heldWidgetReads.kinds {
            while room > 0, providers.hasRoomForReads(of: kind), let read = heldWidgetReads.popFirst(of: kind) {
                room -= 1
                requestTimeline(read)
            }
        }
        heldWidgetReads.turn()
    }
}
