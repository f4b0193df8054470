import CSQLite
import Glibc

/// The right to use a data folder: a locked file in it, with the number of the process that holds it.
///
/// The kernel lets go of the lock when the process ends, however it ends.
final class FolderLock: Sendable {
    private let descriptor: Int32

    enum Failure: Error {
        /// By that process, if it has written its number already.
        case held(by: Int32?)
        case system(SystemError)
    }

    init(path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .system(SystemError(operation: "cannot open", path: path, code: errno))
        }
        guard csqlite_lock_file(descriptor) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw .system(SystemError(operation: "cannot lock", path: path, code: code))
            }
            throw .held(by: Self.holder(path: path))
        }
        let pid = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, unsafe pwrite(descriptor, pid, pid.count, 0) == pid.count else {
            let code = errno
            close(descriptor)
            throw .system(SystemError(operation: "cannot write", path: path, code: code))
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child that is just being spawned may still hold a copy of the descriptor, and the lock with it.
        release()
        close(descriptor)
    }

    /// Gives it up before this object goes.
    func release() {
        _ = csqlite_unlock_file(descriptor)
    }

    /// The number in a lock's file.
    static func holder(path: String) -> Int32? {
        guard let bytes = try? FileSystem.read(path, upTo: 16) else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
