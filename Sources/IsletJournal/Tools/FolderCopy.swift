extension Store {
    /// Copies the files of a folder that no service uses into a new one, which is to be opened with
    /// ``StoreOptions/takesWhatIsThere``. The old one stays as it is.
    ///
    /// - Parameter target: A folder that is empty or not there.
    package static func copy(directory: String, into target: String, options: StoreOptions) throws(StoreError) {
        let names = FolderNames(directory: directory)
        let contents = try existingContents(names)
        let lock = try takeLock(names)
        try withExtendedLifetime(lock) { () throws(StoreError) in
            let copies = FolderNames(directory: target)
            if FileSystem.kind(of: target) == .directory {
                guard try FolderContents(copies).isNothing else { throw .exists(target) }
            }
            try prepareFolder(copies, options)
            do throws(SystemError) {
                let databases = contents.segments.map { names.segment($0) } + [names.state]
                // The mark comes last: a folder without it is refused, so half a copy is not taken for a whole one.
                let files = databases.flatMap { [$0, FolderNames.log(of: $0)] } + [names.mark]
                for path in files where FileSystem.exists(path) {
                    try FileSystem.copy(path, to: target + "/" + FileSystem.name(of: path))
                }
                try FileSystem.sync(target)
            } catch {
                throw StoreError(error)
            }
        }
    }
}

extension FolderContents {
    /// Whether no file of a store is there.
    fileprivate var isNothing: Bool { isEmpty && !hasMark && unfinished.isEmpty && orphans.isEmpty }
}
