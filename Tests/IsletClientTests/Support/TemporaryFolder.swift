import Glibc

/// An empty folder that goes when nobody holds it any more.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/islet-client-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TemporaryFolderError(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        // Only files, one level deep: what a service makes there.
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink(path + "/" + name)
        }
        closedir(folder)
        rmdir(path)
    }
}

struct TemporaryFolderError: Error {
    var code: Int32
}
