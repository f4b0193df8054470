import CZeroMQ
import Glibc

/// Why a call into libzmq failed. `EINTR` never appears: every call that can be interrupted is made again.
package enum ZeroMQError: Error, Hashable {
    /// The call would have had to wait (`EAGAIN`).
    case again
    /// A ROUTER with `routerMandatory` has no peer of that routing id (`EHOSTUNREACH`).
    case hostUnreachable
    /// The context was shut down (`ETERM`).
    case terminated
    /// Another socket is bound to the endpoint (`EADDRINUSE`).
    case addressInUse
    /// The endpoint's address or interface is not of this machine (`EADDRNOTAVAIL`, `ENODEV`).
    case addressNotAvailable
    /// Something is at the path of an `ipc` endpoint that is no socket, and would be deleted.
    case notASocket
    /// The operating system refuses the endpoint: a low port, a folder without write permission (`EACCES`, `EPERM`).
    case accessDenied
    /// The endpoint is not one that libzmq can read, or its transport does not exist here.
    case invalidEndpoint
    /// An option's or argument's value is refused (`EINVAL`).
    case invalidArgument
    /// The operation or transport does not fit this type of socket (`ENOTSUP`, `ENOCOMPATPROTO`).
    case notSupported
    /// The limit of sockets in the context, or of file descriptors, is reached (`EMFILE`, `ENFILE`).
    case tooManySockets
    /// A REQ or REP was used out of its turn (`EFSM`).
    case wrongState
    /// The socket is closed (`ENOTSOCK`).
    case closed
    /// Any other `errno`.
    case other(code: Int32)

    /// The error that `errno` value `code` stands for.
    package init(code: Int32) {
        self =
            switch code {
            case EAGAIN: .again
            case EHOSTUNREACH: .hostUnreachable
            case ETERM: .terminated
            case EADDRINUSE: .addressInUse
            case EADDRNOTAVAIL, ENODEV: .addressNotAvailable
            case EACCES, EPERM: .accessDenied
            case EPROTONOSUPPORT: .invalidEndpoint
            case EINVAL: .invalidArgument
            case ENOTSUP, ENOCOMPATPROTO: .notSupported
            case EMFILE, ENFILE: .tooManySockets
            case EFSM: .wrongState
            case ENOTSOCK: .closed
            default: .other(code: code)
            }
    }

    /// The error of the libzmq call that has just failed on this thread.
    static var last: ZeroMQError { ZeroMQError(code: zmq_errno()) }
}

extension ZeroMQError: CustomStringConvertible {
    /// The reason in a few words, fit for a message to an operator.
    package var description: String {
        switch self {
        case .again: "would have to wait"
        case .hostUnreachable: "no such peer"
        case .terminated: "the context was shut down"
        case .addressInUse: "address already in use"
        case .addressNotAvailable: "address not available on this machine"
        case .accessDenied: "permission denied"
        case .notASocket: "something else than a socket is there, and stays"
        case .invalidEndpoint: "not a valid endpoint"
        case .invalidArgument: "invalid argument"
        case .notSupported: "not supported by this type of socket"
        case .tooManySockets: "no descriptor is free for another socket: raise the limit (ulimit -n)"
        case .wrongState: "not allowed in the socket's present state"
        case .closed: "the socket is closed"
        case .other(let code): unsafe String(cString: zmq_strerror(code))
        }
    }
}

/// Calls `body`, a libzmq function that answers -1 on failure, until it was not interrupted by a signal.
@inline(__always)
func retryingInterrupts(_ body: () -> Int32) -> Int32 {
    while true {
        let result = body()
        if result == -1, zmq_errno() == EINTR { continue }
        return result
    }
}
