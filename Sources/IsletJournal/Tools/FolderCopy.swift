import Glibc

extension Store {
    /// Copies the files of a folder that no service uses into a new one, which is to be opened with
    /// ``StoreOptions/takesWhatIsThere``. The old one stays as it is.
    ///
    /// - Parameter target: A folder that is empty or not there, and not within the old one.
    package static func copy(directory: String, into target: String, options: StoreOptions) throws(StoreError) {
        let names = FolderNames(directory: directory)
        let contents = try existingContents(names)
        let lock = try takeLock(names)
        try withExtendedLifetime(lock) { () throws(StoreError) in
            let copies = FolderNames(directory: target)
            try checkIsNew(copies, madeOf: names)
            try makeNew(copies, madeOf: names, options) { () throws(StoreError) in
                let databases = contents.segments.map { names.segment($0) } + [names.state]
                // The mark comes last: a folder without it is refused, so half a copy is not taken for a whole one.
                let files = databases.flatMap { [$0, FolderNames.log(of: $0)] } + [names.mark]
                try copy(files, into: target)
            }
        }
    }

    private static func copy(_ files: [String], into target: String) throws(StoreError) {
        var copies: [String] = []
        do throws(SystemError) {
            for path in files where FileSystem.exists(path) {
                copies.append(target + "/" + FileSystem.name(of: path))
                try FileSystem.copy(path, to: copies[copies.count - 1])
            }
            try FileSystem.sync(target)
        } catch {
            // What was in the way is another's.
            if error.code == EEXIST { copies.removeLast() }
            for copy in copies { try? FileSystem.remove(copy) }
            throw StoreError(error)
        }
    }
}
