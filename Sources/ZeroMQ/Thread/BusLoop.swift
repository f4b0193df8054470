/// An actor that lives on a `BusThread`, owns sockets there, and is given a turn each time something is ready.
///
/// The thread calls it synchronously, isolated to the actor: no job, no hop and no `await` stand between a message and
/// its handler. From elsewhere it is called with `await`, like any actor. It may hold the sockets as stored properties,
/// since its initialiser too runs on the thread (see `BusThread.host`):
///
///     actor Echo: BusLoop {
///         nonisolated let thread: BusThread
///         nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///
///         nonisolated let endpoint: String
///         private let router: Socket
///         private var frame = Message()
///         var poller = Poller()
///
///         init(on thread: BusThread, context: ZeroMQContext) throws(ZeroMQError) {
///             self.thread = thread
///             router = try Socket(.router, in: context)
///             try router.set(.routerMandatory, to: true)
///             try router.bind("tcp://127.0.0.1:*")
///             endpoint = try router.lastEndpoint
///             _ = poller.add(router)
///         }
///
///         func turn() -> NextTurn {
///             var budget = 256  // frames a turn, so that jobs and timers get their share
///             while budget > 0, let got = try? router.receive(into: &frame), got {
///                 _ = try? router.send(&frame, more: frame.more)  // routing id, then the body, back to the sender
///                 budget -= 1
///             }
///             return budget == 0 ? .immediately : .whenReady
///         }
///
///         func finish() { router.close() }
///     }
///
///     let thread = try BusThread(name: "echo")
///     let echo = try await thread.host { thread throws(ZeroMQError) in try Echo(on: thread, context: context) }
///     …
///     await thread.stop()
package protocol BusLoop: Actor {
    /// Where the thread waits between two turns: the loop adds its sockets, the thread adds its own wake-up.
    var poller: Poller { get set }

    /// Does what there is to do, in bounded time, and says when the next turn is due.
    ///
    /// Called when a place of the poller is ready, when the time that the last turn named is over, and after jobs and
    /// wake-ups; so it must not take for granted that anything happened. The thread's jobs have run just before.
    func turn() -> NextTurn

    /// Closes the sockets. Called once, after the last turn.
    func finish()
}

/// When a `BusLoop` wants its next turn; jobs, wake-ups and ready sockets bring it earlier.
package enum NextTurn: Sendable, Equatable {
    /// At once, after the waiting jobs and a look at the sockets: there is more to do.
    case immediately
    /// After that many milliseconds of real time.
    case within(milliseconds: Int)
    /// When a socket is ready, a job comes, or the thread is woken.
    case whenReady
    /// After that many milliseconds of real time, or when a job comes or the thread is woken; sockets do not matter.
    case whenWoken(milliseconds: Int)
    /// Never: the thread stops, as after `BusThread.stop`.
    case stop
}
