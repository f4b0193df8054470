import Glibc

extension Store {
    /// Copies the files of a folder that no service uses into a new one, which is to be opened with
    /// ``StoreOptions/takesWhatIsThere``. The old one stays as it is.
    ///
    /// The new one is refused by every other start until ``finish(directory:)``, since a process that is killed on the
    /// way leaves what looks whole: a copy under the old epoch, or one that has lost what nobody was told of.
    ///
    /// - Parameter target: A folder that is empty or not there, and not within the old one.
    package static func copy(directory: String, into target: String, options: StoreOptions) throws(StoreError) {
        let names = FolderNames(directory: directory)
        let contents = try existingContents(names)
        guard !contents.isHalfMade else { throw .halfMade(directory: directory) }
        let lock = try takeLock(names)
        try withExtendedLifetime(lock) { () throws(StoreError) in
            let copies = FolderNames(directory: target)
            try checkIsNew(copies, madeOf: names)
            try makeNew(copies, madeOf: names, options) { () throws(StoreError) in
                let databases = contents.segments.map { names.segment($0) } + [names.state]
                // The mark comes last: a folder without it is refused, so half a copy is not taken for a whole one.
                let files = databases.flatMap { [$0, FolderNames.log(of: $0)] } + [names.mark]
                try copy(files, into: copies)
            }
        }
    }

    /// A folder that ``copy(directory:into:options:)`` made, and that was opened and closed since, is one like any
    /// other.
    package static func finish(directory: String) throws(StoreError) {
        do throws(SystemError) {
            try FileSystem.remove(FolderNames(directory: directory).halfMade)
            try FileSystem.sync(directory)
        } catch {
            throw StoreError(error)
        }
    }

    private static func copy(_ files: [String], into target: FolderNames) throws(StoreError) {
        var copies: [String] = []
        do throws(SystemError) {
            copies.append(target.halfMade)
            try FileSystem.makeFile(target.halfMade)
            try FileSystem.sync(target.directory)
            for path in files where FileSystem.exists(path) {
                copies.append(target.directory + "/" + FileSystem.name(of: path))
                try FileSystem.copy(path, to: copies[copies.count - 1])
            }
            try FileSystem.sync(target.directory)
        } catch {
            // What was in the way is another's.
            if error.code == EEXIST { copies.removeLast() }
            for copy in copies.reversed() { try? FileSystem.remove(copy) }
            throw StoreError(error)
        }
    }
}
