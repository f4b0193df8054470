import CZeroMQ

/// The library that is linked.
package enum LibraryVersion {
    /// The version of libzmq at run time, such as `4.3.5`.
    package static var zeroMQ: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        unsafe zmq_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}
