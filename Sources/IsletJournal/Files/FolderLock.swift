import CSQLite
import Glibc

/// The right to use a data folder: a locked file in it, with the number of the process that holds it, and the locked folder
/// itself, since a file can be removed.
///
/// The kernel lets go of the locks when the process ends, however it ends.
final class FolderLock: Sendable {
    private let descriptor: Int32
    /// Of the folder; -1 on file systems that lock none.
    private let folder: Int32

    enum Failure: Error {
        /// By that process, if it has written its number already.
        case held(by: Int32?)
        case system(SystemError)
    }

    init(path: String) throws(Failure) {
        let folder = try Self.lockFolder(of: path)
        do throws(Failure) {
            descriptor = try Self.lockFile(path)
        } catch {
            if folder >= 0 { close(folder) }
            throw error
        }
        self.folder = folder
    }

    private static func lockFolder(of path: String) throws(Failure) -> Int32 {
        let folder = unsafe open(FileSystem.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        guard csqlite_lock_file(folder) != 0 else { return folder }
        let isHeld = errno == EWOULDBLOCK
        close(folder)
        if isHeld { throw .held(by: Self.holder(path: path)) }
        return -1
    }

    private static func lockFile(_ path: String) throws(Failure) -> Int32 {
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
        return descriptor
    }

    deinit {
        // A child that is just being spawned may still hold a copy of the descriptor, and the lock with it.
        release()
        close(descriptor)
        if folder >= 0 { close(folder) }
    }

    /// Gives it up before this object goes.
    func release() {
        _ = csqlite_unlock_file(descriptor)
        if folder >= 0 { _ = csqlite_unlock_file(folder) }
    }

    /// The number in a lock's file.
    static func holder(path: String) -> Int32? {
        guard let bytes = try? FileSystem.read(path, upTo: 16) else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
